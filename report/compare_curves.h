#ifndef REPORT_COMPARE_CURVES_H
#define REPORT_COMPARE_CURVES_H

#include "report/compare.h"

/* The sweeps that both sets have: knee beside knee, peak beside peak.
 * @with_arrays, @with_tests: what a curve is matched by beside its job's name.
 */
int compare_curves(struct comparison *c, const struct set *a,
		   const struct set *b, bool with_arrays, bool with_tests,
		   struct err *e);

/* A line or two each. */
void compare_curves_print(const struct comparison *c, int width, FILE *out);

#endif
