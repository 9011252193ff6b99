/* SPDX-License-Identifier: MIT
 * main() of a fuzz target outside the fuzz preset: feeds it every file of the folders or files
 * named, and says how many there were. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/io.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_inputs;

static void feed(const char *path)
{
	zw_autofree char *data = NULL;
	size_t len = 0;

	if (zw_read_file(path, 16u << 20, &data, &len) < 0)
		return;
	LLVMFuzzerTestOneInput((const uint8_t *)data, len);
	n_inputs++;
}

static void feed_folder(const char *path)
{
	DIR *dir = opendir(path);

	if (dir == NULL)
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		zw_autofree char *file = zw_xasprintf("%s/%s", path, e->d_name);
		feed(file);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			feed_folder(argv[i]);
		else
			feed(argv[i]);
	}
	printf("%d inputs replayed\n", n_inputs);
	return n_inputs > 0 ? 0 : 1;
}
