/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/agents.h"
#include "src/policy/policy.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/home/u"},
	.runtime_dir = (char[]){"/run/user/1000"},
	.config_dir = (char[]){"/home/u/.config/zwatch"},
	.state_dir = (char[]){"/elsewhere/zwatch"},
	.start_dir = (char[]){"/home/u/p"},
};

static const struct cfg_path *find(const struct cfg_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->list[i].path, path) == 0)
			return &paths->list[i];
	return NULL;
}

static bool has(char *const *texts, const char *text)
{
	for (; *texts != NULL; texts++)
		if (strcmp(*texts, text) == 0)
			return true;
	return false;
}

static void test_presets__are_all_complete(void **state)
{
	(void)state;
	static const char *const known[] = {"claude", "codex", "gemini",       "opencode",
					    "aider",  "goose", "cursor-agent", "copilot",
					    "amp",    "shell"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(known); i++)
		assert_true(cfg_agent_is_known(known[i]));
	for (const char *const *name = cfg_agent_names(); *name != NULL; name++) {
		struct cfg_agent *a = NULL;

		assert_int_equal(cfg_agent_find(*name, &places, &a), 0);
		assert_string_equal(a->name, *name);
		assert_true(a->title[0] != '\0' && a->command[0] != '\0');
		for (size_t i = 0; i < a->writable.n; i++)
			assert_true(zw_starts_with(a->writable.list[i].path, "/home/u/."));
		for (size_t i = 0; i < a->n_sites; i++) {
			const struct pol_rule rule = {.kind = POL_KIND_SITE,
						      .pattern = a->sites[i].site};

			assert_int_equal(pol_rule_check(&rule, NULL), 0);
			assert_true(zw_starts_with(a->sites[i].source, "https://"));
		}
		/* What every program gets. */
		assert_non_null(find(&a->private_, "/home/u/.cache"));
		assert_non_null(find(&a->private_, "/home/u/.npm"));
		assert_true(has(a->env, "ZWATCH=1"));
		assert_true(has(a->pass, "PATH") && has(a->pass, "TERM"));
		cfg_agent_free(a);
	}
	struct cfg_agent *none = NULL;
	assert_int_equal(cfg_agent_find("clude", &places, &none), ZW_E_NOT_FOUND);
	assert_int_equal(cfg_agent_find("base", &places, &none), ZW_E_NOT_FOUND);
}

static void test_environment__no_secret_is_passed_to_every_program(void **state)
{
	(void)state;
	static const char *const secrets[] = {"TOKEN",	  "SECRET", "KEY",
					      "PASSWORD", "AWS_",   "GITHUB_"};
	struct cfg_agent *a = cfg_agent_base(&places);

	for (char **name = a->pass; *name != NULL; name++) {
		assert_true(strcmp(*name, "*") != 0);
		for (size_t i = 0; i < ZW_N_ELEMENTS(secrets); i++)
			assert_null(strstr(*name, secrets[i]));
	}
	cfg_agent_free(a);
}

static void test_claude__own_files(void **state)
{
	(void)state;
	struct cfg_agent *a = NULL;

	assert_int_equal(cfg_agent_find("claude", &places, &a), 0);
	assert_string_equal(a->command, "claude");
	assert_false(find(&a->writable, "/home/u/.claude")->is_file);
	assert_true(find(&a->writable, "/home/u/.claude.json")->is_file);
	assert_string_equal(find(&a->writable, "/home/u/.claude.json")->initial, "{}\n");
	assert_string_equal(a->sites[0].site, "api.anthropic.com:443");
	assert_true(has(a->pass, "ANTHROPIC_*"));
	cfg_agent_free(a);
}

static void test_hidden__credentials_of_others_but_not_its_own(void **state)
{
	(void)state;
	struct cfg_agent *a = NULL;
	struct cfg_paths hidden;

	cfg_hidden_paths(&places, NULL, &hidden);
	assert_true(hidden.n > 150);
	assert_string_equal(hidden.list[0].path, "/home/u/.config/zwatch");
	assert_string_equal(hidden.list[1].path, "/elsewhere/zwatch");
	assert_non_null(find(&hidden, "/home/u/.ssh"));
	assert_non_null(find(&hidden, "/home/u/.claude"));
	assert_true(find(&hidden, "/home/u/.netrc")->is_file);
	assert_false(find(&hidden, "/home/u/.aws")->is_file);
	for (size_t i = 0; i < hidden.n; i++) {
		assert_true(hidden.list[i].why[0] != '\0');
		assert_true(hidden.list[i].path[0] == '/');
	}
	cfg_paths_fini(&hidden);

	assert_int_equal(cfg_agent_find("claude", &places, &a), 0);
	cfg_hidden_paths(&places, a, &hidden);
	assert_null(find(&hidden, "/home/u/.claude"));
	assert_null(find(&hidden, "/home/u/.claude.json"));
	assert_non_null(find(&hidden, "/home/u/.codex"));
	assert_non_null(find(&hidden, "/home/u/.ssh"));
	assert_non_null(find(&hidden, "/home/u/.config/zwatch"));
	cfg_paths_fini(&hidden);
	cfg_agent_free(a);
}

static void test_shown__known_hosts_and_no_key(void **state)
{
	(void)state;
	struct cfg_paths shown;

	cfg_shown_paths(&places, &shown);
	assert_non_null(find(&shown, "/home/u/.ssh/known_hosts"));
	for (size_t i = 0; i < shown.n; i++) {
		assert_true(shown.list[i].is_file);
		assert_null(strstr(shown.list[i].path, "id_"));
	}
	cfg_paths_fini(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets__are_all_complete),
		cmocka_unit_test(test_environment__no_secret_is_passed_to_every_program),
		cmocka_unit_test(test_claude__own_files),
		cmocka_unit_test(test_hidden__credentials_of_others_but_not_its_own),
		cmocka_unit_test(test_shown__known_hosts_and_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
