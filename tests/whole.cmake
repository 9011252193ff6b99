# The real program, end to end.
foreach(name none_mode settings)
	zw_script(scen.${name} scen scen/${name}.sh)
endforeach()
foreach(name demo question screen death)
	zw_script(tty.${name} tty tty/${name}.sh)
endforeach()
