/* SPDX-License-Identifier: MIT
 * Which files are read, and what happens when one of them is not what it should be. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/config/config.h"

/* A home, a project in it, and nothing of the machine's own. */
struct fixture {
	char root[64];
	struct cfg_places places;
	struct cfg_report report;
	struct cfg *cfg;
	struct cfg_source source;
	char *system_file, *policy_dir;
};

static char *at(const struct fixture *f, const char *path)
{
	return zw_xasprintf("%s/%s", f->root, path);
}

static void put_n(const struct fixture *f, const char *path, const void *text, size_t len)
{
	zw_autofree char *whole = at(f, path);
	zw_autoclose int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(zw_write_all(fd, text, len), 0);
}

static void put(const struct fixture *f, const char *path, const char *text)
{
	put_n(f, path, text, strlen(text));
}

static int setup(void **state)
{
	struct fixture *f = zw_xnew(struct fixture);

	snprintf(f->root, sizeof(f->root), "/tmp/zwcfgXXXXXX");
	assert_non_null(mkdtemp(f->root));
	static const char *const dirs[] = {"home/.config/zwatch", "home/p/.git", "home/p/sub/deep",
					   "etc"};
	for (size_t i = 0; i < ZW_N_ELEMENTS(dirs); i++) {
		zw_autofree char *dir = at(f, dirs[i]);
		assert_int_equal(zw_mkdirs(dir, 0700), 0);
	}
	f->places = (struct cfg_places){
		.home = at(f, "home"),
		.home_real = at(f, "home"),
		.runtime_dir = at(f, "run"),
		.config_dir = at(f, "home/.config/zwatch"),
		.state_dir = at(f, "home/.local/state/zwatch"),
		.start_dir = at(f, "home/p/sub"),
	};
	put(f, "etc/config.json", "{}");
	f->system_file = at(f, "etc/config.json");
	f->source.system_file = f->system_file;
	f->policy_dir = at(f, "etc/policy.d");
	f->source.policy_dir = f->policy_dir;
	f->source.admin = getuid();
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	cfg_report_clear(&f->report);
	cfg_free(f->cfg);
	cfg_places_fini(&f->places);
	free(f->system_file);
	free(f->policy_dir);
	free(f);
	return 0;
}

static int load(struct fixture *f)
{
	cfg_report_clear(&f->report);
	cfg_free(f->cfg);
	f->cfg = NULL;
	return cfg_load(&f->places, &f->source, &f->cfg, &f->report);
}

/* The load fails with one error that ends so; @says stands in it. */
static void refuses(struct fixture *f, const char *says, const char *ends)
{
	assert_int_equal(load(f), ZW_E_CONFIG);
	assert_int_equal(f->report.n_errors, 1);
	zw_autofree char *text = cfg_error_format(&f->report.list[0]);
	if (strstr(text, says) == NULL || strstr(text, ends) == NULL)
		print_error("%s\n", text);
	assert_non_null(strstr(text, says));
	assert_string_equal(text + strlen(text) - strlen(ends), ends);
}

static void test_no_file__defaults(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f), 0);
	assert_int_equal(f->report.n, 0);
	assert_int_equal(f->cfg->mode, POL_MODE_GUARD);
	assert_int_equal(f->cfg->n_rules, 0);
	assert_int_equal(f->cfg->hold_site_ms, 120000);
	assert_int_equal(f->cfg->hold_socket_ms, 600000);
	assert_int_equal(f->cfg->arm_ms, 500);
	assert_int_equal(f->cfg->limit_connections, 256);
	assert_true(f->cfg->timeout_idle_ms > 3600000); /* event streams are silent for an hour */
	assert_int_equal(f->cfg->history_max_b, 500 << 20);
	assert_int_equal(f->cfg->dns_upstreams.n, 2);
	assert_int_equal(f->cfg->prefix_keys.n, 2);
	assert_true(f->cfg->proxy_env);
	assert_string_equal(f->cfg->project_file, "");
	/* The project is the git work tree around the start folder. */
	zw_autofree char *project = at(f, "home/p");
	assert_string_equal(f->cfg->project_dir, project);
	assert_int_equal(f->cfg->allow_write.n, 1);
	assert_string_equal(f->cfg->allow_write.list[0].text, project);
}

static void test_validate__takes_resolvers_that_can(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/config.json", "{\"network\": {\"dns\": {\"validate\": true}}}");
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->dns_upstreams.n, 1);
	assert_string_equal(f->cfg->dns_upstreams.list[0].text, "tls://9.9.9.9#dns.quad9.net");
	put(f, "etc/config.json",
	    "{\"network\": {\"dns\": {\n\"validate\": true,\n\"upstreams\": "
	    "[\"https://a.test/q;addr=9.9.9.9\"]}}}");
	refuses(f, "over https:// DNSSEC is not validated", "etc/config.json:3");
}

