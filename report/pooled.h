#ifndef REPORT_POOLED_H
#define REPORT_POOLED_H

#include <stdio.h>

#include "report/set.h"

/* The warnings of all results of @s, those that differ in their figures and
 * quoted names alone as one, with the arrays that they are of. */
void pooled_warnings_print(const struct set *s, FILE *out);

#endif
