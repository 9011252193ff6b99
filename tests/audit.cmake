# tests of audit
zw_unit(audit_store SOURCES unit/audit_store.c DEPS zw_audit_store)
zw_unit(audit_places SOURCES unit/audit_places.c DEPS zw_audit_store zw_audit_query)
zw_unit(audit_verify SOURCES unit/audit_verify.c DEPS zw_audit_store)
zw_unit(audit_filter SOURCES unit/audit_filter.c DEPS zw_audit_store zw_audit_query)
zw_unit(audit_query SOURCES unit/audit_query.c DEPS zw_audit_store zw_audit_query zw_policy)

# The real program behind its lock.
zw_unit(audit_program SOURCES unit/audit_program.c DEPS zw_audit_store zw_ipc)
target_compile_definitions(unit_audit_program PRIVATE ZW_AUDIT_PATH="$<TARGET_FILE:zwatch-audit>")
add_dependencies(unit_audit_program zwatch-audit)

zw_fuzz(mask SOURCES fuzz/fuzz_mask.c DEPS zw_base)
zw_fuzz(filter SOURCES fuzz/fuzz_filter.c DEPS zw_audit_query zw_audit_store)
zw_fuzz(store SOURCES fuzz/fuzz_store.c DEPS zw_audit_query zw_audit_store)
zw_fuzz(json SOURCES fuzz/fuzz_json.c DEPS zw_audit_query)

# 10,000 events a second, none lost; more with: bench_store SECONDS EVENTS_PER_SECOND.
add_executable(bench_store bench/bench_store.c)
target_link_libraries(bench_store PRIVATE zw_audit_store zw_audit_query)
if(ZW_FUZZ)
	target_link_options(bench_store PRIVATE -fsanitize=fuzzer-no-link)
endif()
if(NOT ZW_SANITIZE)
	add_test(NAME bench.store COMMAND bench_store 2 10000)
	set_tests_properties(bench.store PROPERTIES LABELS bench)
endif()
