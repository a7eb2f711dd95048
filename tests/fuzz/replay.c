#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/*
 * Gives each file of a folder to a fuzzer, as a test: what once broke, or is
 * typical, must pass with any compiler. Without an argument replay_NAME takes
 * tests/fuzz/corpus_NAME. A crash ends the program, and TAP's plan is missing.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name, unsigned int nr)
{
	char path[1024], *text = NULL;
	struct err e;
	size_t len;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ret = file_read(path, 1 << 26, &text, &len, &e);
	if (!ret)
		LLVMFuzzerTestOneInput((const uint8_t *)text, len);
	printf("%sok %u - %s\n", ret ? "not " : "", nr, name);
	if (ret)
		printf("# %s\n", e.text);
	fflush(stdout);
	free(text);
	return ret;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *program = strrchr(argv[0], '/');
	const char *name = strstr(program ? program : argv[0], "replay_");
	struct dirent **list;
	unsigned int nr = 0;
	char folder[512];
	int n, i, failed = 0;

	if (argc > 1)
		snprintf(folder, sizeof(folder), "%s", argv[1]);
	else
		snprintf(folder, sizeof(folder), "tests/fuzz/corpus_%s",
			 name ? name + strlen("replay_") : "");
	n = scandir(folder, &list, is_visible, alphasort);
	for (i = 0; i < n; i++) {
		failed |= replay(folder, list[i]->d_name, ++nr);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (n <= 0)
		printf("not ok %u - files in %s\n", ++nr, folder);
	printf("1..%u\n", nr);
	return failed || n <= 0;
}
