# The real program, end to end.
foreach(name none_mode settings install rules history export docs deb required levels check debug places)
	zw_script(scen.${name} scen scen/${name}.sh)
endforeach()
set_property(TEST scen.levels scen.check APPEND PROPERTY ENVIRONMENT "ZW_SB_DRIVER=$<TARGET_FILE:sb_driver>")
foreach(name demo question always screen scroll death record keys text screenful)
	zw_script(tty.${name} tty tty/${name}.sh)
endforeach()

foreach(name ends bytes)
	zw_script(tty.${name} tty tty/${name}.py)
endforeach()

# Benchmarks are built with the rest, so that they cannot rot, and run by hand (tests/bench/README.md).
add_executable(stamp bench/stamp.c)
target_link_options(stamp PRIVATE -static)
set_target_properties(stamp PROPERTIES POSITION_INDEPENDENT_CODE OFF) # -static says it already
add_executable(bench_unix bench/bench_unix.c)
target_link_libraries(bench_unix PRIVATE zw_flags)
set_target_properties(bench_unix PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(bench_start bench/bench_start.c ${CMAKE_SOURCE_DIR}/src/main/start.c ${CMAKE_SOURCE_DIR}/src/main/cli.c)
target_link_libraries(bench_start PRIVATE zw_super zw_ui_core zw_config zw_sandbox util)
set_target_properties(stamp bench_start PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# A real agent, from npm.
zw_script(agents.claude agents agents/claude.sh)
zw_script(net.whole net net/whole.sh)
zw_script(net.upstream net net/upstream.sh)
zw_script(net.clients net net/clients.sh)
set_tests_properties(net.clients PROPERTIES TIMEOUT 600)
zw_script(net.dohfilter net net/dohfilter.sh)
zw_script(net.dns_inside net net/dns_inside.sh)
zw_script(sandbox.escape sandbox sandbox/escape.sh)
zw_script(scen.own_sockets scen scen/own_sockets.sh)
zw_script(sandbox.passed sandbox sandbox/passed.sh)
zw_script(sandbox.standins sandbox sandbox/standins.sh)
zw_unit(super_asks SOURCES unit/super_asks.c DEPS zw_super)
zw_unit(super_saved SOURCES unit/super_saved.c DEPS zw_super)
zw_unit(super_freeze SOURCES unit/super_freeze.c DEPS zw_super)
