/* The reader of baselines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct baseline b;
	struct err e;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!baseline_parse(&b, "fuzz", text, &e))
		json_decref(baseline_build(&b, 0, &e));
	free(text);
	return 0;
}
