# Rules that hold for every file.
zw_script(lint.layers lint lint/layers.sh)
zw_script(lint.source lint lint/source.sh)
zw_script(lint.needed lint lint/needed.sh)
if(NOT ZW_SANITIZE)
	zw_script(lint.format lint lint/format.sh)
endif()
