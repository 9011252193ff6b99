/* SPDX-License-Identifier: MIT
 * Who wins: every combination of what the layers say, against a few lines that say what should come out. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/config/config.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/home/u"},
	.runtime_dir = (char[]){"/run/u"},
	.config_dir = (char[]){"/home/u/c"},
	.state_dir = (char[]){"/home/u/s"},
	.start_dir = (char[]){"/home/u/p"},
};

/* In the order in which they are read. */
static const struct {
	enum pol_layer layer;
	const char *file;
} layers[] = {
	{POL_LAYER_MANAGED, "managed"}, {POL_LAYER_SYSTEM, "system"}, {POL_LAYER_USER, "user"},
	{POL_LAYER_PROJECT, "project"}, {POL_LAYER_OPTION, "option"},
};
#define N_LAYERS ZW_N_ELEMENTS(layers)

static void read_as(struct cfg *cfg, size_t layer, const char *text, struct cfg_report *report)
{
	cfg_read_text(cfg, &places, layers[layer].layer, layers[layer].file, text, strlen(text),
		      report);
}

/* A setting with an order, from loose to strict. @first: rank of what is built in. */
struct ordered {
	const char *format; /* the file, %s for the value */
	const char *values[3];
	int n, first;
	int (*rank)(const struct cfg *cfg);
};

static int rank_mode(const struct cfg *cfg)
{
	return (int)cfg->mode;
}

static int rank_limit(const struct cfg *cfg)
{
	return cfg->limit_processes == 0 ? 0 : cfg->limit_processes == 500 ? 1 : 2;
}

static int rank_default_limit(const struct cfg *cfg)
{
	return cfg->limit_connections == 0 ? 0 : cfg->limit_connections == 256 ? 1 : 2;
}

static int rank_sni(const struct cfg *cfg)
{
	return cfg->tls_sni == CFG_SNI_MUST_MATCH;
}

static int rank_validate(const struct cfg *cfg)
{
	return cfg->dns_validate;
}

static const struct ordered ordered[] = {
	{"{\"mode\": %s}", {"\"watch\"", "\"guard\"", "\"strict\""}, 3, 1, rank_mode},
	{"{\"resources\": {\"processes\": %s}}", {"0", "500", "20"}, 3, 0, rank_limit},
	{"{\"network\": {\"limits\": {\"connections\": %s}}}",
	 {"0", "256", "9"},
	 3,
	 1,
	 rank_default_limit},
	{"{\"network\": {\"tls\": {\"sni\": %s}}}",
	 {"\"optional\"", "\"must-match\""},
	 2,
	 1,
	 rank_sni},
	{"{\"network\": {\"dns\": {\"validate\": %s}}}", {"false", "true"}, 2, 0, rank_validate},
};

/* What should be in force. says[i] is a rank, or -1 for nothing said. */
static int oracle(const struct ordered *o, const int says[N_LAYERS])
{
	int rank = o->first, floor = says[0];

	for (size_t i = 0; i < N_LAYERS; i++) {
		bool only_narrows = layers[i].layer == POL_LAYER_MANAGED ||
				    layers[i].layer == POL_LAYER_PROJECT;

		if (says[i] < 0 || (only_narrows && says[i] < rank))
			continue;
		rank = says[i] < floor ? floor : says[i];
	}
	return rank;
}

static void try_all(const struct ordered *o)
{
	int n_all = 1, wrong = 0;

	for (size_t i = 0; i < N_LAYERS; i++)
		n_all *= o->n + 1;
	for (int k = 0; k < n_all; k++) {
		struct cfg *cfg = cfg_new(&places, NULL);
		struct cfg_report report = {0};
		int says[N_LAYERS], rest = k;

		for (size_t i = 0; i < N_LAYERS; i++, rest /= o->n + 1)
			says[i] = rest % (o->n + 1) - 1;
		for (size_t i = 0; i < N_LAYERS; i++) {
			char text[128], format[128];

			if (says[i] < 0)
				continue;
			const char *at = strstr(o->format, "%s");
			snprintf(format, sizeof(format), "%.*s", (int)(at - o->format), o->format);
			snprintf(text, sizeof(text), "%s%s%s", format, o->values[says[i]], at + 2);
			read_as(cfg, i, text, &report);
		}
		wrong += o->rank(cfg) != oracle(o, says) || report.n_errors > 0;
		cfg_report_clear(&report);
		cfg_free(cfg);
	}
	assert_int_equal(wrong, 0);
}

