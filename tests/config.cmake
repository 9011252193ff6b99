# tests of the settings, the socket catalogue and the presets
foreach(part json values files layers show edit messages keys catalogue agents danger saved)
	zw_unit(config_${part} SOURCES unit/config_${part}.c DEPS zw_config)
endforeach()
foreach(part config import catalogue)
	zw_fuzz(${part} SOURCES fuzz/fuzz_${part}.c DEPS zw_config)
endforeach()