static void test_Z132_named_file__must_be_there_and_right(void **state)
{
	struct fixture *f = *state;
	zw_autofree char *named = at(f, "home/named.json"), *folder = at(f, "home/p");
	zw_autofree char *link = at(f, "home/link.json"), *fifo = at(f, "home/fifo");
	static const char bom_crlf[] =
		"\xef\xbb\xbf{\r\n  \"mode\": \"strict\",\r\n  \"mod\": 1\r\n}\r\n";

	f->source.user_file = named;
	refuses(f, "there is no such file", "~/named.json");
	put(f, "home/named.json", "");
	refuses(f, "the file is empty", "~/named.json:1");
	put(f, "home/named.json", " \n// nothing\n");
	refuses(f, "the file is empty", "~/named.json:2");
	put_n(f, "home/named.json",
	      "\x7f"
	      "ELF\x02\x01\x01\0\0\0\0\0\0\0",
	      14);
	refuses(f, "a zero byte", "~/named.json:1");
	put_n(f, "home/named.json", "\x89PNG\r\n\x1a\n", 8);
	refuses(f, "not UTF-8", "~/named.json:1");
	put(f, "home/named.json", "{\n\"mode\": \"strict\",\n\"network\": {");
	refuses(f, "ends too early: the bracket of line 3", "~/named.json:3");
	put(f, "home/named.json", "{\n\"mode\": \"stri");
	refuses(f, "a text is not closed on its line", "~/named.json:2");
	put(f, "home/named.json", bom_crlf);
	refuses(f, "`mod` is not a setting. Did you mean `mode`?", "~/named.json:3");
	put(f, "home/named.json", "\xff\xfe{\0}\0");
	refuses(f, "not UTF-8", "~/named.json:1");
	f->source.user_file = folder;
	refuses(f, "a folder, not a settings file", "~/p");
	assert_int_equal(symlink("nowhere", link), 0);
	f->source.user_file = link;
	refuses(f, "a link that leads nowhere", "~/link.json");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	f->source.user_file = fifo;
	refuses(f, "not a regular file", "~/fifo");
	f->source.user_file = "/dev/null";
	refuses(f, "not a regular file", "/dev/null");
	put(f, "home/named.json", "\xef\xbb\xbf{\r\n  \"mode\": \"strict\"\r\n}\r\n");
	f->source.user_file = named;
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->mode, POL_MODE_STRICT);
}

static void test_Z132_unreadable_file__refused(void **state)
{
	struct fixture *f = *state;
	zw_autofree char *named = at(f, "home/named.json");

	put(f, "home/named.json", "{}");
	assert_int_equal(chmod(named, 0), 0);
	f->source.user_file = named;
	if (geteuid() == 0) {
		/* Root reads it all the same: look as somebody else. */
		zw_autofree char *home = at(f, "home"), *etc = at(f, "etc");
		assert_int_equal(chmod(f->root, 0755), 0);
		assert_int_equal(chmod(home, 0755), 0);
		assert_int_equal(chmod(etc, 0755), 0);
		assert_int_equal(chmod(f->system_file, 0644), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	int code = load(f);
	assert_true(geteuid() == getuid() || seteuid(getuid()) == 0);
	assert_int_equal(code, ZW_E_CONFIG);
	zw_autofree char *text = cfg_error_format(&f->report.list[0]);
	assert_string_equal(text, "cannot read the settings (Permission denied): ~/named.json");
}

static void test_Z132_usual_file__bad_is_never_no_rules(void **state)
{
	struct fixture *f = *state;
	zw_autofree char *usual = at(f, "home/.config/zwatch/config.json");

	put(f, "home/.config/zwatch/config.json", "");
	refuses(f, "the file is empty", "~/.config/zwatch/config.json:1");
	put(f, "home/.config/zwatch/config.json", "{\"network\": {\"deniedDomains\": [\"a b\"]}}");
	refuses(f, "`a b` is not a site", "~/.config/zwatch/config.json:1");
	assert_int_equal(unlink(usual), 0);
	assert_int_equal(mkdir(usual, 0700), 0);
	refuses(f, "a folder", "~/.config/zwatch/config.json");
	assert_int_equal(rmdir(usual), 0);
	assert_int_equal(symlink("gone", usual), 0);
	refuses(f, "a link that leads nowhere", "~/.config/zwatch/config.json");
}

static void test_file__too_large(void **state)
{
	struct fixture *f = *state;
	size_t len = (1u << 20) + 1;
	zw_autofree char *big = zw_xmalloc(len);

	memset(big, ' ', len);
	put_n(f, "home/.config/zwatch/config.json", big, len);
	refuses(f, "larger than", "~/.config/zwatch/config.json");
}

static void test_project_file__found_upwards_to_the_git_root(void **state)
{
	struct fixture *f = *state;

	put(f, "home/.zwatch.json", "{\"network\": {\"deniedDomains\": [\"above.example\"]}}");
	put(f, "home/p/.zwatch.json", "{\"network\": {\"deniedDomains\": [\"here.example\"]}}");
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->n_rules, 1);
	assert_string_equal(f->cfg->rules[0].pattern, "here.example");
	assert_string_equal(f->cfg->rules[0].origin, "~/p/.zwatch.json:1");
	zw_autofree char *file = at(f, "home/p/.zwatch.json");
	assert_string_equal(f->cfg->project_file, file);
	/* All of them count: one in a folder below takes nothing back. */
	put(f, "home/p/sub/.zwatch.json", "{\"network\": {\"deniedDomains\": [\"near.example\"]}}");
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->n_rules, 2);
	assert_string_equal(f->cfg->rules[0].pattern, "near.example");
	assert_string_equal(f->cfg->rules[1].pattern, "here.example");
	zw_autofree char *near = at(f, "home/p/sub/.zwatch.json");
	assert_string_equal(f->cfg->project_file, near);
	f->source.no_project = true;
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->n_rules, 0);
	f->source.no_project = false;
	put(f, "home/p/sub/.zwatch.json", "{\"netwrk\": {}}");
	refuses(f, "Did you mean `network`?", "~/p/sub/.zwatch.json:1");
}

