/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/catalogue.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/home/u"},
	.runtime_dir = (char[]){"/run/user/1000"},
};

static struct cfg_catalogue *load(const struct cfg_places *p, char *const *env)
{
	struct cfg_catalogue *cat = NULL;

	assert_int_equal(cfg_catalogue_load(p, env, &cat), 0);
	return cat;
}

static const char *class_of(const struct cfg_catalogue *cat, const char *socket)
{
	return cfg_catalogue_find(cat, socket)->c.name;
}

static const struct {
	const char *socket;
	const char *class_name;
} samples[] = {
#define SAMPLE(socket, class_name) {socket, class_name},
#include "tests/unit/config_catalogue_samples.def"
#undef SAMPLE
};

static void test_samples__fall_into_their_class(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load(&places, NULL);
	struct policy *policy = pol_new();
	int n_wrong = 0;

	assert_true(ZW_N_ELEMENTS(samples) >= 200);
	assert_int_equal(cfg_catalogue_fill(cat, policy), 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(samples); i++) {
		const char *s = samples[i].socket, *found = class_of(cat, s);
		bool is_abstract = s[0] == '@';
		const struct pol_socket socket = {
			.path = is_abstract ? NULL : s,
			.path_len = is_abstract ? 0 : strlen(s),
			.abstract = is_abstract ? s + 1 : NULL,
			.abstract_len = is_abstract ? strlen(s) - 1 : 0,
			.program = "",
		};
		const struct pol_class *c = pol_classify(policy, &socket);

		if (strcmp(found, samples[i].class_name) != 0) {
			print_error("%s is %s, not %s\n", s, found, samples[i].class_name);
			n_wrong++;
		}
		/* The processes that decide must come to the same class. */
		assert_string_equal(c != NULL ? c->name : CFG_CLASS_UNKNOWN, found);
	}
	assert_int_equal(n_wrong, 0);
	pol_free(policy);
	cfg_catalogue_free(cat);
}

/* Every class has to have the words for its question, and they have to fit on the card. */
static void test_classes__have_their_words(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load(&places, NULL);

	assert_true(cat->n_classes >= 60);
	for (size_t i = 0; i < cat->n_classes; i++) {
		const struct cfg_class *c = &cat->classes[i];
		bool is_grave = c->c.risk >= POL_RISK_HIGH;

		assert_in_range(strlen(c->brief), 5, 72);
		assert_in_range(strlen(c->title), 3, 60);
		assert_in_range(strlen(c->wants), 3, 70);
		assert_in_range(strlen(c->word), 2, 16);
		assert_int_equal(c->allow[strlen(c->allow) - 1], '.');
		assert_int_equal(c->brief[strlen(c->brief) - 1], '.');
		assert_null(strpbrk(c->word, " \t/"));
		assert_int_equal(c->grants[0] != '\0', is_grave);
		assert_int_equal(c->through[0] != '\0', is_grave);
		/* One name, one class. */
		assert_ptr_equal(cfg_catalogue_class(cat, c->c.name), c);
	}
	assert_string_equal(cat->classes[cat->n_classes - 1].c.name, CFG_CLASS_UNKNOWN);
	assert_string_equal(cfg_catalogue_class(cat, "no such class")->c.name, CFG_CLASS_UNKNOWN);
	cfg_catalogue_free(cat);
}

static void risk_is(const struct cfg_catalogue *cat, const char *name, enum pol_risk risk,
		    enum pol_treat treat, enum pol_way way, const char *word)
{
	const struct cfg_class *c = cfg_catalogue_class(cat, name);

	assert_string_equal(c->c.name, name);
	assert_int_equal(c->c.risk, risk);
	assert_int_equal(c->c.treat, treat);
	assert_int_equal(c->c.way, way);
	assert_string_equal(c->word, word);
}

