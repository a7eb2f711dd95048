#ifndef REPORT_TABLE_PARTS_H
#define REPORT_TABLE_PARTS_H

#include <stdio.h>

#include "report/curves.h"
#include "report/figures.h"

/* The parts of table_print(). Each row is in one of them: a step of a sweep,
 * else what the job's view says, else one of several repeats, else a row by
 * itself. Each function prints what is its own, and nothing where there is
 * none; @width: characters at most. */

enum table_part {
	PART_ROWS,
	PART_REPEATS,
	PART_SWEEPS,
	PART_CDM,
	PART_COPY,
	PART_BARS,
};

/* @row: of lunbench.rows[]. */
enum table_part table_part_of(const json_t *row);

/* What limited the rows: a line for each name and verdict. */
void table_print_bottlenecks(const json_t *rows, int width, FILE *out);

/* A line a row and op. */
void table_print_rows(const json_t *rows, int width, FILE *out);
/* A line a figure. */
void table_print_repeats(const struct figures *f, int width, FILE *out);
/* A line a step, and what the curve says. */
void table_print_sweeps(const struct curves *c, int width, FILE *out);
/* A line a test, a line a copy, a line a block size. */
void table_print_cdm(const struct set *s, const struct figures *f, int width,
		     FILE *out);
void table_print_copy(const struct figures *f, int width, FILE *out);
void table_print_bars(const struct figures *f, int width, FILE *out);

#endif