static void test_single_values__every_combination(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(ordered); i++)
		try_all(&ordered[i]);
}

/* Of rules no order counts: the layers are read in every order, and the verdict stays what it is. */
static void test_rules__every_combination_in_every_order(void **state)
{
	(void)state;
	static const char *const says[] = {NULL,
					   "{\"network\": {\"allowedDomains\": [\"x.example\"]}}",
					   "{\"network\": {\"deniedDomains\": [\"x.example\"]}}"};
	struct pol_host host;
	int n_all = 1;

	assert_int_equal(pol_host_parse("x.example", 9, &host), 0);
	for (size_t i = 0; i < N_LAYERS; i++)
		n_all *= 3;
	for (int k = 0; k < n_all * (int)N_LAYERS * 2; k++) {
		struct cfg *cfg = cfg_new(&places, NULL);
		struct policy *p = pol_new();
		struct cfg_report report = {0};
		struct pol_decision d;
		bool is_denied = false, is_allowed = false, is_back = k / n_all % 2 != 0;
		size_t turn = (size_t)(k / n_all / 2);

		for (size_t i = 0; i < N_LAYERS; i++) {
			size_t at = ((is_back ? N_LAYERS - 1 - i : i) + turn) % N_LAYERS;
			int rest = k % n_all;

			for (size_t skip = 0; skip < at; skip++)
				rest /= 3;
			if (says[rest % 3] == NULL)
				continue;
			read_as(cfg, at, says[rest % 3], &report);
			is_denied |= rest % 3 == 2;
			is_allowed |= rest % 3 == 1 && layers[at].layer != POL_LAYER_MANAGED &&
				      layers[at].layer != POL_LAYER_PROJECT;
		}
		cfg_fill(cfg, p);
		pol_decide_site(p, &host, 443, "", &d);
		assert_int_equal(d.verdict, is_denied	 ? POL_DENY
					    : is_allowed ? POL_ALLOW
							 : POL_ASK);
		pol_free(p);
		cfg_report_clear(&report);
		cfg_free(cfg);
	}
}

