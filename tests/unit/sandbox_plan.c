/* SPDX-License-Identifier: MIT
 * Plan and layout to bwrap's arguments; no file system involved. */
#include "tests/support/test.h"

#include "sandbox/plan.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

static struct sb_layout layout_new(void)
{
	struct sb_layout l = {.cwd = zw_xstrdup("/home/u/p"),
			      .project = zw_xstrdup("/home/u/p"),
			      .runtime_dir = zw_xstrdup("/run/user/7")};

	static const char *const tops[][2] = {{"bin", "usr/bin"}, {"tmp", NULL}, {"usr", NULL}};
	l.tops = zw_xcalloc(ZW_N_ELEMENTS(tops), sizeof(*l.tops));
	for (; l.n_tops < ZW_N_ELEMENTS(tops); l.n_tops++)
		l.tops[l.n_tops] =
			(struct sb_top){zw_xstrdup(tops[l.n_tops][0]),
					tops[l.n_tops][1] ? zw_xstrdup(tops[l.n_tops][1]) : NULL};
	sb_layout_add(&l, "/tmp", SB_PLACE_FRESH, true);
	sb_layout_add(&l, "/run", SB_PLACE_FRESH, true);
	sb_layout_add(&l, "/run/user/7", SB_PLACE_FRESH, true);
	sb_layout_add(&l, "/home/u/p", SB_PLACE_WRITABLE, true);
	return l;
}

static const struct sb_plan plan = {.uid = 7, .gid = 8, .project_holds_sockets = true};

/** Arguments with blanks between them, in static memory. */
static const char *args_of(const struct sb_plan *p, struct sb_layout *l)
{
	static const int empty[] = {20, 21, 22};
	static char text[8192];
	static const int texts[] = {30};
	const struct sb_plan_fds fds = {10, 11, texts, empty, 3};
	struct zw_buf b;

	zw_buf_init(&b, sizeof(text));
	assert_int_equal(sb_plan_args(p, l, &fds, &b), 0);
	memcpy(text, zw_buf_head(&b), b.len);
	for (size_t i = 0; i + 1 < b.len; i++)
		text[i] = text[i] ? text[i] : ' ';
	zw_buf_fini(&b);
	return text;
}

/** Where @part begins in @text; fails when it is not there. */
static size_t at(const char *text, const char *part)
{
	const char *p = strstr(text, part);

	if (!p)
		fail_msg("no '%s' in: %s", part, text);
	return (size_t)(p - text);
}

static void test_args__namespaces_and_no_capabilities(void **state)
{
	struct sb_layout l = layout_new();

	(void)state;
	sb_layout_order(&l);
	const char *args = args_of(&plan, &l);
	at(args, "--unshare-user ");
	at(args, "--unshare-pid ");
	at(args, "--unshare-net ");
	at(args, "--unshare-ipc ");
	at(args, "--unshare-uts ");
	at(args, "--disable-userns ");
	at(args, "--die-with-parent ");
	at(args, "--as-pid-1 ");
	at(args, "--cap-drop ALL ");
	at(args, "--uid 7 --gid 8 --symlink usr/bin /bin --ro-bind /usr /usr --dev /dev ");
	assert_null(strstr(args, "--ro-bind / /"));
	assert_null(strstr(args, "--remount-ro /proc"));
	sb_layout_fini(&l);
}

static void test_z036_args__roots_proc_is_read_only(void **state)
{
	struct sb_layout l = layout_new();
	struct sb_plan root = plan;

	(void)state;
	root.uid = 0;
	sb_layout_order(&l);
	const char *args = args_of(&root, &l);
	assert_true(at(args, "--proc /proc") < at(args, "--remount-ro /proc"));
	sb_layout_fini(&l);
}

