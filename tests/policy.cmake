# tests of policy, and of the proxy's parsers
foreach(part host rules sockets resolvers saved)
	zw_unit(policy_${part} SOURCES unit/policy_${part}.c DEPS zw_policy)
endforeach()
foreach(part http1 socks hello dnsmsg dohreq)
	zw_unit(proxy_${part} SOURCES unit/proxy_${part}.c DEPS zw_proxy_parse)
	zw_fuzz(${part} SOURCES fuzz/fuzz_${part}.c DEPS zw_proxy_parse)
endforeach()
foreach(part host rule)
	zw_fuzz(${part} SOURCES fuzz/fuzz_${part}.c DEPS zw_policy)
endforeach()

# A second opinion about HTTP, where Debian's libhttp-parser-dev is installed.
find_library(ZW_HTTP_PARSER http_parser)
if(ZW_HTTP_PARSER)
	zw_fuzz(http1_oracle SOURCES fuzz/fuzz_http1_oracle.c DEPS zw_proxy_parse ${ZW_HTTP_PARSER})
endif()
