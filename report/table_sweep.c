#include "report/grid.h"
#include "report/table_parts.h"
#include "report/text.h"

enum column {
	COL_CLIENTS,
	COL_N,
	COL_RATE,
	COL_CI,
	COL_BITS,
	COL_IOPS,
	COL_MEAN,
	COL_P99,
	COL_FAIRNESS,
	COL_CPU,
	COL_MARK,
	COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
	[COL_CLIENTS] = {"clients", false, 0},
	[COL_N] = {"n", false, 4},
	[COL_RATE] = {"MB/s", false, 0},
	[COL_CI] = {"+-", false, 3},
	[COL_BITS] = {"Mbit/s", false, 0},
	[COL_IOPS] = {"IOPS", false, 0},
	[COL_MEAN] = {"mean", false, 0},
	[COL_P99] = {"p99", false, 0},
	[COL_FAIRNESS] = {"fairness", false, 2},
	[COL_CPU] = {"CPU/IO", false, 1},
	[COL_MARK] = {"", true, 0},
};

static const char *mark_of(const struct sweep *s, size_t i)
{
	if (!s->has_knee || (i != s->knee && i != s->peak))
		return "";
	return s->knee == s->peak ? "knee, peak"
	       : i == s->knee	  ? "knee"
				  : "peak";
}

static void add_step(struct grid *g, const struct curve *c, size_t i)
{
	const struct summary *rate = &c->sweep.points[i].rate;
	const struct load *l = &c->loads[i];

	grid_add_line(g);
	grid_set(g, COL_CLIENTS, "%u", c->sweep.points[i].clients);
	grid_set(g, COL_N, "%zu", rate->n);
	grid_set_rate(g, COL_RATE, l->mb_s);
	if (rate->n > 1 && rate->mean > 0)
		grid_set(g, COL_CI, "%.1f%%", 100 * rate->half / rate->mean);
	grid_set(g, COL_BITS, "%.0f", 8 * l->mb_s);
	grid_set_count(g, COL_IOPS, l->iops);
	grid_set_time(g, COL_MEAN, l->mean_ns);
	grid_set_time(g, COL_P99, l->p99_ns);
	grid_set(g, COL_FAIRNESS, "%.3f", l->fairness);
	if (l->has_cpu)
		grid_set_time(g, COL_CPU, l->cpu_ns);
	grid_set(g, COL_MARK, "%s", mark_of(&c->sweep, i));
}

static void print_curve(const struct curve *c, int width, FILE *out)
{
	bool has_repeats = false, has_cpu = false;
	char text[512];
	struct grid g;
	size_t i;

	fprintf(out, "%s, all operations together\n", c->label);
	grid_init(&g, columns, COLUMNS, false);
	for (i = 0; i < c->sweep.nr_points; i++) {
		add_step(&g, c, i);
		has_repeats |= c->sweep.points[i].rate.n > 1;
		has_cpu |= c->loads[i].has_cpu;
	}
	if (!has_repeats) {
		grid_hide(&g, COL_N);
		grid_hide(&g, COL_CI);
	}
	if (!has_cpu) /* on a virtual clock */
		grid_hide(&g, COL_CPU);
	grid_print(&g, width, out);
	grid_release(&g);
	text_put_wrapped(out, "", curve_say(c, text, sizeof(text)), width);
}

void table_print_sweeps(const struct curves *c, int width, FILE *out)
{
	size_t i;

	for (i = 0; i < c->nr; i++) {
		if (i)
			fputc('\n', out);
		print_curve(&c->list[i], width, out);
	}
}
