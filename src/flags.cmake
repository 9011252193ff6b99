# Compiler flags of every target, and the two functions by which a folder declares its targets.
include(CheckCCompilerFlag)

add_library(zw_flags INTERFACE)
target_include_directories(zw_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gen)
target_compile_definitions(zw_flags INTERFACE _GNU_SOURCE ZW_VERSION="${PROJECT_VERSION}")
foreach(w -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wswitch-enum
	-Wimplicit-fallthrough -Wcast-qual -Wlogical-op -Wduplicated-cond)
	string(MAKE_C_IDENTIFIER "ZW_HAVE${w}" have)
	check_c_compiler_flag(${w} ${have})
	if(${have})
		target_compile_options(zw_flags INTERFACE ${w})
	endif()
endforeach()

# The sanitizers' own system calls would break a role's strict filter: there it only logs.
if(ZW_SANITIZE)
	target_compile_options(zw_flags INTERFACE -fsanitize=${ZW_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
	target_link_options(zw_flags INTERFACE -fsanitize=${ZW_SANITIZE})
	target_compile_definitions(zw_flags INTERFACE ZW_SANITIZED=1)
endif()
if(ZW_FUZZ)
	target_compile_options(zw_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ZW_HARDEN)
	target_compile_options(zw_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
		-fstack-protector-strong -fstack-clash-protection -fcf-protection -fvisibility=hidden)
	target_link_options(zw_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# zw_module(NAME SOURCES ... HEADERS ... DEPS ...): one static library, one layer.
function(zw_module name)
	cmake_parse_arguments(M "" "" "SOURCES;HEADERS;DEPS" ${ARGN})
	add_library(${name} STATIC ${M_SOURCES})
	target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${M_HEADERS})
	target_link_libraries(${name} PUBLIC zw_flags ${M_DEPS})
endfunction()

# zw_program(NAME SOURCES ... DEPS ...): one executable, one role; all lie together in the build tree.
function(zw_program name)
	cmake_parse_arguments(P "" "" "SOURCES;DEPS" ${ARGN})
	add_executable(${name} ${P_SOURCES})
	target_link_libraries(${name} PRIVATE zw_flags ${P_DEPS})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
	if(name STREQUAL "zwatch")
		install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
	else()
		install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/zwatch)
	endif()
endfunction()
