#ifndef REPORT_ACROSS_H
#define REPORT_ACROSS_H

#include <stdio.h>

#include "report/set.h"

/*
 * A set across its arrays, as text: a column for each array, and a line for
 * each figure, or for each step of a sweep; the rate first, then the mean
 * latency. Repeats are pooled. Then what all results warn of, each kind once.
 * @arrays: the columns, in their order. @width: of the terminal, 0 for 80.
 */
void across_print(const struct set *s, const char *const arrays[], size_t nr,
		  unsigned int width, FILE *out);

#endif
