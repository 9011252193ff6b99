/* SPDX-License-Identifier: MIT
 * What a settings file may say, and every sentence that answers one that may not. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"
#include "src/config/agents.h"
#include "src/config/catalogue.h"
#include "src/config/config.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/home/u"},
	.runtime_dir = (char[]){"/run/user/1000"},
	.config_dir = (char[]){"/home/u/.config/zwatch"},
	.state_dir = (char[]){"/home/u/.local/state/zwatch"},
	.start_dir = (char[]){"/home/u/p"},
};

static struct cfg *read_layer(enum pol_layer layer, const char *text, struct cfg_report *report)
{
	struct cfg *cfg = cfg_new(&places, NULL);

	cfg_read_text(cfg, &places, layer, "config.json", text, strlen(text), report);
	return cfg;
}

/* All findings, one a line: "error: …" or "note: …". */
static char *findings(const struct cfg_report *report)
{
	char *all = zw_xstrdup("");

	for (size_t i = 0; i < report->n; i++) {
		zw_autofree char *one = cfg_error_format(&report->list[i]);
		zw_autofree char *before = all;

		all = zw_xasprintf("%s%s: %s\n", before,
				   report->list[i].is_error ? "error" : "note", one);
	}
	return all;
}

static void says(enum pol_layer layer, const char *text, const char *expected)
{
	struct cfg_report report = {0};
	struct cfg *cfg = read_layer(layer, text, &report);
	zw_autofree char *all = findings(&report);

	if (strcmp(all, expected) != 0)
		print_error("%s\n", text);
	assert_string_equal(all, expected);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void user(const char *text, const char *expected)
{
	zw_autofree char *line = zw_xasprintf("%s%s", expected, expected[0] != '\0' ? "\n" : "");

	says(POL_LAYER_USER, text, line);
}

static void test_Z133_misspelt_keys__line_and_nearest_name(void **state)
{
	(void)state;
	user("{\n\n\n \"prompt\": {\n  \"holdSocket\": \"1m\",\n\n  \"holdSites\": \"1m\"\n }\n}",
	     "error: `holdSites` is not a setting. Did you mean `holdSite`? config.json:7");
	user("{\"mod\": \"guard\"}",
	     "error: `mod` is not a setting. Did you mean `mode`? config.json:1");
	user("{\"netwrok\": {}}",
	     "error: `netwrok` is not a setting. Did you mean `network`? config.json:1");
	user("{\n\"network\": {\n\"allowedDomain\": []}}",
	     "error: `allowedDomain` is not a setting. Did you mean `allowedDomains`? "
	     "config.json:3");
	user("{\"network\": {\"dns\": {\n\"upstream\": []}}}",
	     "error: `upstream` is not a setting. Did you mean `upstreams`? config.json:2");
	user("{\"Mode\": \"guard\"}",
	     "error: `Mode` is not a setting. Did you mean `mode`? config.json:1");
	/* Right, but in the wrong section. */
	user("{\"scrollback\": 1}",
	     "error: `scrollback` is not a setting. Did you mean `ui.scrollback`? config.json:1");
	user("{\"xylophone\": {\"a\": 1}}", "error: `xylophone` is not a setting. config.json:1");
	user("{\"\\u001b[31m\": 1}", "error: `\\x1b[31m` is not a setting. config.json:1");
	user("{\"agents\": {\"x\": {\"comand\": \"x\"}}}",
	     "error: `comand` is not a setting. Did you mean `command`? config.json:1");
}

static void test_Z133_duplicate_keys_and_old_names(void **state)
{
	(void)state;
	user("{\"mode\": \"guard\",\n\"mode\": \"watch\"}",
	     "error: cannot read the settings: `mode` stands here twice (before in line 1). "
	     "config.json:2");
	user("{\"network\": {\"deniedDomains\": [\"a.example\"],\n\n\"deniedDomains\": []}}",
	     "error: cannot read the settings: `deniedDomains` stands here twice (before in line "
	     "1). "
	     "config.json:3");
	user("{\"network\": {\"allow\": []}}", "error: `allow` has no effect where it stands; it "
					       "is written `network.allowedDomains`. "
					       "config.json:1");
	user("{\"allowedDomains\": []}",
	     "error: `allowedDomains` has no effect where it stands; it is written "
	     "`network.allowedDomains`. config.json:1");
	user("{\"sandbox\": {}}",
	     "error: `sandbox` is not possible: write what is in it at the top level. "
	     "config.json:1");
}

static void test_Z133_wrong_types(void **state)
{
	(void)state;
	user("[]", "error: settings are a section { }, not a list [ ]. config.json:1");
	user("{\"network\": true}",
	     "error: `network` must be a section { }, not true or false. config.json:1");
	user("{\"mode\": 1}",
	     "error: `mode` must be a word in quotes, not a number. config.json:1");
	user("{\"ui\": {\"mouse\": \"yes\"}}", "error: `mouse` must be true or false, without "
					       "quotes, not text in quotes. config.json:1");
	user("{\"ui\": {\"scrollback\": \"100\"}}", "error: `scrollback` must be a number without "
						    "quotes, not text in quotes. config.json:1");
	user("{\"prompt\": {\"holdSite\": 120}}",
	     "error: `holdSite` must be a time such as \"500ms\", \"5s\", \"2m\", \"1h\" or \"0\", "
	     "not a "
	     "number. config.json:1");
	user("{\"network\": {\"allowedDomains\": \"a.example\"}}",
	     "error: `allowedDomains` must be a list of sites [\"host\", \"*.host\", "
	     "\"host:port\"], not "
	     "text in quotes. config.json:1");
	user("{\"network\": {\"allowedDomains\": [\n1]}}",
	     "error: an entry of `allowedDomains` must be text in quotes, not a number. "
	     "config.json:2");
	user("{\"network\": {\"deniedDomains\": null}}",
	     "error: `deniedDomains` must be a list of sites [\"host\", \"*.host\", "
	     "\"host:port\"], not "
	     "null. config.json:1");
	user("{\"agents\": {\"x\": 1}}",
	     "error: agent `x` must be a section { }, not a number. config.json:1");
	user("{\"agents\": {\"x\": {\"command\": 1}}}",
	     "error: `command` must be text in quotes, not a number. config.json:1");
}

static void test_values__out_of_range_and_unknown_words(void **state)
{
	(void)state;
	user("{\"mode\": \"gaurd\"}",
	     "error: `mode` cannot be `gaurd`, only watch, guard or strict. Did you "
	     "mean `guard`? config.json:1");
	user("{\"mode\": \"offline\"}",
	     "error: `mode` cannot be `offline`, only watch, guard or strict. config.json:1");
	user("{\"network\": {\"dns\": {\"doh\": \"allow\"}}}",
	     "error: `doh` cannot be `allow`, only block or filter. config.json:1");
	user("{\"network\": {\"limits\": {\n\"connections\": 70000}}}",
	     "error: `connections` must be a whole number from 0 to 65535, not 70000. "
	     "config.json:2");
	user("{\"network\": {\"limits\": {\"connections\": -1}}}",
	     "error: `connections` must be a whole number from 0 to 65535, not -1. config.json:1");
	user("{\"network\": {\"limits\": {\"perHost\": 1.5}}}",
	     "error: `perHost` must be a whole number from 0 to 65535, not 1.5. config.json:1");
	user("{\"prompt\": {\"holdSite\": \"soon\"}}",
	     "error: `holdSite` must be a time such as \"500ms\", \"5s\", \"2m\", \"1h\" or \"0\", "
	     "not "
	     "`soon`. config.json:1");
	user("{\"prompt\": {\"holdSite\": \"2d\"}}",
	     "error: `holdSite` is too large: `2d`. config.json:1");
	user("{\"prompt\": {\"arm\": \"1ms\"}}", "error: `arm` is too small: `1ms`. config.json:1");
	user("{\"prompt\": {\"arm\": \"never\"}}", "error: `arm` must be a time such as \"500ms\", "
						   "or \"second-key\", not `never`. config.json:1");
	user("{\"prompt\": {\"flood\": \"many\"}}",
	     "error: `flood` must be a number in a time, such as \"8 in 10s\", not `many`. "
	     "config.json:1");
	user("{\"history\": {\"maxSize\": \"big\"}}",
	     "error: `maxSize` must be a size such as \"500M\", \"2G\" or \"0\", not `big`. "
	     "config.json:1");
	user("{\"network\": {\"upstreamProxy\": \"http://u:p@proxy:3128\"}}",
	     "error: `upstreamProxy` must not hold a password: this file is shown and copied. "
	     "config.json:1");
	user("{\"network\": {\"upstreamProxy\": \"proxy:3128\"}}",
	     "error: `upstreamProxy` must be \"http://host:port\", \"socks5://host:port\", \"env\" "
	     "or \"\", "
	     "not `proxy:3128`. config.json:1");
	user("{\"network\": {\"allowLocalPorts\": [0]}}",
	     "error: an entry of `allowLocalPorts` must be a port number from 1 to 65535, not 0. "
	     "config.json:1");
	user("{\"network\": {\"publishPorts\": [\"8080\"]}}",
	     "error: an entry of `publishPorts` must be a port number from 1 to 65535, not 8080. "
	     "config.json:1");
	user("{\"keys\": {\"prefix\": []}}",
	     "error: `prefix` is empty: no question could be answered. config.json:1");
	user("{\"keys\": {\"prefix\": [\"C-m\"]}}",
	     "error: `C-m` is no key for `prefix`: C-a to C-z, C-], C-\\\\, M-x or F1 to F12. "
	     "config.json:1");
	user("{\"network\": {\"dns\": {\"upstreams\": []}}}",
	     "error: `upstreams` is empty: no name could be looked up. \"system\" takes the "
	     "machine's own. "
	     "config.json:1");
	user("{\"network\": {\"dns\": {\"upstreams\": [\n\"8.8.8.8\"]}}}",
	     "error: `8.8.8.8` is no resolver: a resolver is tls://ADDRESS#NAME, "
	     "https://HOST/PATH;addr=ADDRESS "
	     "or "
	     "system. config.json:2");
	user("{\"network\": {\"dns\": {\"zones\": {\"10.0.0.1\": [\"system\"]}}}}",
	     "error: `10.0.0.1` in `zones` is no domain name. config.json:1");
	user("{\"network\": {\"dns\": {\"zones\": {\"a.example\":\n[\"tls://x\"]}}}}",
	     "error: a resolver of zone `a.example` is none: write tls://ADDRESS[:PORT]#NAME, such "
	     "as tls://9.9.9.9#dns.quad9.net. config.json:2");
	user("{\"network\": {\"dns\": {\"zones\": {\"a.example\": []}}}}",
	     "error: zone `a.example` must be a list of resolvers. config.json:1");
	user("{\"filesystem\": {\"denyRead\": [\"~/*.key\"]}}",
	     "error: `~/*.key` is a pattern; files and folders are listed by their path. "
	     "config.json:1");
	user("{\"filesystem\": {\"denyRead\": [\"~root/x\"]}}",
	     "error: `~root/x` is not a path that can be used here. config.json:1");
	user("{\"agents\": {\"a b\": {}}}", "error: `a b` cannot be the name of an agent: letters, "
					    "digits, - _ . only. config.json:1");
	user("{\"agents\": {\"x\": {\"preset\": \"clade\"}}}",
	     "error: there is no preset `clade`. Did you mean `claude`? config.json:1");
	user("{\"agents\": {\"x\": {\"importSettings\": \"maybe\"}}}",
	     "error: `importSettings` cannot be `maybe`, only ask or off. config.json:1");
	user("{\"agents\": {\"x\": {\"importSettings\": \"on\"}}}",
	     "error: `importSettings` cannot be `on`: the agent could write what is then in force. "
	     "Take it over "
	     "once, after a look: zwatch import claude --write config.json:1");
}

static void test_sites__bad_patterns_are_errors(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"https://a.example", "a.example/path", "a b", "*",  "a.*.example",
		"a.example:0",	     "a.example:x",    "",    "..", "1.2.3.999"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		zw_autofree char *text =
			zw_xasprintf("{\"network\": {\"allowedDomains\": [\n\"%s\"]}}", bad[i]);
		zw_autofree char *start = zw_xasprintf("`%s` is not a site: ", bad[i]);
		struct cfg_report report = {0};
		struct cfg *cfg = read_layer(POL_LAYER_USER, text, &report);

		assert_int_equal(report.n_errors, 1);
		assert_int_equal(report.list[0].line, 2);
		assert_true(zw_starts_with(report.list[0].text, start));
		assert_true(strlen(report.list[0].text) > strlen(start) + 5);
		assert_int_equal(cfg->n_rules, 0);
		cfg_report_clear(&report);
		cfg_free(cfg);
	}
}