static void test_classes__risk_treatment_and_word(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load(&places, NULL);
	const enum pol_treat by_risk = POL_TREAT_BY_RISK;

	risk_is(cat, "docker", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "docker");
	risk_is(cat, "podman-rootless", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "podman");
	risk_is(cat, "lxd", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "lxd");
	risk_is(cat, "libvirt", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "libvirt");
	risk_is(cat, "dbus-session", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "bus");
	risk_is(cat, "dbus-system", POL_RISK_HIGH, by_risk, POL_WAY_RELAY, "bus");
	risk_is(cat, "x11", POL_RISK_CRITICAL, by_risk, POL_WAY_DIRECT, "x11");
	risk_is(cat, "wayland", POL_RISK_HIGH, by_risk, POL_WAY_DIRECT, "wayland");
	risk_is(cat, "ssh-agent", POL_RISK_HIGH, by_risk, POL_WAY_RELAY, "ssh");
	risk_is(cat, "ssh-control", POL_RISK_HIGH, by_risk, POL_WAY_RELAY, "ssh");
	risk_is(cat, "gpg-agent", POL_RISK_HIGH, by_risk, POL_WAY_RELAY, "gpg");
	risk_is(cat, "keyring", POL_RISK_HIGH, by_risk, POL_WAY_RELAY, "keyring");
	risk_is(cat, "tmux", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "tmux");
	risk_is(cat, "emacs", POL_RISK_CRITICAL, by_risk, POL_WAY_RELAY, "emacs");
	risk_is(cat, "audio", POL_RISK_HIGH, by_risk, POL_WAY_DIRECT, "audio");
	risk_is(cat, "database", POL_RISK_LOW, by_risk, POL_WAY_DIRECT, "database");
	risk_is(cat, "syslog", POL_RISK_HARMLESS, by_risk, POL_WAY_RELAY, "syslog");
	risk_is(cat, "names", POL_RISK_LOW, POL_TREAT_NOT_THERE, POL_WAY_RELAY, "names");
	risk_is(cat, "zwatch", POL_RISK_CRITICAL, POL_TREAT_REFUSE, POL_WAY_RELAY, "zwatch");
	risk_is(cat, "unknown", POL_RISK_LOW, by_risk, POL_WAY_RELAY, "unknown");
	assert_string_equal(cfg_catalogue_class(cat, "ssh-agent")->wants, "use your SSH keys");
	assert_string_equal(cfg_catalogue_class(cat, "docker")->wants, "talk to the Docker daemon");
	cfg_catalogue_free(cat);
}

/* What is allowed without a question must be named whole: no harmless class by a broad pattern. */
static void test_harmless__only_narrow_patterns(void **state)
{
	(void)state;
	struct cfg_catalogue *cat = load(&places, NULL);

	for (size_t i = 0; i < cat->n_patterns; i++) {
		const struct cfg_pattern *p = &cat->patterns[i];

		if (cat->classes[p->class_index].c.risk != POL_RISK_HARMLESS)
			continue;
		assert_true(strstr(p->glob, "journal") != NULL ||
			    strstr(p->glob, "systemd") != NULL || strcmp(p->glob, "/dev/log") == 0);
		assert_false(zw_starts_with(p->glob, "*"));
	}
	cfg_catalogue_free(cat);
}

