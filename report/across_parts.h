#ifndef REPORT_ACROSS_PARTS_H
#define REPORT_ACROSS_PARTS_H

#include <stdio.h>

#include "report/curves.h"
#include "report/figures.h"
#include "report/grid.h"

/* The parts of across_print(). */

enum { ACROSS_ARRAYS_MAX = GRID_COLUMNS - 1 };

struct across {
	const char *const *arrays; /* borrowed */
	size_t nr;		   /* ACROSS_ARRAYS_MAX at most */
	int width;
	FILE *out;
};

/* A grid with @heading over its first column, and the arrays' over the others,
 * which are kept in @columns. */
void across_grid(struct grid *g, const struct across *a, const char *heading,
		 struct grid_column columns[GRID_COLUMNS]);

/* Its column. SIZE_MAX if there is none. */
size_t across_column(const struct across *a, const struct point *p);

void across_print_curves(const struct across *a, const struct curves *c);
void across_print_figures(const struct across *a, const struct figures *f,
			  bool has_tests);

#endif
