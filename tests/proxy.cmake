add_executable(px_driver ${CMAKE_CURRENT_SOURCE_DIR}/net/px_driver.c)
target_link_libraries(px_driver PRIVATE net_super zw_feed)
set_target_properties(px_driver PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
zw_script(net.proxy net net/proxy.sh)
