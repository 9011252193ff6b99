# tests of pane
add_executable(vt_dump term/vt_dump.c)
target_link_libraries(vt_dump PRIVATE zw_vt)
if(ZW_FUZZ)
	target_link_options(vt_dump PRIVATE -fsanitize=fuzzer-no-link)
endif()
zw_script(term.differ unit term/differ.py --count 500)

zw_fuzz(vt SOURCES fuzz/fuzz_vt.c DEPS zw_vt)

# Not a test: run by hand in the release build.
add_executable(bench_vt EXCLUDE_FROM_ALL bench/bench_vt.c)
target_link_libraries(bench_vt PRIVATE zw_vt)
