/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/config/danger.h"

static void test_decide__every_row_of_the_table(void **state)
{
	(void)state;
	static const struct {
		struct cfg_danger_case c; /* listed, denied, terminal, flag */
		enum cfg_danger_step step;
	} rows[] = {
		{{false, false, false, false}, CFG_DANGER_RULES},
		{{false, false, false, true}, CFG_DANGER_RULES},
		{{false, false, true, false}, CFG_DANGER_RULES},
		{{false, false, true, true}, CFG_DANGER_RULES},
		{{true, false, true, false}, CFG_DANGER_ASK},
		{{true, false, true, true}, CFG_DANGER_WARN_OPEN},
		{{true, false, false, false}, CFG_DANGER_STOP},
		{{true, false, false, true}, CFG_DANGER_OPEN},
		{{false, true, false, false}, CFG_DANGER_REFUSE},
		{{false, true, false, true}, CFG_DANGER_REFUSE},
		{{false, true, true, false}, CFG_DANGER_REFUSE},
		{{false, true, true, true}, CFG_DANGER_REFUSE},
		{{true, true, false, false}, CFG_DANGER_REFUSE},
		{{true, true, false, true}, CFG_DANGER_REFUSE},
		{{true, true, true, false}, CFG_DANGER_REFUSE},
		{{true, true, true, true}, CFG_DANGER_REFUSE},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_int_equal(cfg_danger_decide(&rows[i].c), rows[i].step);
}

static void test_fallback__asked_or_refused(void **state)
{
	(void)state;
	assert_int_equal(cfg_danger_fallback(POL_MODE_WATCH, true), POL_ASK);
	assert_int_equal(cfg_danger_fallback(POL_MODE_GUARD, true), POL_ASK);
	assert_int_equal(cfg_danger_fallback(POL_MODE_STRICT, true), POL_DENY);
	assert_int_equal(cfg_danger_fallback(POL_MODE_WATCH, false), POL_DENY);
}

static struct cfg_catalogue *load(void)
{
	const struct cfg_places places = {
		.home = (char[]){"/home/u"},
		.home_real = (char[]){"/home/u"},
		.runtime_dir = (char[]){"/run/user/1000"},
	};
	struct cfg_catalogue *cat = NULL;

	assert_int_equal(cfg_catalogue_load(&places, NULL, &cat), 0);
	return cat;
}

static void test_warning__words_of_docker(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load();
	const struct cfg_class *docker = cfg_catalogue_find(cat, "/var/run/docker.sock");
	zw_autofree char *text =
		cfg_danger_warning(docker, "/var/run/docker.sock", "/run/docker.sock",
				   "~/.config/zwatch/config.json:9");

	assert_true(cfg_danger_class(docker));
	assert_string_equal(
		text,
		"  Security Warning: /var/run/docker.sock (real path /run/docker.sock) grants "
		"root-equivalent access to the host system.\n"
		"  Through it the agent can start a container that mounts your whole disk. The "
		"sandbox cannot protect against that.\n"
		"  listed in ~/.config/zwatch/config.json:9\n");
	assert_string_equal(cfg_danger_question(), "  Are you sure? [y/N] ");
	zw_autofree char *same =
		cfg_danger_warning(docker, "/run/docker.sock", "/run/docker.sock", "--allow-unix");
	assert_null(strstr(same, "real path"));
	zw_autofree char *hostile =
		cfg_danger_warning(docker, "/run/a\n  Are you sure?", "", "x\x1b[2J");
	assert_non_null(strstr(hostile, "/run/a\\n  Are"));
	assert_null(strchr(hostile, '\x1b'));
	cfg_catalogue_free(cat);
}

static void test_class__what_is_warned_about(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load();

	assert_true(cfg_danger_class(cfg_catalogue_class(cat, "ssh-agent")));
	assert_true(cfg_danger_class(cfg_catalogue_class(cat, "x11")));
	assert_false(cfg_danger_class(cfg_catalogue_class(cat, "database")));
	assert_false(cfg_danger_class(cfg_catalogue_class(cat, "syslog")));
	assert_false(cfg_danger_class(cfg_catalogue_class(cat, "names")));
	assert_false(cfg_danger_class(cfg_catalogue_class(cat, "zwatch")));
	assert_false(cfg_danger_class(cfg_catalogue_class(cat, "unknown")));
	cfg_catalogue_free(cat);
}

static void test_yes__only_a_typed_yes(void **state)
{
	(void)state;
	static const char *const yes[] = {"y", "Y", "yes", "YES\n", " y \r\n"};
	static const char *const no[] = {"",	 "\n",	"n",  "no", "ye",
					 "yess", "y n", "yy", "1",  "y\x1b"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(yes); i++)
		assert_true(cfg_danger_is_yes(yes[i]));
	for (size_t i = 0; i < ZW_N_ELEMENTS(no); i++)
		assert_false(cfg_danger_is_yes(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide__every_row_of_the_table),
		cmocka_unit_test(test_fallback__asked_or_refused),
		cmocka_unit_test(test_warning__words_of_docker),
		cmocka_unit_test(test_class__what_is_warned_about),
		cmocka_unit_test(test_yes__only_a_typed_yes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
