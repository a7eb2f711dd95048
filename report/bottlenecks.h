#ifndef REPORT_BOTTLENECKS_H
#define REPORT_BOTTLENECKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The verdicts of a result as people read them: the repeats, clones and steps
 * of one name that came to the same one are told together. */
struct bottleneck_line {
	char title[200];  /* "netbench, 12 to 60 clients"; as in the file */
	const char *what; /* "" where it is not known; borrowed */
	const char *why;  /* of the last of them; borrowed */
	size_t rows;
};

/* The next line of @rows (lunbench.rows), from *at on, which starts at 0. False
 * after the last. Rows without a verdict, of older results, give none. */
bool bottleneck_next(const json_t *rows, size_t *at, struct bottleneck_line *l);

#endif
