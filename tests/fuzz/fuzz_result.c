/* The result reader, and the table of whatever it lets pass. */
#include <stdint.h>
#include <stdio.h>

#include "report/result.h"
#include "report/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct err e;
	json_t *d = result_parse("fuzz", (const char *)data, size, &e);

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (d && nowhere)
		table_print(d, size % 200, nowhere);
	json_decref(d);
	return 0;
}
