#include "report/grid.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/text.h"

struct grid_line {
	char cell[GRID_COLUMNS][GRID_CELL];
};

struct layout {
	int width[GRID_COLUMNS]; /* 0: not shown */
	int gap;
	bool names_apart; /* each name on a line of its own */
};

void grid_init(struct grid *g, const struct grid_column columns[], size_t nr,
	       bool has_names)
{
	*g = (struct grid){.columns = columns,
			   .nr_columns = nr < GRID_COLUMNS ? nr : GRID_COLUMNS,
			   .has_names = has_names};
}

void grid_release(struct grid *g)
{
	free(g->lines);
	memset(g, 0, sizeof(*g));
}

void grid_hide(struct grid *g, size_t column)
{
	g->hidden |= 1U << column;
}

void grid_add_line(struct grid *g)
{
	size_t cap = g->cap_lines ? 2 * g->cap_lines : 16, i;
	struct grid_line *more;

	if (g->failed)
		return;
	if (g->nr_lines == g->cap_lines) {
		more = realloc(g->lines, cap * sizeof(*more));
		if (!more) {
			g->failed = true;
			return;
		}
		g->lines = more;
		g->cap_lines = cap;
	}
	g->nr_lines++;
	for (i = 0; i < g->nr_columns; i++)
		strcpy(g->lines[g->nr_lines - 1].cell[i], "-");
}

/* NULL where there is no line to write to. */
static char *cell_of(struct grid *g, size_t column)
{
	if (g->failed || !g->nr_lines || column >= g->nr_columns)
		return NULL;
	return g->lines[g->nr_lines - 1].cell[column];
}

void grid_set(struct grid *g, size_t column, const char *fmt, ...)
{
	char *cell = cell_of(g, column), text[GRID_CELL];
	va_list ap;

	if (!cell)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_clean(cell, GRID_CELL, text);
}

static void remove_blanks(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (*s != ' ')
			*to++ = *s;
	*to = '\0';
}

void grid_set_time(struct grid *g, size_t column, double ns)
{
	char *cell = cell_of(g, column);

	if (cell)
		remove_blanks(units_time(cell, GRID_CELL, ns));
}

void grid_set_count(struct grid *g, size_t column, double n)
{
	char *cell = cell_of(g, column);

	if (cell)
		remove_blanks(units_count(cell, GRID_CELL, n));
}

void grid_set_rate(struct grid *g, size_t column, double value)
{
	grid_set(g, column, "%.*f",
		 value >= 1000 ? 0
		 : value >= 10 ? 1
			       : 2,
		 value);
}

/* --- the layout --- */

static int total_width(const struct grid *g, const struct layout *l)
{
	size_t c = l->names_apart ? 1 : 0;
	int total = l->names_apart ? 2 : 0, shown = 0;

	for (; c < g->nr_columns; c++) {
		total += l->width[c];
		shown += l->width[c] > 0;
	}
	return total + l->gap * (shown - 1);
}

/* The column that goes next; 0 for none. */
static size_t most_expendable(const struct grid *g, const struct layout *l)
{
	size_t most = 0, c;

	for (c = 1; c < g->nr_columns; c++)
		if (l->width[c] && g->columns[c].ebb > g->columns[most].ebb)
			most = c;
	return most;
}

static void lay_out(const struct grid *g, struct layout *l, int width)
{
	size_t i, c;
	int w;

	memset(l, 0, sizeof(*l));
	for (c = 0; c < g->nr_columns; c++) {
		if (g->hidden & 1U << c)
			continue;
		l->width[c] = text_width(g->columns[c].heading);
		for (i = 0; i < g->nr_lines; i++) {
			w = text_width(g->lines[i].cell[c]);
			if (l->width[c] < w)
				l->width[c] = w;
		}
	}
	l->gap = 2;
	if (total_width(g, l) > width)
		l->gap = 1;
	if (total_width(g, l) > width)
		l->names_apart = g->has_names;
	while (total_width(g, l) > width && (c = most_expendable(g, l)))
		l->width[c] = 0;
}

static void print_blanks(FILE *out, int n)
{
	fprintf(out, "%*s", n, "");
}

/* @i: of a line; SIZE_MAX: the headings. */
static const char *text_at(const struct grid *g, size_t i, size_t c)
{
	return i == SIZE_MAX ? g->columns[c].heading : g->lines[i].cell[c];
}

/* Without blanks at the end, which nobody sees. */
static void print_line(const struct grid *g, const struct layout *l, size_t i,
		       FILE *out)
{
	int owed = l->names_apart ? 2 : 0, room;
	size_t c = l->names_apart ? 1 : 0;
	const char *text;

	for (; c < g->nr_columns; c++) {
		if (!l->width[c])
			continue;
		text = text_at(g, i, c);
		room = l->width[c] - text_width(text);
		if (!g->columns[c].is_text)
			owed += room;
		if (*text) {
			print_blanks(out, owed);
			owed = 0;
		}
		fputs(text, out);
		owed += l->gap + (g->columns[c].is_text ? room : 0);
	}
	fputc('\n', out);
}

static void print_name(const struct grid *g, size_t i, FILE *out)
{
	const char *name = g->lines[i].cell[0];

	if (!i || strcmp(name, g->lines[i - 1].cell[0]) != 0)
		fprintf(out, "%s\n", name);
}

void grid_print(const struct grid *g, int width, FILE *out)
{
	struct layout l;
	size_t i;

	if (g->failed) {
		fputs("(no memory for the table)\n", out);
		return;
	}
	if (!g->nr_lines)
		return;
	lay_out(g, &l, width);
	print_line(g, &l, SIZE_MAX, out);
	for (i = 0; i < g->nr_lines; i++) {
		if (l.names_apart)
			print_name(g, i, out);
		print_line(g, &l, i, out);
	}
}
