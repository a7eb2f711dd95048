#include "report/across.h"

#include <stdint.h>
#include <string.h>

#include "report/across_parts.h"
#include "report/pooled.h"
#include "report/text.h"

enum { WIDTH_DEFAULT = 80 };

void across_grid(struct grid *g, const struct across *a, const char *heading,
		 struct grid_column columns[GRID_COLUMNS])
{
	columns[0] = (struct grid_column){.heading = heading, .is_text = true};
	for (size_t i = 0; i < a->nr; i++)
		columns[i + 1] = (struct grid_column){.heading = a->arrays[i]};
	grid_init(g, columns, a->nr + 1, true);
}

/* A target that is a plain image knows no array: there is one, then. */
size_t across_column(const struct across *a, const struct point *p)
{
	for (size_t i = 0; i < a->nr; i++)
		if (!*p->array || !strcmp(p->array, a->arrays[i]))
			return i + 1;
	return SIZE_MAX;
}

/* --- figures --- */

/* The same on whichever array. */
static bool is_same(const struct point *a, const struct point *b)
{
	return point_is_like(a, b) && !strcmp(a->test, b->test);
}

static void name_figure(char *text, size_t size, const struct point *p,
			bool has_tests)
{
	char nth[24] = "";
	bool tells = has_tests && *p->test;
	int stem = point_stem(p);

	if (p->nth)
		snprintf(nth, sizeof(nth), " #%zu", p->nth + 1);
	snprintf(text, size, "%.48s%s%.*s%s %s", tells ? p->test : "",
		 tells ? " " : "", stem < 48 ? stem : 48, p->name, nth,
		 op_name(p->op));
}

static void set_cell(struct grid *g, size_t column, enum metric m,
		     const struct spread *v)
{
	char rate[32];

	if (!v->n)
		return;
	if (m != METRIC_MB_S) {
		grid_set_time(g, column, v->mean);
		return;
	}
	metric_text(m, v->mean, rate, sizeof(rate));
	if (v->n > 1 && v->mean > 0)
		grid_set(g, column, "%s\u00b1%.1f%%", rate,
			 100 * v->half / v->mean);
	else
		grid_set(g, column, "%s", rate);
}

/* Of all figures from @first on that are the same. */
static void add_figure(struct grid *g, const struct across *a,
		       const struct figures *f, size_t first, enum metric m,
		       bool has_tests)
{
	const struct point *p = f->list[first].point;
	char name[GRID_CELL];

	grid_add_line(g);
	name_figure(name, sizeof(name), p, has_tests);
	grid_set(g, 0, "%s", name);
	for (size_t i = first; i < f->nr; i++)
		if (is_same(p, f->list[i].point))
			set_cell(g, across_column(a, f->list[i].point), m,
				 &f->list[i].spread[m]);
}

static bool is_first(const struct figures *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same(f->list[k].point, f->list[i].point))
			return false;
	return true;
}

/* Steps of sweeps are in their curves; a flush moves nothing, and what prepares
 * the LUN is none of the figures. */
static bool is_shown(const struct point *p, enum metric m)
{
	const char *prepares = point_setting(p, "prepare");

	return !p->step && (m != METRIC_MB_S || p->op != OP_FLUSH) &&
	       (!prepares || !strcmp(prepares, "0"));
}

void across_print_figures(const struct across *a, const struct figures *f,
			  bool has_tests)
{
	static const struct {
		enum metric metric;
		const char *heading;
	} blocks[] = {{METRIC_MB_S, "MB/s"}, {METRIC_MEAN, "mean latency"}};
	struct grid_column columns[GRID_COLUMNS];
	struct grid g;

	for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
		across_grid(&g, a, blocks[b].heading, columns);
		for (size_t i = 0; i < f->nr; i++)
			if (is_shown(f->list[i].point, blocks[b].metric) &&
			    is_first(f, i))
				add_figure(&g, a, f, i, blocks[b].metric,
					   has_tests);
		grid_print(&g, a->width, a->out);
		if (g.nr_lines)
			fputc('\n', a->out);
		grid_release(&g);
	}
}

/* --- all of it --- */

void across_print(const struct set *s, const char *const arrays[], size_t nr,
		  unsigned int width, FILE *out)
{
	struct across a = {.width = width ? (int)width : WIDTH_DEFAULT,
			   .out = out};
	struct figures f = {0};
	struct curves c = {0};
	struct err e = {0};

	if (figures_of(&f, s, &e) || curves_of(&c, s, true, &e))
		fprintf(out, "(%s)\n", e.text);
	/* More arrays than a table has columns make several tables. */
	for (; nr; nr -= a.nr, arrays += a.nr) {
		a.arrays = arrays;
		a.nr = nr < ACROSS_ARRAYS_MAX ? nr : ACROSS_ARRAYS_MAX;
		across_print_curves(&a, &c);
		across_print_figures(&a, &f, set_has_tests(s));
	}
	pooled_warnings_print(s, out);
	figures_release(&f);
	curves_release(&c);
}
