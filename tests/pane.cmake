# tests of pane
zw_unit(pane_width SOURCES unit/pane_width.c DEPS zw_vt)
zw_unit(pane_pace SOURCES unit/pane_pace.c DEPS zw_pane)
zw_unit(pane_pass SOURCES unit/pane_pass.c DEPS zw_pane)
zw_unit(pane_cast SOURCES unit/pane_cast.c DEPS zw_pane)
zw_unit(pane_player SOURCES unit/pane_player.c DEPS zw_pane)
zw_unit(pane_term SOURCES unit/pane_term.c DEPS zw_vt)
zw_unit(pane_memory SOURCES unit/pane_memory.c DEPS zw_vt)

# The real program on a real pty.
zw_unit(pane_program SOURCES unit/pane_program.c DEPS zw_ipc util)
target_compile_definitions(unit_pane_program PRIVATE ZW_PANE_PATH="$<TARGET_FILE:zwatch-pane>")
add_dependencies(unit_pane_program zwatch-pane)

# Against xterm.js: see term/differ.py.
add_executable(vt_dump term/vt_dump.c)
target_link_libraries(vt_dump PRIVATE zw_vt)
if(ZW_FUZZ)
	target_link_options(vt_dump PRIVATE -fsanitize=fuzzer-no-link)
endif()
zw_script(term.differ unit term/differ.py --count 500)

zw_fuzz(vt SOURCES fuzz/fuzz_vt.c DEPS zw_vt)
zw_fuzz(cast SOURCES fuzz/fuzz_cast.c DEPS zw_pane)

# Not a test: run by hand in the release build.
add_executable(bench_vt EXCLUDE_FROM_ALL bench/bench_vt.c)
target_link_libraries(bench_vt PRIVATE zw_vt)