static void test_home_as_git_work_tree__is_not_the_project_below_it(void **state)
{
	struct fixture *f = *state;
	zw_autofree char *inner = at(f, "home/p/.git"), *git = at(f, "home/.git");

	assert_int_equal(rmdir(inner), 0);
	assert_int_equal(mkdir(git, 0700), 0);
	put(f, "home/.zwatch.json", "{\"network\": {\"deniedDomains\": [\"above.example\"]}}");
	assert_int_equal(load(f), 0);
	assert_string_equal(f->cfg->project_dir, f->places.start_dir);
	assert_int_equal(f->cfg->n_rules, 0);
}

static void test_socket__real_path_behind_a_link(void **state)
{
	struct fixture *f = *state;
	zw_autofree char *target = at(f, "home/real.sock"), *link = at(f, "home/link.sock");

	put(f, "home/real.sock", "");
	assert_int_equal(symlink(target, link), 0);
	put(f, "home/.config/zwatch/config.json",
	    "{\"network\": {\"allowUnixSockets\": [\"~/link.sock\", "
	    "\"/var/run/docker-zw-test.sock\", "
	    "\"@abstract\"]}}");
	assert_int_equal(load(f), 0);
	assert_int_equal(f->cfg->n_sockets, 3);
	assert_string_equal(f->cfg->sockets[0].listed, "~/link.sock");
	assert_string_equal(f->cfg->sockets[0].path, target);
	assert_string_equal(f->cfg->sockets[0].origin, "~/.config/zwatch/config.json:1");
	assert_string_equal(f->cfg->sockets[1].path, "/run/docker-zw-test.sock");
	assert_string_equal(f->cfg->sockets[2].path, "@abstract");
	assert_string_equal(f->cfg->rules[0].pattern, target);
	assert_int_equal(f->cfg->rules[0].flags, 0);
}

static void test_places__from_the_environment(void **state)
{
	(void)state;
	struct cfg_places p;

	setenv("HOME", "/tmp/../tmp/", 1);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	setenv("XDG_CONFIG_HOME", "/tmp/c", 1);
	unsetenv("XDG_STATE_HOME");
	assert_int_equal(cfg_places_init(&p), 0);
	zw_autofree char *run = zw_xasprintf("/run/user/%u", (unsigned)getuid());
	assert_string_equal(p.home, "/tmp");
	assert_string_equal(p.runtime_dir, run);
	assert_string_equal(p.config_dir, "/tmp/c/zwatch");
	assert_string_equal(p.state_dir, "/tmp/.local/state/zwatch");
	cfg_places_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_file__defaults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_validate__takes_resolvers_that_can, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_Z132_named_file__must_be_there_and_right,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_Z132_unreadable_file__refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_Z132_usual_file__bad_is_never_no_rules, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_file__too_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_project_file__found_upwards_to_the_git_root,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_home_as_git_work_tree__is_not_the_project_below_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_socket__real_path_behind_a_link, setup,
						teardown),
		cmocka_unit_test(test_places__from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
