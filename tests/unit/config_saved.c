/* SPDX-License-Identifier: MIT
 * rules.json: what is read, what is refused with its line, and how it is written. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/config/saved_file.h"

#define NOW  INT64_C(1796000000)
#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static char dir[64], path[96];

static int setup(void **state)
{
	(void)state;
	zw_strlcpy(dir, "/tmp/zw-saved.XXXXXX", sizeof(dir));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" CFG_SAVED_FILE, dir);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"", ".bak", ".new"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		zw_autofree char *file = zw_xasprintf("%s%s", path, names[i]);

		unlink(file);
	}
	rmdir(dir);
	return 0;
}

static void put(const char *text, mode_t mode)
{
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(zw_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* The first finding about @text, "" = none. */
static char *finding(const char *text)
{
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;
	char *line;

	int r = cfg_saved_parse(text, strlen(text), "rules.json", &s, &report);
	line = report.n > 0 ? cfg_error_format(&report.list[0]) : zw_xstrdup("");
	assert_int_equal(r<0, report.n> 0);
	if (r < 0)
		assert_int_equal(s.n, 0);
	cfg_saved_fini(&s);
	cfg_report_clear(&report);
	return line;
}

static void test_bad__said_with_its_line_and_nothing_holds(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "rules.json:1"},
		{"[]", "not the rules of zwatch"},
		{"{}", "no list of \"rules\""},
		{"{ \"rules\": [ { \"id\": 1,\n \"do\": \"allow\",\n \"target\": \"*\" } ] }",
		 "rules.json:1"},
		{"{ \"rules\": [\n\n{ \"id\": 1, \"do\": \"alow\" } ] }", "rules.json:3"},
		{"{ \"rules\": [\n{ \"id\": 1, \"do\": \"deny\", \"targt\": \"a.test\" } ] }",
		 "Did you mean `target`?"},
		{"{ \"rules\": [ { \"id\": 1, \"target\": \"a.test\" } ] }",
		 "neither allow nor deny"},
		{"{ \"rules\": [ { \"do\": \"deny\", \"target\": \"a.test\" } ] }", "a number"},
		{"{ \"rules\": [ { \"id\": 1, \"do\": \"deny\", \"target\": \"a.test\" },\n"
		 "{ \"id\": 1, \"do\": \"deny\", \"target\": \"b.test\" } ] }",
		 "rules.json:2"},
		{"{ \"rules\": [ { \"id\": 1, \"do\": \"allow\", \"target\": \"unix:run/a.sock\" } "
		 "] }",
		 "rule 1"},
		{"{ \"rules\": [ { \"id\": 1, \"do\": \"allow\", \"target\": \"a.test\", "
		 "\"program\": \"/bin/x\" } ] }",
		 "needs the program's hash"},
		{"{ \"rules\": [ { \"id\": 1, \"do\": \"deny\", \"target\": \"a.test\", "
		 "\"until\": \"tomorrow\" } ] }",
		 "a time is written like"},
		{"{ \"version\": 2, \"rules\": [] }", "a newer zwatch"},
		{"{ \"rules\": [] } x", "rules.json:1"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		zw_autofree char *line = finding(cases[i].text);

		if (strstr(line, cases[i].says) == NULL)
			fail_msg("%s\nsays: %s\nnot: %s", cases[i].text, line, cases[i].says);
	}
	zw_autofree char *none = finding("{ \"rules\": [] }");
	assert_string_equal(none, "");
}

static int add_one(struct cfg_saved *s, void *arg)
{
	struct pol_saved r;

	pol_saved_init(&r);
	r.kind = POL_KIND_SOCKET;
	r.risk = POL_RISK_CRITICAL;
	free(r.target);
	r.target = zw_xstrdup(arg);
	free(r.program);
	r.program = zw_xstrdup("/usr/bin/do \"c\\k\ter");
	free(r.program_hash);
	r.program_hash = zw_xstrdup(HASH);
	free(r.note);
	r.note = zw_xstrdup("use \"localhost\"\n");
	r.has_listener = true;
	r.listener_uid = 7;
	r.made_s = NOW;
	r.until_s = NOW + 3600;
	r.n_used = 3;
	r.used_s = NOW + 5;
	r.session = 42;
	cfg_saved_add(s, &r);
	return 0;
}

static void change_ok(const char *target)
{
	struct cfg_report report = {.n = 0};

	assert_int_equal(
		cfg_saved_change(path, NOW, add_one, (void *)(uintptr_t)target, NULL, &report), 0);
}

