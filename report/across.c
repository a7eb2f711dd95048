#include "report/across.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/pooled.h"
#include "report/samples.h"
#include "report/text.h"

enum { WIDTH_DEFAULT = 80, GAP = 2, CELL = 40, ARRAYS_MAX = 64 };

/* What is measured on each array: points of the same test, row, op. */
struct figure {
	const struct point *first; /* borrowed */
	char label[160];
};

struct across {
	const struct set *s;	   /* borrowed */
	const char *const *arrays; /* borrowed */
	size_t nr_arrays;
	struct figure *figures; /* owned; in order of first appearance */
	size_t nr_figures;
	bool has_intervals; /* shown where there are any */
};

/* --- figures --- */

static bool is_same(const struct point *a, const struct point *b)
{
	return a->op == b->op && a->nth == b->nth &&
	       !strcmp(a->name, b->name) && !strcmp(a->test, b->test);
}

static void label(const struct across *a, struct figure *f)
{
	const struct point *p = f->first;
	char text[200], nth[24] = "";
	bool tests = set_has_tests(a->s) && *p->test;

	if (p->nth)
		snprintf(nth, sizeof(nth), " #%zu", p->nth + 1);
	snprintf(text, sizeof(text), "%.60s%s%.80s%s %s", tests ? p->test : "",
		 tests ? " " : "", p->name, nth, op_name(p->op));
	text_clean(f->label, sizeof(f->label), text);
}

static bool find_figures(struct across *a)
{
	a->figures = calloc(a->s->nr_points + 1, sizeof(*a->figures));
	if (!a->figures)
		return false;
	for (size_t i = 0; i < a->s->nr_points; i++) {
		const struct point *p = &a->s->points[i];
		size_t f = 0;

		while (f < a->nr_figures && !is_same(a->figures[f].first, p))
			f++;
		if (f < a->nr_figures)
			continue;
		a->figures[f].first = p;
		label(a, &a->figures[f]);
		a->nr_figures++;
	}
	return true;
}

/* A target that is a plain image knows no array: there is one, then. */
static bool is_of(const struct across *a, const struct point *p, size_t array)
{
	return a->nr_arrays == 1 || !strcmp(p->array, a->arrays[array]);
}

/* Its repeats on that array. */
static bool sample(const struct across *a, const struct figure *f, size_t array,
		   enum metric m, struct sample_of *value)
{
	const struct point **points =
		calloc(a->s->nr_points + 1, sizeof(*points));
	size_t n = 0;
	bool found;

	for (size_t i = 0; i < a->s->nr_points && points; i++) {
		const struct point *p = &a->s->points[i];

		if (is_of(a, p, array) && is_same(f->first, p))
			points[n++] = p;
	}
	found = n && sample_take(value, points, n, m);
	free(points);
	return found;
}

/* --- cells --- */

static void remove_spaces(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (*s != ' ')
			*to++ = *s;
	*to = '\0';
}

static void format(enum metric m, double value, char *cell)
{
	metric_text(m, value, cell, CELL);
	remove_spaces(cell);
}

/* "61.2", "61.2 +-1.1", "-" */
static void fill(const struct across *a, const struct figure *f, size_t array,
		 enum metric m, char cell[CELL])
{
	struct sample_of v;
	char half[CELL];

	snprintf(cell, CELL, "-");
	if (!sample(a, f, array, m, &v))
		return;
	format(m, v.estimate.mean, cell);
	if (!a->has_intervals || v.basis != BASIS_RUNS)
		return;
	format(m, v.estimate.se * stats_t(v.estimate.df), half);
	snprintf(cell + strlen(cell), CELL - strlen(cell), "\u00b1%.20s", half);
}

static void print_right(FILE *out, const char *text, int width)
{
	fprintf(out, "%*s%s", width - text_width(text), "", text);
}

static int label_width(const struct across *a, const char *title)
{
	int width = text_width(title);

	for (size_t i = 0; i < a->nr_figures; i++)
		if (width < text_width(a->figures[i].label))
			width = text_width(a->figures[i].label);
	return width;
}

/* The widest of a column; @total of all of them. */
static void measure(const struct across *a, enum metric m, int width[])
{
	char cell[CELL];

	for (size_t c = 0; c < a->nr_arrays; c++) {
		width[c] = text_width(a->arrays[c]);
		for (size_t i = 0; i < a->nr_figures; i++) {
			fill(a, &a->figures[i], c, m, cell);
			if (width[c] < text_width(cell))
				width[c] = text_width(cell);
		}
		width[c] += GAP;
	}
}

static int sum(const int width[], size_t nr)
{
	int total = 0;

	while (nr--)
		total += width[nr];
	return total;
}

static void print_block(struct across *a, enum metric m, const char *title,
			int room, FILE *out)
{
	int first = label_width(a, title), width[ARRAYS_MAX];
	char cell[CELL];

	a->has_intervals = true;
	measure(a, m, width);
	if (first + sum(width, a->nr_arrays) > room) {
		a->has_intervals = false;
		measure(a, m, width);
	}
	fprintf(out, "%-*s", first, title);
	for (size_t c = 0; c < a->nr_arrays; c++)
		print_right(out, a->arrays[c], width[c]);
	fputc('\n', out);
	for (size_t i = 0; i < a->nr_figures; i++) {
		fprintf(out, "%s%*s", a->figures[i].label,
			first - text_width(a->figures[i].label), "");
		for (size_t c = 0; c < a->nr_arrays; c++) {
			fill(a, &a->figures[i], c, m, cell);
			print_right(out, cell, width[c]);
		}
		fputc('\n', out);
	}
	fputc('\n', out);
}

void across_print(const struct set *s, const char *const arrays[], size_t nr,
		  unsigned int width, FILE *out)
{
	struct across a = {.s = s,
			   .arrays = arrays,
			   .nr_arrays = nr < ARRAYS_MAX ? nr : ARRAYS_MAX};
	int room = width ? (int)width : WIDTH_DEFAULT;

	if (!find_figures(&a)) {
		fputs("(no memory for the table)\n", out);
		return;
	}
	print_block(&a, METRIC_MB_S, "MB/s", room, out);
	print_block(&a, METRIC_MEAN, "mean latency", room, out);
	free(a.figures);
	pooled_warnings_print(s, out);
}
