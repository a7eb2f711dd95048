#ifndef REPORT_POOLED_H
#define REPORT_POOLED_H

#include <stdio.h>

#include "report/set.h"

/* The warnings of all results of @s; of those that differ in their figures and
 * quoted names alone the first, with the arrays that have some. */
void pooled_warnings_print(const struct set *s, FILE *out);

#endif
