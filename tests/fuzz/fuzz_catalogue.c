/* SPDX-License-Identifier: MIT
 * Two inputs in one, a zero byte between: values of the environment, one a line, read with a small
 * catalogue that knows every way to read one; and a catalogue of any bytes. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/config/catalogue.h"

static const struct cfg_places places = {
	.home = (char[]){"/home/u"},
	.home_real = (char[]){"/data/u"},
	.runtime_dir = (char[]){"/run/user/1000"},
};

#define CLASS(name, risk, rest)                                                       \
	"{\"name\": \"" name                                                          \
	"\", \"title\": \"t\", \"brief\": \"b\", \"allow\": \"a\", \"word\": \"w\", " \
	"\"risk\": \"" risk "\"" rest "}"

/* clang-format off */
static const char small[] =
	"{\"classes\": ["
	CLASS("zwatch", "CRITICAL", ", \"treat\": \"refuse\", \"paths\": [\"$R/zwatch/**\"]") ","
	CLASS("docker", "CRITICAL", ", \"paths\": [\"/run/docker.sock\"], \"environment\": {\"A\": \"url\"}") ","
	CLASS("middle", "HIGH", ", \"environment\": {\"B\": \"path\", \"C\": \"comma\", \"D\": \"colon\", "
	      "\"E\": \"dbus\", \"F\": \"display\", \"G\": \"session\", \"H\": \"wayland\", "
	      "\"I\": \"under:/x-*/*\"}") ","
	CLASS("unknown", "low", "")
	"]}";
/* clang-format on */

static void read_environment(char *text)
{
	char *env[33];
	size_t n = 0;
	struct cfg_catalogue *cat = NULL;
	struct cfg_json_error error;

	for (char *line = text; line != NULL && n < 32; n++) {
		env[n] = line;
		line = strchr(line, '\n');
		if (line != NULL)
			*line++ = '\0';
	}
	env[n] = NULL;
	int code = cfg_catalogue_parse(small, sizeof(small) - 1, &places, env, &cat, &error);
	assert(code == 0);
	/* No variable takes these out of their class. */
	assert(strcmp(cfg_catalogue_find(cat, "/run/user/1000/zwatch/1.sock")->c.name, "zwatch") ==
	       0);
	assert(cfg_catalogue_find(cat, "/run/docker.sock")->c.risk == POL_RISK_CRITICAL);
	cfg_catalogue_free(cat);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t env_len = size > 0 ? strnlen((const char *)data, size) : 0;
	zw_autofree char *env = zw_xmemdup0(data, env_len);
	struct cfg_catalogue *cat = NULL;
	struct cfg_json_error error;

	read_environment(env);
	if (env_len == size)
		return 0;
	const char *text = (const char *)data + env_len + 1;
	if (cfg_catalogue_parse(text, size - env_len - 1, &places, NULL, &cat, &error) < 0)
		return 0;
	struct policy *policy = pol_new();
	(void)cfg_catalogue_fill(cat, policy);
	(void)cfg_catalogue_find(cat, "/run/docker.sock");
	pol_free(policy);
	cfg_catalogue_free(cat);
	return 0;
}
