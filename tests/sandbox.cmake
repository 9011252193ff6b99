# tests of sandbox
add_executable(sb_driver ${CMAKE_CURRENT_SOURCE_DIR}/sandbox/driver.c)
target_link_libraries(sb_driver PRIVATE zw_flags zw_sandbox)
# Where the driver puts its faults.
target_link_options(sb_driver PRIVATE -Wl,--wrap=sb_bpf_compile -Wl,--wrap=sb_plan_args -Wl,--wrap=sb_plan_socket_dirs)
# Static and unsanitised: it stands for any program of the agent's.
set(CMAKE_C_LINK_OPTIONS_NO_PIE "") # -static says it already
add_executable(sb_probe ${CMAKE_CURRENT_SOURCE_DIR}/sandbox/probe.c)
target_compile_definitions(sb_probe PRIVATE _GNU_SOURCE)
target_compile_options(sb_probe PRIVATE -Wall -Wextra)
target_link_options(sb_probe PRIVATE -static)
set_target_properties(sb_probe PROPERTIES POSITION_INDEPENDENT_CODE OFF)

foreach(script calls files protect program network)
	zw_script(sandbox.${script} sandbox sandbox/${script}.sh)
	set_property(TEST sandbox.${script} APPEND PROPERTY ENVIRONMENT
		"ZW_SB_DRIVER=$<TARGET_FILE:sb_driver>" "ZW_SB_PROBE=$<TARGET_FILE:sb_probe>")
endforeach()

zw_unit(sandbox_filter SOURCES unit/sandbox_filter.c DEPS zw_sandbox)
zw_unit(sandbox_plan SOURCES unit/sandbox_plan.c DEPS zw_sandbox)
zw_unit(sandbox_role_lock SOURCES unit/sandbox_role_lock.c DEPS zw_sandbox)
# The real program in repositories and at home.
zw_script(scen.protect scen scen/protect.sh)
