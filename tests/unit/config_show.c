/* SPDX-License-Identifier: MIT
 * What is in force, written out: it reads back as the same, and names where each value stands. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/config/json.h"
#include "src/config/show.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/home/u"},
	.runtime_dir = (char[]){"/run/u"},
	.config_dir = (char[]){"/home/u/c"},
	.state_dir = (char[]){"/home/u/s"},
	.start_dir = (char[]){"/home/u/p"},
};

/* Every key, none with its default. */
static const char full[] =
	("{\"mode\": \"strict\",\n"
	 "\"network\": {\"allowedDomains\": [\"a.example\", \"*.b.example:8443\"],\n"
	 "\"deniedDomains\": [\"c.example\", \"d.example\"],\n"
	 "\"deniedDomainReasons\": {\"c.example\": \"use \\\"b\\\" instead\"},\n"
	 "\"allowUnixSockets\": [\"/run/x.sock\", {\"path\": \"/run/y.sock\", \"direct\": true}, "
	 "\"@z\"],\n"
	 "\"denyUnixSockets\": [\"/run/no.sock\"],\n"
	 "\"allowLocalPorts\": [5432, 80], \"publishPorts\": [3000], \"proxyEnv\": false,\n"
	 "\"allowPrivate\": [\"*.corp.example\", \"10.1.0.0/16\"],\n"
	 "\"upstreamProxy\": \"http://p.example:3128\", \"upstreamProxyCredentials\": "
	 "\"~/.proxy\",\n"
	 "\"tls\": {\"sni\": \"optional\", \"ech\": \"deny\"},\n"
	 "\"dns\": {\"upstreams\": [\"system\"], \"validate\": true, \"trustAnchors\": \"/k\", "
	 "\"doh\": \"filter\",\n"
	 "\"zones\": {\"corp.example\": [\"system\", \"tls://1.2.3.4#r.example\"], \"x.example\": "
	 "[\"system\"]}},\n"
	 "\"limits\": {\"connections\": 1, \"perHost\": 2, \"perProgram\": 3, \"newPerSecond\": 4, "
	 "\"headerBytes\": 5,\n"
	 "\"headerFields\": 6}, \"quotas\": {\"up\": \"1M\", \"down\": \"3K\", \"sites\": "
	 "{\"*.q.example\": \"100M\"}},\n"
	 "\"timeouts\": {\"resolve\": \"1s\", \"connect\": \"2s\", \"header\": \"3s\", "
	 "\"tlsHello\": \"1500ms\", \"idle\": \"0\",\n"
	 "\"halfClose\": \"1d\"}},\n"
	 "\"resources\": {\"memory\": \"2G\", \"processes\": 9, \"cpu\": 150},\n"
	 "\"filesystem\": {\"allowWrite\": [\"/w\"], \"denyRead\": [\"/h\"], \"allowRead\": "
	 "[\"/r\"], \"denyWrite\": [\"/d\"],\n"
	 "\"allowSockets\": \"private\"},\n"
	 "\"prompt\": {\"holdSite\": \"90s\", \"holdSocket\": \"0\", \"arm\": \"second-key\", "
	 "\"repeatToSession\": 7,\n"
	 "\"flood\": \"9 in 1m\"},\n"
	 "\"notify\": {\"bell\": false, \"osc\": \"never\", \"desktop\": \"always\", \"command\": "
	 "\"x y\"},\n"
	 "\"ui\": {\"panes\": \"right\", \"theme\": \"mono\", \"mouse\": false, \"scrollback\": 5, "
	 "\"agentClipboard\": true,\n"
	 "\"review\": false}, \"keys\": {\"prefix\": [\"C-a\"]},\n"
	 "\"history\": {\"keep\": \"1h\", \"maxSize\": \"7\", \"recordScreen\": true, "
	 "\"commandLines\": \"none\",\n"
	 "\"durable\": \"power\", \"required\": true},\n"
	 "\"redact\": {\"flags\": [\"--license\"], \"patterns\": [\"k[0-9]+\"]},\n"
	 "\"agents\": {\"mine\": {\"command\": \"/opt/x\", \"preset\": \"claude\", "
	 "\"importSettings\": \"off\"}}}\n");

static struct cfg *read_user(const char *text)
{
	struct cfg *cfg = cfg_new(&places, NULL);
	struct cfg_report report = {0};

	cfg_read_text(cfg, &places, POL_LAYER_USER, "u.json", text, strlen(text), &report);
	for (size_t i = 0; i < report.n; i++)
		print_error("%s\n", report.list[i].text);
	assert_int_equal(report.n, 0);
	cfg_report_clear(&report);
	return cfg;
}

static void test_file__reads_back_as_the_same(void **state)
{
	(void)state;
	static const char *const texts[] = {"{}", full};

	for (size_t i = 0; i < 2; i++) {
		struct cfg *cfg = read_user(texts[i]);
		zw_autofree char *once = cfg_show_file(cfg);
		struct cfg *again = read_user(once);
		zw_autofree char *twice = cfg_show_file(again);

		assert_string_equal(once, twice);
		assert_int_equal(cfg->n_rules, again->n_rules);
		cfg_free(cfg);
		cfg_free(again);
	}
}

