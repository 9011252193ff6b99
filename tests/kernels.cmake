# tests of other kernels: slow, since emulated
add_executable(zwk_boot kernels/boot.c)
target_compile_definitions(zwk_boot PRIVATE _GNU_SOURCE)
target_compile_options(zwk_boot PRIVATE -Wall -Wextra)
target_link_options(zwk_boot PRIVATE -static)
set_target_properties(zwk_boot PROPERTIES POSITION_INDEPENDENT_CODE OFF RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