static void test_held_value__of_no_order_stays(void **state)
{
	(void)state;
	struct cfg *cfg = cfg_new(&places, NULL);
	struct cfg_report report = {0};

	read_as(cfg, 0,
		"{\"network\": {\"proxyEnv\": false, \"dns\": {\"upstreams\": "
		"[\"tls://1.2.3.4#a.example\"]}}, \"prompt\": {\"holdSite\": \"30s\"}}",
		&report);
	assert_int_equal(report.n, 0);
	read_as(cfg, 2,
		"{\"network\": {\"proxyEnv\": true, \"dns\": {\"upstreams\": [\"system\"]}}}",
		&report);
	assert_false(cfg->proxy_env);
	assert_int_equal(cfg->dns_upstreams.n, 1);
	assert_string_equal(cfg->dns_upstreams.list[0].text, "tls://1.2.3.4#a.example");
	assert_int_equal(report.n_errors, 0);
	assert_int_equal(report.n, 2);
	zw_autofree char *text = cfg_error_format(&report.list[0]);
	assert_string_equal(text,
			    "`network.proxyEnv` stays as managed:1 holds it, in spite of: user:1");
	cfg_option(cfg, &places, CFG_OPT_HOLD, "0", &report);
	assert_int_equal(cfg->hold_site_ms, 30000);
	assert_int_equal(cfg->hold_socket_ms, 0);
	/* What is held is checked all the same. */
	read_as(cfg, 2, "{\"network\": {\"dns\": {\"upstreams\": [\"nonsense\"]}}}", &report);
	assert_int_equal(report.n_errors, 1);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void test_option_mode__not_below_the_managed(void **state)
{
	(void)state;
	struct cfg *cfg = cfg_new(&places, NULL);
	struct cfg_report report = {0};
	const char *origin;

	assert_int_equal(cfg_mode_floor(cfg, &origin), POL_MODE_WATCH);
	assert_null(origin);
	read_as(cfg, 0, "{\n\"mode\": \"guard\"}", &report);
	cfg_option(cfg, &places, CFG_OPT_MODE, "watch", &report);
	assert_int_equal(cfg->mode, POL_MODE_GUARD);
	zw_autofree char *text = cfg_error_format(&report.list[0]);
	assert_string_equal(text, "`mode` stays as managed:2 holds it, in spite of: --mode");
	cfg_option(cfg, &places, CFG_OPT_MODE, "strict", &report);
	assert_int_equal(cfg->mode, POL_MODE_STRICT);
	assert_int_equal(cfg_mode_floor(cfg, &origin), POL_MODE_GUARD);
	assert_string_equal(origin, "managed:2");
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void test_managed__cannot_widen(void **state)
{
	(void)state;
	static const char *const widening[] = {
		"{\"network\": {\"allowedDomains\": [\"a.example\"]}}",
		"{\"network\": {\"allowUnixSockets\": [\"/run/x.sock\"]}}",
		"{\"network\": {\"allowLocalPorts\": [5432]}}",
		"{\"network\": {\"allowPrivate\": [\"10.0.0.0/8\"]}}",
		"{\"filesystem\": {\"allowWrite\": [\"/srv\"]}}",
		"{\"filesystem\": {\"allowRead\": [\"~/.ssh\"]}}",
		"{\"agents\": {\"x\": {\"command\": \"y\"}}}",
		"{\"wish\": {}}",
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(widening); i++) {
		struct cfg *cfg = cfg_new(&places, NULL);
		struct cfg_report report = {0};

		read_as(cfg, 0, widening[i], &report);
		assert_int_equal(report.n_errors, 1);
		assert_int_equal(cfg->n_rules + cfg->n_sockets + cfg->n_agents, 0);
		assert_int_equal(cfg->allow_write.n, 1);
		cfg_report_clear(&report);
		cfg_free(cfg);
	}
}

static void test_managed_paths__stay_shut(void **state)
{
	(void)state;
	struct cfg *cfg = cfg_new(&places, NULL);
	struct cfg_report report = {0};

	read_as(cfg, 0,
		"{\"filesystem\": {\"denyRead\": [\"/srv/secret\"], \"denyWrite\": "
		"[\"/srv/data\"]}}",
		&report);
	read_as(cfg, 2,
		"{\"filesystem\": {\"allowRead\": [\"/srv/secret/a\", \"/srv/data\", "
		"\"/srv/secrets\"],"
		"\"allowWrite\": [\".\", \"/srv/data/x\", \"/srv/secret\", \"/srv\"]}}",
		&report);
	cfg_hold_paths(cfg, &places, &report);
	assert_int_equal(report.n_errors, 0);
	assert_int_equal(report.n, 3);
	assert_int_equal(cfg->allow_read.n, 2);
	assert_int_equal(cfg->allow_write.n, 2);
	assert_string_equal(cfg->allow_write.list[1].text, "/srv");
	assert_non_null(cfg_held_path(cfg, "/srv/secret/deep", false));
	assert_null(cfg_held_path(cfg, "/srv/data", false));
	assert_non_null(cfg_held_path(cfg, "/srv/data", true));
	cfg_free(cfg);
	cfg_report_clear(&report);

	cfg = cfg_new(&places, NULL);
	read_as(cfg, 0, "{\"filesystem\": {\"denyWrite\": [\"~\"]}}", &report);
	cfg_hold_paths(cfg, &places, &report);
	assert_int_equal(report.n_errors, 1);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void test_denied_socket__wins(void **state)
{
	(void)state;
	struct cfg *cfg = cfg_new(&places, NULL);
	struct cfg_report report = {0};
	struct policy *p = pol_new();
	struct pol_decision d;
	const struct pol_socket s = {.path = "/run/x.sock", .path_len = 11, .program = ""};

	read_as(cfg, 2, "{\"network\": {\"allowUnixSockets\": [\"/run/x.sock\"]}}", &report);
	read_as(cfg, 3, "{\"network\": {\"denyUnixSockets\": [\"/var/run/x.sock\"]}}", &report);
	assert_int_equal(report.n, 0);
	cfg_fill(cfg, p);
	pol_decide_socket(p, &s, &d, NULL);
	assert_int_equal(d.verdict, POL_DENY);
	assert_string_equal(d.origin, "project:1");
	pol_free(p);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

/* -- the folder --------------------------------------------------------------------------------- */

struct folder {
	char root[64];
	struct cfg_places places;
	struct cfg_source source;
	char *dir, *none;
};

static void put(const struct folder *f, const char *name, const char *text, mode_t mode)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", f->dir, name);
	zw_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(zw_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static int setup(void **state)
{
	struct folder *f = zw_xnew(struct folder);

	zw_strlcpy(f->root, "/tmp/zwpolXXXXXX", sizeof(f->root));
	assert_non_null(mkdtemp(f->root));
	f->dir = zw_xasprintf("%s/etc/policy.d", f->root);
	f->none = zw_xasprintf("%s/none.json", f->root);
	assert_int_equal(zw_mkdirs(f->dir, 0755), 0);
	f->places = places;
	f->places.start_dir = f->root;
	f->places.config_dir = f->root;
	f->source =
		(struct cfg_source){.policy_dir = f->dir, .admin = getuid(), .no_project = true};
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
	struct folder *f = *state;

	nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f->dir);
	free(f->none);
	free(f);
	return 0;
}

/* Loads; @error NULL: it is right and the mode is @mode; else one error has this text. */
static void loads(const struct folder *f, enum pol_mode mode, const char *error)
{
	struct cfg_report report = {0};
	struct cfg *cfg = NULL;
	int r = cfg_load(&f->places, &f->source, &cfg, &report);

	if (error == NULL) {
		assert_int_equal(r, 0);
		assert_int_equal(cfg->mode, mode);
	} else {
		assert_int_equal(r, ZW_E_CONFIG);
		zw_autofree char *text = cfg_error_format(&report.list[0]);
		if (strstr(text, error) == NULL)
			print_error("%s\n", text);
		assert_non_null(strstr(text, error));
	}
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void test_folder__read_in_order_and_only_json(void **state)
{
	struct folder *f = *state;

	loads(f, POL_MODE_GUARD, NULL);
	put(f, "20-late.json", "{\"mode\": \"watch\"}", 0644);
	put(f, "10-early.json", "{\"mode\": \"strict\"}", 0644);
	put(f, "README", "not settings", 0666);
	put(f, ".hidden.json", "not settings", 0666);
	loads(f, POL_MODE_STRICT, NULL);
	put(f, "30-bad.json", "{\n\"mod\": 1}", 0644);
	loads(f, POL_MODE_STRICT, "Did you mean `mode`? ");
	loads(f, POL_MODE_STRICT, "policy.d/30-bad.json:2");
}

static void test_folder__of_the_administrator_alone(void **state)
{
	struct folder *f = *state;
	zw_autofree char *link = zw_xasprintf("%s/a.json", f->dir);
	zw_autofree char *above = zw_xasprintf("%s/etc", f->root);

	put(f, "x.json", "{\"mode\": \"strict\"}", 0664);
	loads(f, 0, "others than root can write this, so nothing is taken from it: ");
	put(f, "x.json", "{\"mode\": \"strict\"}", 0646);
	loads(f, 0, "others than root can write this");
	put(f, "x.json", "{\"mode\": \"strict\"}", 0644);
	loads(f, POL_MODE_STRICT, NULL);
	assert_int_equal(chmod(f->dir, 0775), 0);
	loads(f, 0, "the managed policy cannot be used (others than root can write this): ");
	assert_int_equal(chmod(f->dir, 0755), 0);
	assert_int_equal(chmod(above, 0777), 0);
	loads(f, 0, "the managed policy cannot be used (others than root can write this): ");
	assert_int_equal(chmod(above, 0755), 0);
	assert_int_equal(symlink("x.json", link), 0);
	loads(f, 0, "a link, not the file itself, so nothing is taken from it: ");
	assert_int_equal(unlink(link), 0);
	f->source.admin = getuid() + 1;
	loads(f, 0, "belongs to another user than root");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_values__every_combination),
		cmocka_unit_test(test_rules__every_combination_in_every_order),
		cmocka_unit_test(test_held_value__of_no_order_stays),
		cmocka_unit_test(test_option_mode__not_below_the_managed),
		cmocka_unit_test(test_managed__cannot_widen),
		cmocka_unit_test(test_managed_paths__stay_shut),
		cmocka_unit_test(test_denied_socket__wins),
		cmocka_unit_test_setup_teardown(test_folder__read_in_order_and_only_json, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_folder__of_the_administrator_alone, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