/* So that a new key is not forgotten: nothing of the table is left at its default. */
static void test_file__has_every_key(void **state)
{
	(void)state;
	struct cfg *cfg = read_user(full), *plain = cfg_new(&places, NULL);
	struct cfg_shown_list l, usual;
	size_t n, at = 0, k = 0;
	const struct cfg_key *keys = cfg_keys(&n);

	cfg_show(cfg, &l);
	cfg_show(plain, &usual);
	for (size_t i = 0; i < n; i++) {
		if (!cfg->keys_set[i])
			print_error("%s is missing in this test\n", keys[i].path);
		assert_true(cfg->keys_set[i]);
		assert_true(at < l.n && l.list[at].key == keys[i].path);
		/* Added to, or another value. */
		size_t from = at, was = k;
		for (; at < l.n && l.list[at].key == keys[i].path; at++)
			assert_true(strncmp(l.list[at].origin, "u.json:", 7) == 0);
		for (; k < usual.n && usual.list[k].key == keys[i].path; k++)
			assert_string_equal(usual.list[k].origin, "built in");
		if (at - from == k - was && at > from)
			assert_string_not_equal(l.list[from].value, usual.list[was].value);
	}
	assert_int_equal(at, l.n);
	cfg_shown_fini(&l);
	cfg_shown_fini(&usual);
	cfg_free(cfg);
	cfg_free(plain);
}

static const char *origin_of(const struct cfg_shown_list *l, const char *key, const char *value)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->list[i].key, key) == 0 && strcmp(l->list[i].value, value) == 0)
			return l->list[i].origin;
	return "not there";
}

static void test_origin__file_and_line_or_option(void **state)
{
	(void)state;
	struct cfg *cfg = read_user(full);
	struct cfg_report report = {0};
	struct cfg_shown_list l;
	static const char project[] = "{\n\"network\": {\n\"deniedDomains\": "
				      "[\n\"p.example\"],\n\"limits\": {\"perHost\": 1}}}";

	cfg_read_text(cfg, &places, POL_LAYER_PROJECT, "p.json", project, strlen(project), &report);
	cfg_option(cfg, &places, CFG_OPT_ALLOW, "o.example", &report);
	cfg_option(cfg, &places, CFG_OPT_RW, "/o", &report);
	cfg_option(cfg, &places, CFG_OPT_HOLD, "5", &report);
	assert_int_equal(report.n, 0);
	cfg_show(cfg, &l);
	assert_string_equal(origin_of(&l, "mode", "\"strict\""), "u.json:1");
	assert_string_equal(origin_of(&l, "network.deniedDomains", "\"p.example\""), "p.json:4");
	assert_string_equal(origin_of(&l, "network.limits.perHost", "1"), "p.json:5");
	assert_string_equal(origin_of(&l, "network.allowedDomains", "\"o.example\""), "--allow");
	assert_string_equal(origin_of(&l, "filesystem.allowWrite", "\"/o\""), "--rw");
	assert_string_equal(origin_of(&l, "prompt.holdSite", "\"5s\""), "--hold");
	assert_string_equal(origin_of(&l, "network.allowLocalPorts", "80"), "u.json:7");
	/* A port makes rules of sites; they are no entries of allowedDomains. */
	assert_string_equal(origin_of(&l, "network.allowedDomains", "\"localhost:80\""),
			    "not there");
	cfg_shown_fini(&l);
	cfg_free(cfg);
	cfg_report_clear(&report);
}

static void test_policy__is_json_and_does_not_depend_on_order(void **state)
{
	(void)state;
	static const char one[] = "{\"network\": {\"allowedDomains\": [\"b.example\", "
				  "\"a.example\"], \"deniedDomains\": [\"c.example\"]}}";
	static const char two[] = "{\"network\": {\"deniedDomains\": [\"c.example\"], "
				  "\"allowedDomains\": [\"a.example\", \"b.example\"]}}";
	struct cfg *x = read_user(one), *y = read_user(two), *all = read_user(full);
	zw_autofree char *a = cfg_show_policy(x, NULL, 0), *b = cfg_show_policy(y, NULL, 0);
	zw_autofree char *c = cfg_show_policy(all, NULL, 0);
	const char *const texts[] = {a, b, c};

	for (size_t i = 0; i < 3; i++) {
		struct cfg_json_doc *doc = NULL;
		struct cfg_json_error error;

		assert_int_equal(cfg_json_parse(texts[i], strlen(texts[i]), &doc, &error), 0);
		cfg_json_free(doc);
	}
	assert_string_equal(strstr(a, "\"rules\""), strstr(b, "\"rules\""));
	cfg_free(x);
	cfg_free(y);
	cfg_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__reads_back_as_the_same),
		cmocka_unit_test(test_file__has_every_key),
		cmocka_unit_test(test_origin__file_and_line_or_option),
		cmocka_unit_test(test_policy__is_json_and_does_not_depend_on_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