static void test_write__comes_back_as_it_was(void **state)
{
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;
	struct stat st;

	(void)state;
	change_ok("/run/docker.sock");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.next_id, 2);
	assert_int_equal(s.seen_s, NOW);
	const struct pol_saved *r = &s.list[0];
	assert_int_equal(r->id, 1);
	assert_int_equal(r->kind, POL_KIND_SOCKET);
	assert_int_equal(r->risk, POL_RISK_CRITICAL);
	assert_string_equal(r->target, "/run/docker.sock");
	assert_string_equal(r->program, "/usr/bin/do \"c\\k\ter");
	assert_string_equal(r->program_hash, HASH);
	assert_string_equal(r->note, "use \"localhost\"\n");
	assert_true(r->has_listener);
	assert_int_equal(r->listener_uid, 7);
	assert_int_equal(r->until_s, NOW + 3600);
	assert_int_equal(r->n_used, 3);
	assert_int_equal(r->used_s, NOW + 5);
	assert_int_equal(r->session, 42);
	cfg_saved_fini(&s);
}

static void test_write__one_backup_and_numbers_are_not_used_twice(void **state)
{
	zw_autofree char *backup = zw_xasprintf("%s.bak", path);
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;

	(void)state;
	change_ok("/run/a.sock");
	change_ok("/run/b.sock");
	assert_int_equal(cfg_saved_load(backup, &s, &report), 0);
	assert_int_equal(s.n, 1);
	assert_true(cfg_saved_remove(&s, 1));
	cfg_saved_fini(&s);
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	assert_int_equal(s.n, 2);
	assert_true(cfg_saved_remove(&s, 2));
	zw_autofree char *text = cfg_saved_format(&s);
	cfg_saved_fini(&s);
	put(text, 0600);
	change_ok("/run/c.sock");
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	assert_null(cfg_saved_find(&s, 2));
	assert_string_equal(cfg_saved_find(&s, 3)->target, "/run/c.sock");
	cfg_saved_fini(&s);
}

static int refuse(struct cfg_saved *s, void *arg)
{
	(void)arg;
	cfg_saved_remove(s, 1);
	return ZW_E_DENIED;
}

static void test_write__nothing_half(void **state)
{
	struct cfg_report report = {.n = 0};
	zw_autofree char *before = NULL, *after = NULL;
	size_t len;

	(void)state;
	change_ok("/run/a.sock");
	assert_int_equal(zw_read_file(path, 1 << 20, &before, &len), 0);
	assert_int_equal(cfg_saved_change(path, NOW, refuse, NULL, NULL, &report), ZW_E_DENIED);
	/* a name that is no UTF-8 would make a file that nobody can read any more */
	assert_true(cfg_saved_change(path, NOW, add_one, (void *)(uintptr_t) "/run/\xff.sock", NULL,
				     &report) < 0);
	assert_int_equal(zw_read_file(path, 1 << 20, &after, &len), 0);
	assert_string_equal(before, after);
	/* a file that is wrong is not written over */
	put("{ broken", 0600);
	assert_int_equal(cfg_saved_change(path, NOW, add_one, (void *)(uintptr_t) "/run/a.sock",
					  NULL, &report),
			 ZW_E_CONFIG);
	assert_int_equal(report.n, 1);
	free(zw_steal(&after));
	assert_int_equal(zw_read_file(path, 1 << 20, &after, &len), 0);
	assert_string_equal(after, "{ broken");
	cfg_report_clear(&report);
}

static void test_load__only_what_nobody_else_can_write(void **state)
{
	static const mode_t bad[] = {0660, 0606, 0622};
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;

	(void)state;
	put("{ \"rules\": [] }", 0644);
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		put("{ \"rules\": [] }", bad[i]);
		assert_int_equal(cfg_saved_load(path, &s, &report), ZW_E_CONFIG);
		cfg_report_clear(&report);
	}
	unlink(path);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(cfg_saved_load(path, &s, &report), ZW_E_CONFIG);
	cfg_report_clear(&report);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* not waited for */
	assert_int_equal(cfg_saved_load(path, &s, &report), ZW_E_CONFIG);
	cfg_report_clear(&report);
	unlink(path);
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	assert_int_equal(s.n, 0);
}

/* Many at once lose nothing. */
static void test_write__by_many(void **state)
{
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;
	int status;

	(void)state;
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			zw_autofree char *name = zw_xasprintf("/run/%d.sock", i);
			int r = cfg_saved_change(path, NOW, add_one, name, NULL, &report);
			_exit(r == 0 ? 0 : 1);
		}
	}
	for (int i = 0; i < 8; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(cfg_saved_load(path, &s, &report), 0);
	assert_int_equal(s.n, 8);
	cfg_saved_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad__said_with_its_line_and_nothing_holds),
		cmocka_unit_test_setup_teardown(test_write__comes_back_as_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_write__one_backup_and_numbers_are_not_used_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write__nothing_half, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load__only_what_nobody_else_can_write, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_write__by_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
