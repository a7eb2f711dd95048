#ifndef REPORT_LAYOUT_H
#define REPORT_LAYOUT_H

#include "report/bins.h"
#include "report/figures.h"

/*
 * The figures of a set as a table has them: arrays beside each other, rows (of
 * a job; of a sweep, one step of it) below each other, ops in a row; jobs whose
 * names differ in their op alone ("4K-write", "4K-read") are one row. All lists
 * hold each thing once, in the set's order. Borrows from the set.
 */

struct layout_row {
	const struct point *point; /* the first, for name, nth, step, view */
	size_t test;
};

/* One figure, with all its points. */
struct cell {
	const struct figure *figure;
	const struct point *const *points;
	size_t nr;
	size_t array, row;
};

struct layout { /* all owned */
	struct figures figures;
	struct cell *cells; /* as figures.list */
	size_t nr;
	const struct point **points; /* of the cells */
	const struct point **arrays; /* the first point of each */
	size_t nr_arrays;
	const struct point **tests; /* the same */
	size_t nr_tests;
	struct layout_row *rows;
	size_t nr_rows;
};

int layout_of(struct layout *l, const struct set *s, struct err *e);
void layout_release(struct layout *l);

/* The place of its array, which decides its colour. */
size_t layout_array(const struct layout *l, const struct point *p);

/* NULL where there is none. */
const struct cell *layout_find(const struct layout *l, size_t array, size_t row,
			       enum io_op op);

/* Whether some figure of @array is of @test. */
bool layout_has(const struct layout *l, size_t array, size_t test);

/* "seq1m-q8", without the op's name at its end, with clients and "#2" where
 * they tell rows apart. Printable. */
char *layout_row_name(const struct layout_row *r, char *buf, size_t size);

/* "bars", "cdm", "copy"; "sweep" of a step, "prepare" of what was only done for
 * others; else "". */
const char *layout_view(const struct layout_row *r);

/* --- what a figure's spreads do not hold --- */

/* How many of its points were measured. */
size_t cell_measured(const struct cell *c);

/* Of those their mean latency of that key ("p50_ns"), of "max_ns" the largest;
 * the sum of a number of theirs ("errors"). */
bool cell_latency(const struct cell *c, const char *key, double *ns);
json_int_t cell_sum(const struct cell *c, const char *key);

/* lunbench's own CPU time for an I/O; false on virtual clocks. */
bool cell_cpu(const struct cell *c, double *ns);

/* All its I/Os in one histogram. */
int cell_bins(const struct cell *c, struct bins *b, struct err *e);

/* Why it has no value: the row's error, or the run's; "" where it has one. */
const char *cell_failure(const struct cell *c);

#endif
