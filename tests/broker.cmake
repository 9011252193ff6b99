# tests of broker
zw_unit(broker_addr SOURCES unit/broker_addr.c DEPS zw_broker)
zw_unit(broker_diag SOURCES unit/broker_diag.c DEPS zw_broker)
zw_unit(broker_prompt SOURCES unit/broker_prompt.c DEPS zw_broker)
zw_unit(broker_record SOURCES unit/broker_record.c DEPS zw_broker)
zw_unit(broker_relay SOURCES unit/broker_relay.c DEPS zw_broker)
zw_unit(broker_ports SOURCES unit/broker_ports.c DEPS zw_broker)
zw_fuzz(tcp_table SOURCES fuzz/fuzz_tcp_table.c DEPS zw_base)
zw_fuzz(sockaddr SOURCES fuzz/fuzz_sockaddr.c DEPS zw_broker)

# The broker between a forked agent in namespaces of its own and this process as zwatch; no bwrap.
foreach(t drive fault names held race)
	add_executable(broker_${t} sandbox/broker_${t}.c sandbox/broker_rig.c)
	target_link_libraries(broker_${t} PRIVATE zw_flags zw_broker PkgConfig::CMOCKA)
	if(ZW_FUZZ)
		target_link_options(broker_${t} PRIVATE -fsanitize=fuzzer-no-link)
	endif()
	if(t STREQUAL held)
		target_sources(broker_held PRIVATE sandbox/held_fs.c)
	endif()
	add_test(NAME sandbox.broker_${t} COMMAND broker_${t} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
	set_tests_properties(sandbox.broker_${t} PROPERTIES LABELS sandbox SKIP_RETURN_CODE 77 TIMEOUT 120
		ENVIRONMENT "ZW_BROKER=$<TARGET_FILE:zwatch-broker>")
endforeach()
