#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A table of text that fits its width: two blanks between columns; where that
 * is too wide one; then the first column, if it holds names, above its lines;
 * then fewer columns. All text is made printable.
 */

enum { GRID_COLUMNS = 16, GRID_CELL = 120 };

struct grid_column {
	const char *heading;
	bool is_text;	  /* flush left */
	unsigned int ebb; /* the highest goes first; 0 stays */
};

struct grid_line; /* opaque */

struct grid {
	const struct grid_column *columns; /* borrowed */
	size_t nr_columns;
	bool has_names;		 /* in the first column */
	unsigned int hidden;	 /* bits 1 << column */
	struct grid_line *lines; /* owned */
	size_t nr_lines, cap_lines;
	bool failed; /* no memory for a line: later ones are dropped */
};

/* @nr: GRID_COLUMNS at most. */
void grid_init(struct grid *g, const struct grid_column columns[], size_t nr,
	       bool has_names);
void grid_release(struct grid *g);

/* Has nothing to tell. */
void grid_hide(struct grid *g, size_t column);

/* Begins a line, of "-" in each column. */
void grid_add_line(struct grid *g);

/* Of the last line. */
__attribute__((format(printf, 3, 4))) void grid_set(struct grid *g,
						    size_t column,
						    const char *fmt, ...);
/* As units_time() and units_count() write them, without a blank. */
void grid_set_time(struct grid *g, size_t column, double ns);
void grid_set_count(struct grid *g, size_t column, double n);
/* "1049", "65.5", "0.22". */
void grid_set_rate(struct grid *g, size_t column, double value);

/* Nothing without a line. */
void grid_print(const struct grid *g, int width, FILE *out);

#endif