static void test_z039_args__parents_before_children(void **state)
{
	struct sb_layout l = layout_new();

	(void)state;
	sb_layout_add(&l, "/home/u/p/secrets", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/home/u/p/vendor", SB_PLACE_READ_ONLY, true);
	sb_layout_add(&l, "/home/u", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/tmp/work", SB_PLACE_WRITABLE, true);
	sb_layout_order(&l);
	const char *args = args_of(&plan, &l);
	size_t project = at(args, "--bind /home/u/p /home/u/p");
	assert_true(at(args, "--tmpfs /home/u ") < project);
	assert_true(project < at(args, "--perms 0700 --tmpfs /home/u/p/secrets"));
	assert_true(project < at(args, "--ro-bind /home/u/p/vendor /home/u/p/vendor"));
	assert_true(at(args, "--perms 1777 --tmpfs /tmp") < at(args, "--bind /tmp/work /tmp/work"));
	/* Closed only when the mount points inside have been made. */
	assert_true(project < at(args, "--remount-ro /home/u "));
	at(args, "--remount-ro /home/u/p/secrets");
	sb_layout_fini(&l);
}

static void test_order__strictest_of_equals(void **state)
{
	struct sb_layout l = {0};

	(void)state;
	sb_layout_add(&l, "/a", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/a", SB_PLACE_WRITABLE, true);
	sb_layout_add(&l, "/a", SB_PLACE_READ_ONLY, true);
	sb_layout_add(&l, "/ab", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/a/b", SB_PLACE_HIDDEN, false);
	sb_layout_add(&l, "/a/c", SB_PLACE_WRITABLE, true);
	sb_layout_order(&l);
	assert_int_equal(l.n_places, 3);
	assert_string_equal(l.places[0].path, "/a");
	assert_int_equal(l.places[0].kind, SB_PLACE_HIDDEN);
	assert_string_equal(l.places[1].path, "/a/c");
	assert_string_equal(l.places[2].path, "/ab");
	sb_layout_fini(&l);
}

/* -- precedence -------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"guarded", "shown",  "writable", "read-only",
					 "fresh",   "hidden", "link"};

/** What @path is in @l, "" = as the system around it. */
static const char *kind_of(const struct sb_layout *l, const char *path)
{
	for (size_t i = 0; i < l->n_places; i++) {
		if (strcmp(l->places[i].path, path) == 0)
			return kind_names[l->places[i].kind];
	}
	return "";
}

/** Both orders of two rules, and the answer for each. "" = no place of its own. */
static void check_two(const char *a, enum sb_place_kind a_kind, const char *b,
		      enum sb_place_kind b_kind, const char *want_a, const char *want_b)
{
	for (int order = 0; order < 2; order++) {
		struct sb_layout l = {0};

		sb_layout_add(&l, order ? b : a, order ? b_kind : a_kind, true);
		sb_layout_add(&l, order ? a : b, order ? a_kind : b_kind, true);
		for (int again = 0; again < 2; again++) {
			sb_layout_order(&l);
			if (strcmp(kind_of(&l, a), want_a) != 0 ||
			    strcmp(kind_of(&l, b), want_b) != 0)
				fail_msg("%s %s, %s %s: '%s' '%s', wanted '%s' '%s'",
					 kind_names[a_kind], a, kind_names[b_kind], b,
					 kind_of(&l, a), kind_of(&l, b), want_a, want_b);
		}
		sb_layout_fini(&l);
	}
}

static void test_order__every_kind_in_every_other(void **state)
{
	/* outer alone, and inner in it; the inner ones in the order of kind_names */
	static const char *const want[][1 + 6] = {
		[SB_PLACE_GUARDED] = {"", "", "", "writable", "", "fresh", "hidden"},
		[SB_PLACE_SHOWN] = {"", "", "", "writable", "", "fresh", "hidden"},
		[SB_PLACE_WRITABLE] = {"writable", "read-only", "", "writable", "read-only",
				       "fresh", "hidden"},
		[SB_PLACE_READ_ONLY] = {"", "", "", "writable", "", "fresh", "hidden"},
		[SB_PLACE_FRESH] = {"fresh", "", "read-only", "writable", "read-only", "fresh", ""},
		[SB_PLACE_HIDDEN] = {"hidden", "", "read-only", "writable", "read-only", "fresh",
				     ""},
	};

	(void)state;
	for (int outer = 0; outer < 6; outer++)
		for (int inner = 0; inner < 6; inner++)
			check_two("/a", (enum sb_place_kind)outer, "/a/b",
				  (enum sb_place_kind)inner, want[outer][0],
				  want[outer][1 + inner]);
}

static void test_order__every_kind_on_every_other(void **state)
{
	/* both on /w/b, in a writable /w; upper triangle, since the order does not matter */
	static const char *const want[6][6] = {
		{"read-only", "read-only", "writable", "read-only", "fresh", "hidden"},
		{NULL, "", "writable", "read-only", "read-only", "read-only"},
		{NULL, NULL, "writable", "read-only", "fresh", "hidden"},
		{NULL, NULL, NULL, "read-only", "fresh", "hidden"},
		{NULL, NULL, NULL, NULL, "fresh", "hidden"},
		{NULL, NULL, NULL, NULL, NULL, "hidden"},
	};

	(void)state;
	for (int a = 0; a < 6; a++) {
		for (int b = 0; b < 6; b++) {
			struct sb_layout l = {0};
			const char *wanted = want[a < b ? a : b][a < b ? b : a];

			sb_layout_add(&l, "/w/b", (enum sb_place_kind)a, true);
			sb_layout_add(&l, "/w", SB_PLACE_WRITABLE, true);
			sb_layout_add(&l, "/w/b", (enum sb_place_kind)b, true);
			sb_layout_order(&l);
			if (strcmp(kind_of(&l, "/w/b"), wanted) != 0)
				fail_msg("%s + %s: '%s', wanted '%s'", kind_names[a], kind_names[b],
					 kind_of(&l, "/w/b"), wanted);
			sb_layout_fini(&l);
		}
	}
}

/* -- every order ------------------------------------------------------------------------------- */

#define N_RULES 5

struct wish {
	const char *path;
	enum sb_place_kind kind;
};

/** How @path looks, worked out apart from sb_layout_order(): the deepest path that holds it and that
 * a wish names decides; guarded ones only where it is writable around them. */
static enum sb_place_kind oracle(const struct wish *w, size_t n, const char *path)
{
	enum sb_place_kind got = SB_PLACE_READ_ONLY; /* the system */

	for (size_t len = 1; len <= strlen(path); len++) {
		unsigned kinds = 0;

		if (path[len] != '/' && path[len] != '\0')
			continue;
		for (size_t i = 0; i < n; i++)
			if (strlen(w[i].path) == len && strncmp(w[i].path, path, len) == 0)
				kinds |= 1u << w[i].kind;
		bool is_shown = kinds & (1u << SB_PLACE_SHOWN);
		if ((kinds & (1u << SB_PLACE_HIDDEN)) && !is_shown)
			got = got == SB_PLACE_FRESH ? SB_PLACE_FRESH : SB_PLACE_HIDDEN;
		else if ((kinds & (1u << SB_PLACE_FRESH)) && !is_shown)
			got = SB_PLACE_FRESH;
		else if (kinds & (1u << SB_PLACE_READ_ONLY))
			got = SB_PLACE_READ_ONLY;
		else if (kinds & (1u << SB_PLACE_WRITABLE))
			got = SB_PLACE_WRITABLE;
		else if (is_shown && (got != SB_PLACE_WRITABLE || kinds >> SB_PLACE_FRESH))
			got = SB_PLACE_READ_ONLY;
		else if ((kinds & (1u << SB_PLACE_GUARDED)) && got == SB_PLACE_WRITABLE)
			got = SB_PLACE_READ_ONLY;
	}
	return got;
}

/** How @path looks in an ordered layout: as the last mount over it. */
static enum sb_place_kind looks(const struct sb_layout *l, const char *path)
{
	enum sb_place_kind got = SB_PLACE_READ_ONLY;

	for (size_t i = 0; i < l->n_places; i++) {
		size_t len = strlen(l->places[i].path);

		if (strncmp(l->places[i].path, path, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0'))
			got = l->places[i].kind;
	}
	return got;
}

static void check_order(const struct wish *w, const unsigned *order)
{
	static const char *const paths[] = {"/a",   "/a/b", "/a/b/c", "/a/bb",
					    "/a/x", "/d",   "/d/e",   "/z"};
	struct sb_layout l = {0};

	for (size_t i = 0; i < N_RULES; i++)
		sb_layout_add(&l, w[order[i]].path, w[order[i]].kind, true);
	sb_layout_order(&l);
	for (size_t i = 0; i < ZW_N_ELEMENTS(paths); i++) {
		enum sb_place_kind got = looks(&l, paths[i]), want = oracle(w, N_RULES, paths[i]);

		if (got == want || (got == SB_PLACE_SHOWN && want == SB_PLACE_READ_ONLY))
			continue;
		for (size_t k = 0; k < N_RULES; k++)
			print_message("%s %s\n", kind_names[w[order[k]].kind], w[order[k]].path);
		fail_msg("%s: %s, wanted %s", paths[i], kind_names[got], kind_names[want]);
	}
	sb_layout_fini(&l);
}

/** Each of the n! orders, by Heap's way. */
static void each_order(const struct wish *w, unsigned *order, size_t n)
{
	if (n <= 1) {
		check_order(w, order);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		each_order(w, order, n - 1);
		size_t k = n % 2 == 0 ? i : 0;
		unsigned kept = order[k];
		order[k] = order[n - 1];
		order[n - 1] = kept;
	}
}

static void test_z034_order__nested_rules_hold_in_every_order(void **state)
{
	static const char *const paths[] = {"/a", "/a/b", "/a/b/c", "/a/bb", "/d", "/d/e"};
	uint32_t random = 12345;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct wish w[N_RULES];
		unsigned order[N_RULES];

		for (unsigned i = 0; i < N_RULES; i++) {
			random = random * 1664525u + 1013904223u;
			w[i] = (struct wish){paths[(random >> 16) % ZW_N_ELEMENTS(paths)],
					     (enum sb_place_kind)((random >> 8) % 6)};
			order[i] = i;
		}
		each_order(w, order, N_RULES);
	}
}

static void test_order__shown_and_writable_undo_hidden(void **state)
{
	struct sb_layout l = {0};

	(void)state;
	sb_layout_add(&l, "/h", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/h", SB_PLACE_WRITABLE, true);
	sb_layout_add(&l, "/h", SB_PLACE_SHOWN, true);
	sb_layout_add(&l, "/i", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/i", SB_PLACE_SHOWN, true);
	sb_layout_order(&l);
	assert_string_equal(kind_of(&l, "/h"), "writable");
	assert_string_equal(kind_of(&l, "/i"), "");
	sb_layout_fini(&l);
}

static void test_z031_order__way_to_a_protected_path_cannot_be_moved(void **state)
{
	struct sb_layout l = {0};

	(void)state;
	sb_layout_add(&l, "/p", SB_PLACE_WRITABLE, true);
	sb_layout_add(&l, "/p/.git/modules/m/config", SB_PLACE_GUARDED, false);
	sb_layout_add(&l, "/p/a/b/secret", SB_PLACE_HIDDEN, true);
	sb_layout_add(&l, "/p/c/ro/d/rw", SB_PLACE_WRITABLE, true);
	sb_layout_add(&l, "/p/c/ro", SB_PLACE_READ_ONLY, true);
	sb_layout_order(&l);
	assert_string_equal(kind_of(&l, "/p/.git"), "writable");
	assert_string_equal(kind_of(&l, "/p/.git/modules"), "writable");
	assert_string_equal(kind_of(&l, "/p/.git/modules/m"), "writable");
	assert_string_equal(kind_of(&l, "/p/.git/modules/m/config"), "read-only");
	assert_string_equal(kind_of(&l, "/p/a"), "writable");
	assert_string_equal(kind_of(&l, "/p/a/b"), "writable");
	assert_string_equal(kind_of(&l, "/p/c"), "writable");
	assert_string_equal(kind_of(&l, "/p/c/ro/d"), "");
	size_t n = l.n_places;
	sb_layout_order(&l);
	assert_int_equal(l.n_places, n);
	assert_true(sb_layout_is_writable(&l, "/p/x/y"));
	assert_true(sb_layout_is_writable(&l, "/p/c/ro/d/rw/x"));
	assert_false(sb_layout_is_writable(&l, "/p/c/ro/x"));
	assert_false(sb_layout_is_writable(&l, "/px"));
	sb_layout_fini(&l);
}

static void test_z029_order__links_in_writable_places_are_held(void **state)
{
	struct sb_layout l = layout_new();

	(void)state;
	sb_layout_add(&l, "/home/u/p/a/link", SB_PLACE_LINK, false);
	sb_layout_add(&l, "/home/u/other", SB_PLACE_LINK, false);
	sb_layout_add(&l, "/tmp/link", SB_PLACE_LINK, false);
	sb_layout_order(&l);
	assert_string_equal(kind_of(&l, "/home/u/p/a/link"), "link");
	assert_string_equal(kind_of(&l, "/home/u/p/a"), "writable");
	assert_string_equal(kind_of(&l, "/home/u/other"), "");
	assert_string_equal(kind_of(&l, "/tmp/link"), "");
	assert_null(strstr(args_of(&plan, &l), "a/link"));
	sb_layout_fini(&l);
}

static void test_args__files_by_descriptor(void **state)
{
	struct sb_layout l = layout_new();

	(void)state;
	l.resolv_conf = zw_xstrdup("/run/systemd/resolve/stub-resolv.conf");
	l.nsswitch = zw_xstrdup("/etc/nsswitch.conf");
	sb_layout_add(&l, "/home/u/.netrc", SB_PLACE_HIDDEN, false);
	sb_layout_add(&l, "/home/u/.npmrc", SB_PLACE_HIDDEN, false);
	sb_layout_add(&l, "/tmp/never-seen", SB_PLACE_HIDDEN, false);
	sb_layout_order(&l);
	assert_int_equal(sb_layout_n_empty(&l), 2);
	const char *args = args_of(&plan, &l);
	at(args, "--ro-bind-data 20 /home/u/.netrc");
	at(args, "--ro-bind-data 21 /home/u/.npmrc");
	assert_true(at(args, "--tmpfs /run ") <
		    at(args, "--ro-bind-data 10 /run/systemd/resolve/stub-resolv.conf"));
	at(args, "--ro-bind-data 11 /etc/nsswitch.conf");
	sb_layout_fini(&l);
}

static void test_z134_args__paths_are_bytes(void **state)
{
	struct sb_layout l = layout_new();

	(void)state;
	sb_layout_add(&l, "/home/u/a b\nc\xff", SB_PLACE_WRITABLE, true);
	sb_layout_order(&l);
	at(args_of(&plan, &l), "--bind /home/u/a b\nc\xff /home/u/a b\nc\xff");
	sb_layout_fini(&l);
}

static void test_args__texts_of_the_plan(void **state)
{
	struct sb_layout l = layout_new();
	const struct sb_text texts[] = {{"/run/x/ca.pem", "text", 4}, {NULL, NULL, 0}};
	struct sb_plan p = plan;

	(void)state;
	sb_layout_order(&l);
	p.texts = texts;
	assert_non_null(strstr(args_of(&p, &l), "--perms 0444 --ro-bind-data 30 /run/x/ca.pem"));
	sb_layout_fini(&l);
}

static void test_args__say_when_too_long(void **state)
{
	struct sb_layout l = layout_new();
	const struct sb_plan_fds fds = {-1, -1, NULL, NULL, 0};
	struct zw_buf b;

	(void)state;
	sb_layout_order(&l);
	zw_buf_init(&b, 64);
	assert_int_equal(sb_plan_args(&plan, &l, &fds, &b), ZW_E_TOOBIG);
	zw_buf_fini(&b);
	sb_layout_fini(&l);
}

static void check_dirs(const struct sb_plan *p, struct sb_layout *l, const char *want, size_t len)
{
	struct zw_buf b;

	zw_buf_init(&b, 4096);
	assert_int_equal(sb_plan_socket_dirs(p, l, &b), 0);
	assert_int_equal(b.len, len);
	assert_memory_equal(zw_buf_head(&b), want, len);
	zw_buf_fini(&b);
}

static void test_socket_dirs__private_places_and_project(void **state)
{
	static const char open[] = "/run/user/7\0/tmp\0/home/u/p";
	static const char closed[] = "/run/user/7\0/tmp";
	struct sb_layout l = layout_new();
	struct sb_plan strict = plan;

	(void)state;
	sb_layout_add(&l, "/tmp/inner", SB_PLACE_FRESH, true);
	sb_layout_order(&l);
	check_dirs(&plan, &l, open, sizeof(open));
	strict.project_holds_sockets = false;
	check_dirs(&strict, &l, closed, sizeof(closed));
	sb_layout_fini(&l);
}

static void check_nsswitch(const char *in, const char *want)
{
	struct zw_buf b;

	zw_buf_init(&b, 4096);
	assert_int_equal(sb_nsswitch_rewrite(in, strlen(in), &b), 0);
	assert_int_equal(b.len, strlen(want));
	assert_memory_equal(zw_buf_head(&b), want, b.len);
	zw_buf_fini(&b);
}

static void test_nsswitch__hosts_replaced(void **state)
{
	(void)state;
	check_nsswitch(
		"passwd: files systemd\nhosts: files mdns4_minimal resolve\nnetworks: files\n",
		"passwd: files systemd\nnetworks: files\nhosts: files dns\n");
	check_nsswitch(" \thosts: x", "\nhosts: files dns\n");
	check_nsswitch("passwd: files", "passwd: files\nhosts: files dns\n");
	check_nsswitch("", "hosts: files dns\n");
}

static void test_failure__text_hint_and_status(void **state)
{
	struct sb_failure f;
	char text[512];

	(void)state;
	assert_int_equal(sb_fail(&f, SB_STAGE_EXEC, 2, "%s", "no\x1b[2Jsuch"), -2);
	sb_failure_text(&f, text, sizeof(text));
	assert_string_equal(
		text, "the program cannot be started: no\\x1b[2Jsuch: No such file or directory");
	assert_int_equal(sb_failure_exit(&f), 127);
	sb_fail(&f, SB_STAGE_EXEC, 13, "%s", "");
	assert_int_equal(sb_failure_exit(&f), 126);
	assert_true(sb_fail(&f, SB_STAGE_USERNS, 0, "%s", "bwrap: x\n") < 0);
	sb_failure_text(&f, text, sizeof(text));
	assert_string_equal(text, "no user namespace could be made: bwrap: x");
	assert_non_null(strstr(sb_failure_hint(&f), "AppArmor"));
	assert_int_equal(sb_failure_exit(&f), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_args__namespaces_and_no_capabilities),
		cmocka_unit_test(test_z036_args__roots_proc_is_read_only),
		cmocka_unit_test(test_z039_args__parents_before_children),
		cmocka_unit_test(test_order__strictest_of_equals),
		cmocka_unit_test(test_order__every_kind_in_every_other),
		cmocka_unit_test(test_order__every_kind_on_every_other),
		cmocka_unit_test(test_order__shown_and_writable_undo_hidden),
		cmocka_unit_test(test_z034_order__nested_rules_hold_in_every_order),
		cmocka_unit_test(test_z031_order__way_to_a_protected_path_cannot_be_moved),
		cmocka_unit_test(test_z029_order__links_in_writable_places_are_held),
		cmocka_unit_test(test_args__files_by_descriptor),
		cmocka_unit_test(test_z134_args__paths_are_bytes),
		cmocka_unit_test(test_args__texts_of_the_plan),
		cmocka_unit_test(test_args__say_when_too_long),
		cmocka_unit_test(test_socket_dirs__private_places_and_project),
		cmocka_unit_test(test_nsswitch__hosts_replaced),
		cmocka_unit_test(test_failure__text_hint_and_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
