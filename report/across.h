#ifndef REPORT_ACROSS_H
#define REPORT_ACROSS_H

#include <stdio.h>

#include "report/set.h"

/*
 * A set across its arrays, as text: a line for each row and op, a column for
 * each array, once for the rate and once for the mean latency; repeats with
 * half of their 95 % interval, where there is room. Then what all results warn
 * of, each kind once.
 * @arrays: the columns, in their order. @width: of the terminal, 0 for 80.
 */
void across_print(const struct set *s, const char *const arrays[], size_t nr,
		  unsigned int width, FILE *out);

#endif