static void test_environment__leads_to_classes(void **state)
{
	(void)state;
	char *env[] = {
		(char[]){"SSH_AUTH_SOCK=/home/u/odd/agent"},
		(char[]){"DOCKER_HOST=unix:///srv/d/docker.sock"},
		(char[]){"CONTAINER_HOST=tcp://10.0.0.1:2375"},
		(char[]){
			"DBUS_SESSION_BUS_ADDRESS=unix:abstract=/x/bus%2d1,guid=ab;unix:path=/x/y"},
		(char[]){"DISPLAY=:7.0"},
		(char[]){"WAYLAND_DISPLAY=odd-0"},
		(char[]){"TMUX=/srv/t/default,99,0"},
		(char[]){"TMUX_TMPDIR=/srv/tt"},
		(char[]){"KITTY_LISTEN_ON=unix:@terminal"},
		(char[]){"PULSE_SERVER={0123}unix:/srv/pulse"},
		(char[]){"SESSION_MANAGER=local/h:@/srv/ice,unix/h:/srv/ice2"},
		(char[]){"PGHOST=/srv/pg"},
		(char[]){"NVIM=/srv/a*b"},
		(char[]){"GPG_AGENT_INFO=/srv/gpg:99:1"},
		NULL,
	};
	struct cfg_catalogue *cat = load(&places, env);

	assert_string_equal(class_of(cat, "/home/u/odd/agent"), "ssh-agent");
	assert_string_equal(class_of(cat, "/srv/d/docker.sock"), "docker");
	assert_string_equal(class_of(cat, "@/x/bus-1"), "dbus-session");
	assert_string_equal(class_of(cat, "/x/y"), "dbus-session");
	assert_string_equal(class_of(cat, "/run/user/1000/odd-0"), "wayland");
	assert_string_equal(class_of(cat, "/srv/t/default"), "tmux");
	assert_string_equal(class_of(cat, "/srv/tt/tmux-1000/x"), "tmux");
	assert_string_equal(class_of(cat, "@terminal"), "kitty");
	assert_string_equal(class_of(cat, "/srv/pulse"), "audio");
	assert_string_equal(class_of(cat, "@/srv/ice"), "session-manager");
	assert_string_equal(class_of(cat, "/srv/ice2"), "session-manager");
	assert_string_equal(class_of(cat, "/srv/pg/.s.PGSQL.5432"), "database");
	/* Names with wildcards stand for no class: as patterns they would hold for others too. */
	assert_string_equal(class_of(cat, "/srv/a*b"), "unknown");
	assert_string_equal(class_of(cat, "/srv/aXb"), "unknown");
	assert_string_equal(class_of(cat, "/srv/aXXb"), "unknown");
	assert_string_equal(class_of(cat, "/srv/gpg"), "gpg-agent");
	cfg_catalogue_free(cat);
}

static void test_environment__never_lowers_a_risk(void **state)
{
	(void)state;
	char *env[] = {
		(char[]){"SSH_AUTH_SOCK=/var/run/docker.sock"},
		(char[]){"PGHOST=/run/user/1000/systemd"},
		(char[]){"NOTIFY_SOCKET=/tmp/.X11-unix/X0"},
		(char[]){"MYSQL_UNIX_PORT=/run/user/1000/zwatch/1.sock"},
		(char[]){"EMACS_SOCKET_NAME=/run/user/1000/zwatch/2.sock"},
		(char[]){"ALACRITTY_SOCKET=/run/nscd/socket"},
		(char[]){"PULSE_SERVER=unix:/run/docker.so*k"},
		(char[]){"SESSION_MANAGER=local/h:/run/docker.?ock"},
		/* Raises what a pattern holds for a database. */
		(char[]){"DOCKER_HOST=unix:///tmp/mysql.sock"},
		NULL,
	};
	struct cfg_catalogue *cat = load(&places, env);

	assert_string_equal(class_of(cat, "/run/docker.sock"), "docker");
	assert_string_equal(class_of(cat, "/run/user/1000/systemd/private"), "systemd-user");
	assert_string_equal(class_of(cat, "/tmp/.X11-unix/X0"), "x11");
	assert_string_equal(class_of(cat, "/run/user/1000/zwatch/1.sock"), "zwatch");
	assert_string_equal(class_of(cat, "/run/user/1000/zwatch/2.sock"), "zwatch");
	assert_string_equal(class_of(cat, "/run/nscd/socket"), "names");
	assert_string_equal(class_of(cat, "/tmp/mysql.sock"), "docker");
	cfg_catalogue_free(cat);
}

