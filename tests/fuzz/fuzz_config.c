/* SPDX-License-Identifier: MIT
 * A settings file of any bytes, as the user's or, when its length is odd, as a project's. Whatever it
 * says, a project must not have widened anything. */
#include <assert.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/config/config.h"
#include "src/config/wish.h"

static const struct cfg_places places = {
	.home = (char[]){"/nonexistent/u"},
	.home_real = (char[]){"/nonexistent/u"},
	.runtime_dir = (char[]){"/nonexistent/run"},
	.config_dir = (char[]){"/nonexistent/u/c"},
	.state_dir = (char[]){"/nonexistent/u/s"},
	.start_dir = (char[]){"/nonexistent/u/p"},
};

static void check_narrow(const struct cfg *cfg)
{
	for (size_t i = 0; i < cfg->n_rules; i++)
		assert(cfg->rules[i].action == POL_ACTION_DENY);
	assert(cfg->mode >= POL_MODE_GUARD && cfg->allow_sockets >= CFG_SOCKETS_PROJECT);
	assert(cfg->limit_connections > 0 && cfg->limit_connections <= 256);
	assert(cfg->n_sockets == 0 && cfg->local_ports.n == 0 && cfg->allow_private.n == 0);
	assert(cfg->allow_write.n == 1 && cfg->allow_read.n == 0 && cfg->n_agents == 0);
}

static const struct cfg_catalogue *catalogue_get(void *arg)
{
	static struct cfg_catalogue *c;
	static char *env[] = {NULL};

	(void)arg;
	if (c == NULL)
		assert(cfg_catalogue_load(&places, env, &c) == 0);
	return c;
}

/* Only what is low can be granted, and then nothing but what was wished. */
static void check_wishes(struct cfg *cfg, const uint8_t *data, size_t size,
			 struct cfg_report *report)
{
	struct cfg_wishes w;
	size_t n_rules = cfg->n_rules, n_write = cfg->allow_write.n;

	cfg->project.text = zw_xmemdup0(data, size);
	cfg->project.len = size;
	cfg_wishes_read(cfg, &places, catalogue_get, NULL, &w, report);
	for (size_t i = 0; i < w.n; i++) {
		assert(w.list[i].can_grant == (w.list[i].risk == POL_RISK_LOW));
		w.list[i].is_granted = true;
	}
	cfg_wishes_apply(cfg, &places, &w, report);
	assert(cfg->n_rules - n_rules + cfg->allow_write.n - n_write <= w.n);
	for (size_t i = n_rules; i < cfg->n_rules; i++)
		assert(cfg->rules[i].layer == POL_LAYER_WISH);
	cfg_wishes_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum pol_layer layer = size % 2 == 0 ? POL_LAYER_USER : POL_LAYER_PROJECT;
	struct cfg_report report = {0};
	struct cfg *cfg = cfg_new(&places, NULL);
	struct policy *policy = pol_new();

	cfg_read_text(cfg, &places, layer, "f", (const char *)data, size, &report);
	for (size_t k = 0; k < report.n; k++) {
		zw_autofree char *text = cfg_error_format(&report.list[k]);

		for (const char *c = text; *c != '\0'; c++)
			assert((unsigned char)*c >= 0x20 && *c != 0x7f);
	}
	/* What was taken is fit for use, also beside an error. */
	cfg_fill(cfg, policy);
	if (layer == POL_LAYER_PROJECT)
		check_narrow(cfg);
	pol_free(policy);
	if (layer == POL_LAYER_PROJECT)
		check_wishes(cfg, data, size, &report);
	struct cfg_trust trust;
	if (cfg_trust_parse((const char *)data, size, "t", &trust, &report) == 0)
		cfg_trust_fini(&trust);
	cfg_free(cfg);
	cfg_report_clear(&report);
	return 0;
}
