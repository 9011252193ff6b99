# Layers that everything stands on.
zw_unit(base_text SOURCES unit/base_text.c DEPS zw_base)
zw_unit(base_mask SOURCES unit/base_mask.c DEPS zw_base)
zw_unit(ipc_msg SOURCES unit/ipc_msg.c DEPS zw_ipc)
zw_unit(ipc_chan SOURCES unit/ipc_chan.c DEPS zw_ipc)
zw_unit(model_session SOURCES unit/model_session.c DEPS zw_model)
zw_fuzz(msg SOURCES fuzz/fuzz_msg.c DEPS zw_ipc)