static void test_environment__hostile_values_are_harmless(void **state)
{
	(void)state;
	char *env[] = {
		(char[]){"DOCKER_HOST="},
		(char[]){"SSH_AUTH_SOCK=relative"},
		(char[]){"DBUS_SESSION_BUS_ADDRESS=unix:path=,abstract;=;;unix:path=%2;unix:path=/"
			 "%zz%2"},
		(char[]){"DISPLAY=:999999999999"},
		(char[]){"SESSION_MANAGER=,,:,x:"},
		(char[]){"TMUX=,"},
		(char[]){"PULSE_SERVER={"},
		NULL,
	};
	struct cfg_catalogue *plain = load(&places, NULL), *cat = load(&places, env);

	/* Only the D-Bus address held a path: "/%zz%2". */
	assert_int_equal(cat->n_patterns, plain->n_patterns + 1);
	assert_string_equal(class_of(cat, "/%zz%2"), "dbus-session");
	cfg_catalogue_free(plain);
	cfg_catalogue_free(cat);
}

static void test_places__odd_home_and_runtime(void **state)
{
	(void)state;
	const struct cfg_places odd = {
		.home = (char[]){"/home/link"},
		.home_real = (char[]){"/data/u*"},
		.runtime_dir = (char[]){"/srv/run"},
	};
	struct cfg_catalogue *cat = load(&odd, NULL);

	assert_string_equal(class_of(cat, "/home/link/.gnupg/S.gpg-agent"), "gpg-agent");
	assert_string_equal(class_of(cat, "/data/u*/.gnupg/S.gpg-agent"), "gpg-agent");
	assert_string_equal(class_of(cat, "/data/uother/.gnupg/S.gpg-agent"), "unknown");
	assert_string_equal(class_of(cat, "/srv/run/bus"), "dbus-session");
	assert_string_equal(class_of(cat, "/run/user/5/bus"), "dbus-session");
	cfg_catalogue_free(cat);
}

static void test_parse__faults_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{"{}", "`classes` must be a list"},
		{"{\"classes\": []}", "`classes` must be a list"},
		{"{\"classes\": [{}]}", "needs `name`"},
		{"{\"classes\": [{\"name\": \"x\", \"title\": \"t\", \"brief\": \"b\", \"allow\": "
		 "\"a\", "
		 "\"word\": \"w\", \"risk\": \"huge\"}]}",
		 "risk, treat or way"},
		{"{\"classes\": [{\"name\": \"x\", \"title\": \"t\", \"brief\": \"b\", \"allow\": "
		 "\"a\", "
		 "\"word\": \"w\", \"risk\": \"low\", \"paths\": [\"rel/x\"]}]}",
		 "begins with"},
		{"{\"classes\": [{\"name\": \"x\", \"title\": \"t\", \"brief\": \"b\", \"allow\": "
		 "\"a\", "
		 "\"word\": \"w\", \"risk\": \"low\", \"environment\": {\"A\": \"odd\"}}]}",
		 "how to read A"},
		{"{\"classes\": [{\"name\": \"x\", \"title\": \"t\", \"brief\": \"b\", \"allow\": "
		 "\"a\", "
		 "\"word\": \"w\", \"risk\": \"low\"}]}",
		 "last class must be unknown"},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		struct cfg_catalogue *cat = NULL;
		struct cfg_json_error error;

		assert_int_equal(cfg_catalogue_parse(bad[i].text, strlen(bad[i].text), &places,
						     NULL, &cat, &error),
				 ZW_E_CONFIG);
		assert_null(cat);
		assert_non_null(strstr(error.text, bad[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples__fall_into_their_class),
		cmocka_unit_test(test_classes__have_their_words),
		cmocka_unit_test(test_classes__risk_treatment_and_word),
		cmocka_unit_test(test_harmless__only_narrow_patterns),
		cmocka_unit_test(test_environment__leads_to_classes),
		cmocka_unit_test(test_environment__never_lowers_a_risk),
		cmocka_unit_test(test_environment__hostile_values_are_harmless),
		cmocka_unit_test(test_places__odd_home_and_runtime),
		cmocka_unit_test(test_parse__faults_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