static void test_sockets__only_explicit_paths(void **state)
{
	(void)state;
	user("{\"network\": {\"allowAllUnixSockets\": true}}",
	     "error: `allowAllUnixSockets` is not possible: list the sockets you need in "
	     "`network.allowUnixSockets`. config.json:1");
	user("{\"network\": {\"allowAllUnixSockets\": false}}", "");
	user("{\"network\": {\"allowUnixSockets\": true}}",
	     "error: `allowUnixSockets` must be a list of the sockets you need, each by its path "
	     "[\"/run/x.sock\"], not true or false. config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"/run/*.sock\"]}}",
	     "error: `/run/*.sock` cannot be allowed as a socket: it is a pattern; list each "
	     "socket by its own "
	     "path. config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"/run/\"]}}",
	     "error: `/run/` cannot be allowed as a socket: it is a folder; list each socket by "
	     "its own path. "
	     "config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"/usr\"]}}",
	     "error: `/usr` cannot be allowed as a socket: it is a folder; list each socket by its "
	     "own path. "
	     "config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"docker.sock\"]}}",
	     "error: `docker.sock` cannot be allowed as a socket: write its path, such as "
	     "/run/x.sock, "
	     "~/x.sock, or @name for an abstract one. config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"\"]}}",
	     "error: `` cannot be allowed as a socket: it is empty. config.json:1");
	user("{\"network\": {\"allowUnixSockets\": [\"$X/a.sock\"]}}",
	     "error: `$X/a.sock` cannot be allowed as a socket: not a path that can be used here. "
	     "config.json:1");
}

static void test_other_programs_files__keys_become_notes(void **state)
{
	(void)state;
	user("{\"network\": {\"allowedDomains\": [], \"httpProxyPort\": 1},\n\"ignoreViolations\": "
	     "{}}",
	     "note: `httpProxyPort` has no effect here: zwatch brings its own proxy. "
	     "config.json:1\n"
	     "note: `ignoreViolations` has no effect here: not needed. config.json:2");
}

static void test_project_file__narrows_only(void **state)
{
	(void)state;
	struct cfg_report report = {0};
	struct cfg *cfg = read_layer(
		POL_LAYER_PROJECT,
		"{\"mode\": \"watch\",\n"
		"\"network\": {\"allowedDomains\": [\"evil.example\"],\n"
		"  \"deniedDomains\": [\"*.facebook.com\"],\n"
		"  \"allowUnixSockets\": [\"/run/docker.sock\"]},\n"
		"\"filesystem\": {\"denyRead\": [\"./secrets/\"], \"allowWrite\": [\"~\"]},\n"
		"\"wish\": {\"allowWrite\": [\"~/.npm\"]}}",
		&report);
	zw_autofree char *all = findings(&report);

	assert_string_equal(
		all,
		"note: `mode` has no effect in a project file: a project can only narrow. "
		"config.json:1\n"
		"note: `network.allowedDomains` has no effect in a project file: a project can "
		"only narrow. "
		"config.json:2\n"
		"note: `network.allowUnixSockets` has no effect in a project file: a project can "
		"only narrow. "
		"config.json:4\n"
		"note: `filesystem.allowWrite` has no effect in a project file: a project can only "
		"narrow. "
		"config.json:5\n");
	assert_int_equal(report.n_errors, 0);
	assert_int_equal(cfg->mode, POL_MODE_GUARD);
	assert_int_equal(cfg->n_rules, 1);
	assert_int_equal(cfg->rules[0].action, POL_ACTION_DENY);
	assert_int_equal(cfg->rules[0].layer, POL_LAYER_PROJECT);
	assert_string_equal(cfg->rules[0].origin, "config.json:3");
	assert_int_equal(cfg->n_sockets, 0);
	assert_int_equal(cfg->deny_read.n, 1);
	assert_string_equal(cfg->deny_read.list[0].text, "/home/u/p/secrets");
	assert_int_equal(cfg->allow_write.n, 1);
	assert_string_equal(cfg->allow_write.list[0].text, "/home/u/p");
	cfg_report_clear(&report);
	cfg_free(cfg);
	user("{\"wish\": {}}", "error: `wish` is not a setting. config.json:1");
}

static void test_rules__origin_reason_and_ascii(void **state)
{
	(void)state;
	struct cfg_report report = {0};
	struct cfg *cfg = read_layer(
		POL_LAYER_USER,
		"{\"network\": {\n"
		"\"deniedDomainReasons\": {\"b\\u00fccher.example\": \"use the mirror\"},\n"
		"\"deniedDomains\": [\"b\\u00fccher.example\"],\n"
		"\"allowedDomains\": [\"*.example.com:8443\"],\n"
		"\"allowLocalPorts\": [5432, 80, 5432],\n"
		"\"allowPrivate\": [\"*.corp.example\", \"10.1.0.0/16\"]}}",
		&report);
	struct pol_decision d;
	struct pol_host host;

	assert_int_equal(report.n, 0);
	assert_int_equal(cfg->n_rules, 2 + 3 * 3);
	assert_string_equal(cfg->rules[0].pattern, "xn--bcher-kva.example");
	assert_string_equal(cfg->rules[0].reason, "use the mirror");
	assert_string_equal(cfg->rules[0].origin, "config.json:3");
	assert_int_equal(cfg->rules[1].id, CFG_RULE_FIRST + 1);
	assert_int_equal(cfg->local_ports.n, 2);
	assert_int_equal(cfg->local_ports.list[0], 80);
	assert_int_equal(cfg->local_ports.list[1], 5432);

	struct policy *policy = pol_new();
	cfg_fill(cfg, policy);
	assert_int_equal(pol_host_parse("xn--bcher-kva.example", 21, &host), 0);
	pol_decide_site(policy, &host, 443, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	assert_string_equal(d.reason, "use the mirror");
	assert_int_equal(pol_host_parse("127.0.0.1", 9, &host), 0);
	pol_decide_site(policy, &host, 5432, "", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	pol_decide_site(policy, &host, 5433, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	assert_int_equal(pol_host_parse("localhost", 9, &host), 0);
	pol_decide_site(policy, &host, 5432, "", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	pol_free(policy);
	cfg_report_clear(&report);
	cfg_free(cfg);
	user("{\"network\": {\"deniedDomains\": [\"a.example\"],\n\"deniedDomainReasons\": "
	     "{\"b.example\": "
	     "\"x\"}}}",
	     "error: `b.example` in `deniedDomainReasons` is not an entry of `deniedDomains`. "
	     "config.json:2");
	user("{\"network\": {\"allowPrivate\": [\"a b\"]}}",
	     "error: `a b` in `allowPrivate` is no name or address range: it holds a blank or a "
	     "control "
	     "character. config.json:1");
}

static void test_agent_sites__allowed_unless_denied(void **state)
{
	(void)state;
	struct cfg_report report = {0};
	struct cfg *cfg = read_layer(
		POL_LAYER_PROJECT, "{\"network\": {\"deniedDomains\": [\"claude.ai\"]}}", &report);
	struct cfg_agent *agent = NULL;
	struct policy *policy = pol_new();
	struct pol_decision d;
	struct pol_host host;

	assert_int_equal(cfg_agent_find("claude", &places, &agent), 0);
	cfg_agent_sites_add(cfg, agent);
	cfg_fill(cfg, policy);
	assert_int_equal(pol_host_parse("api.anthropic.com", 17, &host), 0);
	pol_decide_site(policy, &host, 443, "", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	assert_string_equal(d.origin, "built in, claude");
	pol_decide_site(policy, &host, 22, "", &d);
	assert_int_equal(d.verdict, POL_ASK);
	assert_int_equal(pol_host_parse("claude.ai", 9, &host), 0);
	pol_decide_site(policy, &host, 443, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	pol_free(policy);
	cfg_agent_free(agent);
	cfg_free(cfg);
}

static enum pol_verdict docker_verdict(const struct cfg *cfg)
{
	struct policy *policy = pol_new();
	struct cfg_catalogue *cat = NULL;
	struct pol_decision d;
	const struct pol_socket s = {.path = "/run/docker.sock", .path_len = 16, .program = ""};

	assert_int_equal(cfg_catalogue_load(&places, NULL, &cat), 0);
	assert_int_equal(cfg_catalogue_fill(cat, policy), 0);
	cfg_fill(cfg, policy);
	pol_decide_socket(policy, &s, &d, NULL);
	cfg_catalogue_free(cat);
	pol_free(policy);
	return d.verdict;
}

static void test_dangerous_socket__listed_still_asks_until_agreed(void **state)
{
	(void)state;
	struct cfg_report report = {0};
	struct cfg *cfg = cfg_new(&places, NULL);

	assert_int_equal(docker_verdict(cfg), POL_ASK);
	assert_false(cfg_socket_open(cfg, "/run/docker.sock"));
	assert_int_equal(docker_verdict(cfg), POL_ASK);
	cfg_option(cfg, &places, CFG_OPT_ALLOW_UNIX, "/var/run/docker.sock", &report);
	assert_int_equal(docker_verdict(cfg), POL_ASK);
	assert_true(cfg_socket_open(cfg, cfg->sockets[0].path));
	assert_int_equal(docker_verdict(cfg), POL_ALLOW);
	cfg_free(cfg);
}

static void test_layers__lists_add_up_and_the_last_value_wins(void **state)
{
	(void)state;
	static const char system_text[] =
		"{\"mode\": \"strict\", \"network\": {\"allowedDomains\": [\"a.example\"],"
		"\"dns\": {\"upstreams\": [\"system\"]}},"
		"\"filesystem\": {\"allowWrite\": [\"/srv/x\"]},"
		"\"agents\": {\"me\": {\"command\": \"one\"}}}";
	static const char user_text[] =
		"{\"mode\": \"watch\", \"network\": {\"allowedDomains\": [\"b.example\"]},"
		"\"filesystem\": {\"allowWrite\": [\".\"]},"
		"\"agents\": {\"me\": {\"command\": \"two\", \"preset\": \"claude\"}}}";
	struct cfg_report report = {0};
	struct cfg *cfg = cfg_new(&places, NULL);

	cfg_read_text(cfg, &places, POL_LAYER_SYSTEM, "sys", system_text, strlen(system_text),
		      &report);
	cfg_read_text(cfg, &places, POL_LAYER_USER, "usr", user_text, strlen(user_text), &report);
	cfg_option(cfg, &places, CFG_OPT_RW, "../out", &report);
	cfg_option(cfg, &places, CFG_OPT_ALLOW, "c.example:22", &report);
	cfg_option(cfg, &places, CFG_OPT_HOLD, "30", &report);
	assert_int_equal(report.n, 0);
	assert_int_equal(cfg->mode, POL_MODE_WATCH);
	assert_int_equal(cfg->n_rules, 3);
	assert_string_equal(cfg->rules[2].origin, "--allow");
	assert_int_equal(cfg->rules[2].layer, POL_LAYER_OPTION);
	assert_int_equal(cfg->allow_write.n, 3);
	assert_string_equal(cfg->allow_write.list[0].text, "/srv/x");
	assert_string_equal(cfg->allow_write.list[1].text, "/home/u/p");
	assert_string_equal(cfg->allow_write.list[2].text, "/home/u/out");
	assert_int_equal(cfg->dns_upstreams.n, 1);
	assert_int_equal(cfg->hold_site_ms, 30000);
	assert_int_equal(cfg->hold_socket_ms, 30000);
	assert_int_equal(cfg->n_agents, 1);
	assert_string_equal(cfg_agent_entry(cfg, "me")->command, "two");
	assert_null(cfg_agent_entry(cfg, "you"));
	cfg_free(cfg);
}

static void option_says(enum cfg_option option, const char *value, const char *expected)
{
	struct cfg_report report = {0};
	struct cfg *cfg = cfg_new(&places, NULL);

	cfg_option(cfg, &places, option, value, &report);
	zw_autofree char *all = findings(&report);
	assert_string_equal(all, expected);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

static void test_options__bad_values(void **state)
{
	(void)state;
	option_says(CFG_OPT_MODE, "strickt",
		    "error: there is no mode `strickt`, only watch, guard or strict. Did you mean "
		    "`strict`? --mode\n");
	option_says(CFG_OPT_HOLD, "long",
		    "error: `long` is no time to wait: seconds, or such as 2m; 0 = until answered. "
		    "--hold\n");
	option_says(CFG_OPT_ALLOW_UNIX, "/run/*",
		    "error: `/run/*` cannot be allowed as a socket: it is a pattern; list each "
		    "socket by its "
		    "own path. --allow-unix\n");
	option_says(CFG_OPT_RO, "~x", "error: `~x` is not a path that can be used here. --ro\n");
	option_says(CFG_OPT_HOLD, "2m", "");
	option_says(CFG_OPT_DENY, "*.example", "");
	option_says(CFG_OPT_HIDE, "a", "");
}

static void test_report__keeps_a_bounded_number(void **state)
{
	(void)state;
	struct cfg_report report = {0};

	for (int i = 0; i < 100; i++)
		cfg_report_error(&report, "f", 1, "x\x1b%d", i);
	assert_int_equal(report.n, CFG_REPORT_MAX);
	assert_int_equal(report.n_errors, 100);
	assert_string_equal(report.list[0].text, "x\\x1b0");
	cfg_report_clear(&report);
	assert_int_equal(report.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_Z133_misspelt_keys__line_and_nearest_name),
		cmocka_unit_test(test_Z133_duplicate_keys_and_old_names),
		cmocka_unit_test(test_Z133_wrong_types),
		cmocka_unit_test(test_values__out_of_range_and_unknown_words),
		cmocka_unit_test(test_sites__bad_patterns_are_errors),
		cmocka_unit_test(test_sockets__only_explicit_paths),
		cmocka_unit_test(test_other_programs_files__keys_become_notes),
		cmocka_unit_test(test_project_file__narrows_only),
		cmocka_unit_test(test_rules__origin_reason_and_ascii),
		cmocka_unit_test(test_agent_sites__allowed_unless_denied),
		cmocka_unit_test(test_dangerous_socket__listed_still_asks_until_agreed),
		cmocka_unit_test(test_layers__lists_add_up_and_the_last_value_wins),
		cmocka_unit_test(test_options__bad_values),
		cmocka_unit_test(test_report__keeps_a_bounded_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
