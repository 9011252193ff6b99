/* SPDX-License-Identifier: MIT
 * A settings file of another program, of any bytes: what becomes of it is fit for use, adds to a file that
 * stays valid, and a project's allows nothing. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/config/import.h"
#include "src/config/json.h"

static const struct cfg_places places = {
	.home = (char[]){"/nonexistent/u"},
	.home_real = (char[]){"/nonexistent/u"},
	.runtime_dir = (char[]){"/nonexistent/run"},
	.config_dir = (char[]){"/nonexistent/u/c"},
	.state_dir = (char[]){"/nonexistent/u/s"},
	.start_dir = (char[]){"/nonexistent/u/p"},
};

static void check(const struct cfg_import *i, bool is_project)
{
	static const char mine[] =
		"// mine\n{ \"network\": { \"allowedDomains\": [\"a.example\"] } }\n";
	struct cfg_report report = {0};
	struct cfg *cfg = cfg_new(&places, NULL);
	zw_autofree char *merged = cfg_import_merge(i, mine, strlen(mine));

	cfg_import_apply(i, cfg, &places, &report);
	assert(report.n_errors == 0);
	for (size_t k = 0; k < cfg->n_rules; k++)
		assert(!is_project || cfg->rules[k].action == POL_ACTION_DENY);
	assert(!is_project || (cfg->allow_write.n == 1 && cfg->allow_read.n == 0));
	assert(cfg->n_sockets == 0);
	cfg_report_clear(&report);
	cfg_free(cfg);
	assert(merged != NULL);
	cfg = cfg_new(&places, NULL);
	cfg_read_text(cfg, &places, POL_LAYER_USER, "f", merged, strlen(merged), &report);
	assert(report.n_errors == 0);
	cfg_report_clear(&report);
	cfg_free(cfg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum cfg_import_format format = size % 2 == 0 ? CFG_IMPORT_CLAUDE : CFG_IMPORT_SRT;
	bool is_project = size / 2 % 2 == 0;
	struct cfg_report report = {0};
	struct cfg_import import = {0};

	(void)cfg_import_recognise((const char *)data, size);
	if (cfg_import_read((const char *)data, size, "f", format, is_project, NULL, &places,
			    &import, &report) == 0)
		check(&import, is_project);
	cfg_import_fini(&import);
	cfg_report_clear(&report);
	return 0;
}
