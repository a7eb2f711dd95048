/* Writes a sample result, for tests of what reads results: result_aid FILE,
 * or - for stdout. */
#include <stdio.h>

#include "tests/unit/result_sample.h"

int main(int argc, char **argv)
{
	static char description[] = "trims, now and then";
	struct sample s;
	json_t *result;
	struct err e;
	char *text;
	int err = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: result_aid FILE|-\n");
		return 2;
	}
	sample_init(&s);
	sample_set(&s, 0, "readwrite", "randrw");
	sample_set(&s, 0, "blocksize", "4k");
	s.jobs[2].description = description;
	result = result_build(&s.in, &e);
	text = result ? result_format(result, &e) : NULL;
	if (!text)
		err = e.code;
	else if (strcmp(argv[1], "-") != 0)
		err = result_write(result, argv[1], &e);
	else
		fputs(text, stdout);
	if (err)
		fprintf(stderr, "%s\n", e.text);
	free(text);
	json_decref(result);
	sample_release(&s);
	return err ? 3 : 0;
}
