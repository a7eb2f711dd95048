#include <stdlib.h>
#include <string.h>

#include "report/across_parts.h"
#include "report/samples.h"
#include "report/text.h"

/* The curves of one job, one an array: throughput and response time against
 * the number of clients, then what each curve says. */

enum { LOADS_MAX = 256 };

struct family {
	const struct curve *of[GRID_COLUMNS]; /* by column; NULL: none */
	unsigned int loads[LOADS_MAX];	      /* of all of them, ascending */
	size_t nr_loads;
};

static bool is_same(const struct curve *a, const struct curve *b)
{
	return point_is_like(a->point, b->point) &&
	       !strcmp(a->point->test, b->point->test);
}

static void add_load(struct family *f, unsigned int clients)
{
	size_t at = f->nr_loads;

	for (size_t i = 0; i < f->nr_loads; i++)
		if (f->loads[i] == clients)
			return;
	if (at == LOADS_MAX)
		return;
	for (; at && f->loads[at - 1] > clients; at--)
		f->loads[at] = f->loads[at - 1];
	f->loads[at] = clients;
	f->nr_loads++;
}

static void find_family(struct family *f, const struct across *a,
			const struct curves *c, size_t first)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = first; i < c->nr; i++) {
		const struct curve *curve = &c->list[i];
		size_t column = across_column(a, curve->point);

		if (!is_same(curve, &c->list[first]) || column > a->nr)
			continue;
		f->of[column] = curve;
		for (size_t k = 0; k < curve->sweep.nr_points; k++)
			add_load(f, curve->sweep.points[k].clients);
	}
}

/* NULL where that load was not measured. */
static const struct load *load_at(const struct curve *c, unsigned int clients)
{
	for (size_t i = 0; c && i < c->sweep.nr_points; i++)
		if (c->sweep.points[i].clients == clients)
			return &c->loads[i];
	return NULL;
}

static void add_loads(struct grid *g, const struct family *f, size_t nr,
		      enum metric m)
{
	for (size_t i = 0; i < f->nr_loads; i++) {
		grid_add_line(g);
		grid_set(g, 0, "%u", f->loads[i]);
		for (size_t c = 1; c <= nr; c++) {
			const struct load *l = load_at(f->of[c], f->loads[i]);

			if (l && m == METRIC_MB_S)
				grid_set_rate(g, c, l->mb_s);
			else if (l)
				grid_set_time(g, c, l->mean_ns);
		}
	}
}

static void set_knee(struct grid *g, size_t column, const struct sweep *s)
{
	const struct sweep_point *p = s->points;

	if (s->has_interval)
		grid_set(g, column, "%u (%u-%u)", p[s->knee].clients,
			 p[s->knee_low].clients, p[s->knee_high].clients);
	else
		grid_set(g, column, "%u", p[s->knee].clients);
}

/* The knee, the peak and where it is, in clients. */
static void add_knees(struct grid *g, const struct family *f, size_t nr)
{
	static const char *const names[] = {"knee", "peak at", "peak"};

	for (int line = 0; line < 3; line++) {
		grid_add_line(g);
		grid_set(g, 0, "%s", names[line]);
		for (size_t c = 1; c <= nr; c++) {
			const struct sweep *s =
				f->of[c] ? &f->of[c]->sweep : NULL;

			if (!s || !s->has_knee)
				continue;
			if (line == 0)
				set_knee(g, c, s);
			else if (line == 1)
				grid_set(g, c, "%u",
					 s->points[s->peak].clients);
			else
				grid_set_rate(g, c,
					      s->points[s->peak].rate.mean);
		}
	}
}

static void add_ratio(struct grid *g, const struct family *f, size_t nr)
{
	grid_add_line(g);
	grid_set(g, 0, "last/first");
	for (size_t c = 1; c <= nr; c++)
		if (f->of[c] && f->of[c]->sweep.has_response_ratio)
			grid_set(g, c, "%.1fx",
				 f->of[c]->sweep.response_ratio.value);
}

static void print_family(const struct across *a, const struct family *f,
			 const char *job)
{
	struct grid_column columns[GRID_COLUMNS];
	struct grid g;

	fprintf(a->out, "%s: MB/s of all clients together\n", job);
	across_grid(&g, a, "clients", columns);
	add_loads(&g, f, a->nr, METRIC_MB_S);
	add_knees(&g, f, a->nr);
	grid_print(&g, a->width, a->out);
	grid_release(&g);
	fprintf(a->out, "\n%s: mean response time\n", job);
	across_grid(&g, a, "clients", columns);
	add_loads(&g, f, a->nr, METRIC_MEAN);
	add_ratio(&g, f, a->nr);
	grid_print(&g, a->width, a->out);
	grid_release(&g);
	fputc('\n', a->out);
	text_put_wrapped(a->out, "", sweep_rule, a->width);
}

static bool is_first(const struct curves *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same(&c->list[k], &c->list[i]))
			return false;
	return true;
}

void across_print_curves(const struct across *a, const struct curves *c)
{
	struct family f;
	char job[128];

	for (size_t i = 0; i < c->nr; i++) {
		const struct point *p = c->list[i].point;

		if (!is_first(c, i))
			continue;
		find_family(&f, a, c, i);
		text_clean(job, sizeof(job), p->name);
		print_family(a, &f, job);
		fputc('\n', a->out);
	}
}
