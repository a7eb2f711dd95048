/* The result reader, and every table, form and comparison of what it lets
 * pass. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/compare.h"
#include "report/evidence.h"
#include "report/formats.h"
#include "report/result.h"
#include "report/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A picture would start a program for each input. */
static void report_all(const struct set *s, FILE *nowhere)
{
	struct err e;
	size_t i;

	for (i = 0; formats[i]; i++)
		if (!formats[i]->is_binary)
			formats[i]->write(s, NULL, nowhere, &e);
}

/* With itself: the plans are equal, whatever they are. */
static void compare(const struct set *s, FILE *nowhere)
{
	const struct compare_opts o = {.metrics = (1U << METRICS) - 1,
				       .max_regress = 0.05,
				       .force = true};
	struct comparison c;
	struct err e;

	if (!compare_sets(&c, s, s, &o, &e)) {
		compare_print(&c, nowhere);
		compare_put_junit(&c, 1, nowhere);
	}
	comparison_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct baseline b = {
		.rw = "randread", .block_bytes = 4096, .iodepth = 4};
	static FILE *nowhere;
	struct put p = {false};
	struct set s = {0};
	struct err e;
	json_t *d = result_parse("fuzz", (const char *)data, size, &e);

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	/* Any small script makes a page. */
	setenv("LUNBENCH_CHART_JS", "/dev/null", 1);
	if (!d || !nowhere) {
		json_decref(d);
		return 0;
	}
	table_print(d, size % 200, nowhere);
	evidence_put(&p, d, &b); /* as report --baseline */
	if (!set_add_document(&s, "fuzz", d, &e)) {
		report_all(&s, nowhere);
		compare(&s, nowhere);
		s.nr_points = s.nr_points ? 1 : 0; /* as hgrm wants it */
		format_hgrm.write(&s, NULL, nowhere, &e);
	}
	set_release(&s);
	return 0;
}
