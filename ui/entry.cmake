# Compiles term.ti and writes it as a C string: ncurses reads TERMINFO=b64:... without a file.
execute_process(COMMAND ${TIC} -x -o ${WORK} ${IN} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env TERMINFO=${WORK} ${INFOCMP} -x -q -Q2 zwatch-direct
	OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \t\r\n]" "" text "${text}")
file(WRITE ${OUT} "#define UI_TERM_ENTRY \"${text}\"\n")
