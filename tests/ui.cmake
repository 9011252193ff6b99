# tests of ui
zw_module(zw_test_ui SOURCES support/ui_model.c support/ui_fake.c HEADERS support/ui_model.h support/ui_fake.h DEPS zw_ui_core)
zw_fuzz(ui_input SOURCES fuzz/fuzz_ui_input.c DEPS zw_ui_core)
zw_unit(ui_guard SOURCES unit/ui_guard.c DEPS zw_ui_core)
zw_unit(ui_outer SOURCES unit/ui_outer.c DEPS zw_ui_core)
zw_unit(ui_input SOURCES unit/ui_input.c DEPS zw_ui_core)
zw_unit(ui_draw SOURCES unit/ui_draw.c DEPS zw_ui_core)
zw_unit(ui_ask SOURCES unit/ui_ask.c DEPS zw_ui_core)
zw_unit(ui_attend SOURCES unit/ui_attend.c DEPS zw_ui_core zw_test_ui)
zw_unit(ui_views SOURCES unit/ui_views.c DEPS zw_ui_core zw_test_ui)
zw_unit(ui_keys SOURCES unit/ui_keys.c DEPS zw_ui_core zw_test_ui)
zw_unit(ui_scroll SOURCES unit/ui_scroll.c DEPS zw_ui_core zw_test_ui)
zw_unit(ui_history SOURCES unit/ui_history.c DEPS zw_ui_core zw_test_ui zw_audit_store)
zw_unit(ui_term SOURCES unit/ui_term.c DEPS zw_ui zw_test_ui zw_vt util)

# To look at the dashboard without a session: build/.../tests/ui_demo docker ssh site
add_executable(ui_demo support/ui_demo.c)
target_link_libraries(ui_demo PRIVATE zw_flags zw_ui zw_test_ui)
