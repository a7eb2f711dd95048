#include <string.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/table_parts.h"
#include "report/text.h"
#include "workloads/options.h"

/* --- rows by themselves --- */

enum column {
	COL_NAME,
	COL_OP,
	COL_BLOCK,
	COL_DEPTH,
	COL_RATE,
	COL_IOPS,
	COL_MEAN,
	COL_P50,
	COL_P99,
	COL_P99_9,
	COL_MAX,
	COL_CPU,
	COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
	[COL_NAME] = {"name", true, 0},	   [COL_OP] = {"op", true, 0},
	[COL_BLOCK] = {"block", false, 1}, [COL_DEPTH] = {"QD", false, 0},
	[COL_RATE] = {"MB/s", false, 0},   [COL_IOPS] = {"IOPS", false, 0},
	[COL_MEAN] = {"mean", false, 0},   [COL_P50] = {"p50", false, 5},
	[COL_P99] = {"p99", false, 0},	   [COL_P99_9] = {"p99.9", false, 2},
	[COL_MAX] = {"max", false, 4},	   [COL_CPU] = {"CPU/IO", false, 3},
};

/* "32", "256x1" for 256 clients of one each, "~48" for unlike clients. */
static void set_depth(struct grid *g, size_t column, const json_t *row)
{
	json_int_t depth = int_of(row, "iodepth");
	json_int_t total = int_of(row, "total_depth");

	if (depth <= 0)
		grid_set(g, column, "~%lld", (long long)total);
	else if (total > depth)
		grid_set(g, column, "%lldx%lld", (long long)(total / depth),
			 (long long)depth);
	else
		grid_set(g, column, "%lld", (long long)depth);
}

/* The mean size, which is the block size unless sizes vary: then "~". */
static void set_block(struct grid *g, json_int_t bytes, json_int_t ios)
{
	char size[60], *blank;

	units_bytes(size, sizeof(size), bytes / ios);
	blank = strchr(size, ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	grid_set(g, COL_BLOCK, "%s%s", bytes % ios ? "~" : "", size);
}

static void set_latencies(struct grid *g, const json_t *latency)
{
	if (!json_is_object(latency))
		return;
	grid_set_time(g, COL_MEAN, number_of(latency, "mean_ns"));
	grid_set_time(g, COL_P50, number_of(latency, "p50_ns"));
	grid_set_time(g, COL_P99, number_of(latency, "p99_ns"));
	grid_set_time(g, COL_P99_9, number_of(latency, "p99_9_ns"));
	grid_set_time(g, COL_MAX, number_of(latency, "max_ns"));
}

static void set_op(struct grid *g, const json_t *row, const json_t *op)
{
	json_int_t ios = int_of(op, "ios"), bytes = int_of(op, "bytes");
	const json_t *cpu = json_object_get(row, "cpu");

	if (ios <= 0)
		return;
	if (bytes > 0) {
		set_block(g, bytes, ios);
		grid_set_rate(g, COL_RATE, number_of(op, "bytes_per_s") / 1e6);
	}
	grid_set_count(g, COL_IOPS, number_of(op, "ios_per_s"));
	set_latencies(g, json_object_get(op, "latency"));
	if (json_is_object(cpu))
		grid_set_time(g, COL_CPU,
			      number_of(cpu, "user_ns_per_io") +
				      number_of(cpu, "system_ns_per_io"));
}

static bool is_open(const json_t *row)
{
	return strcmp(text_of(row, "pace"), "open") == 0;
}

/* One line an op that came; a row that never ran has one line. */
static void add_row(struct grid *g, const json_t *row)
{
	bool first = true;
	json_t *op;
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		op = json_object_get(json_object_get(row, "ops"), op_name(i));
		if (!op ||
		    (!first && !int_of(op, "ios") && !int_of(op, "errors")))
			continue;
		grid_add_line(g);
		grid_set(g, COL_NAME, "%s%s", text_of(row, "name"),
			 is_open(row) ? "*" : "");
		grid_set(g, COL_OP, "%s", op_name(i));
		set_depth(g, COL_DEPTH, row);
		set_op(g, row, op);
		first = false;
	}
}

static void print_legend(bool has_open, bool has_closed, FILE *out)
{
	if (has_open && has_closed)
		fputs("Latency is service time, submitted to done; in rows "
		      "with * (at a set rate) it is\nresponse time, due to "
		      "done.\n",
		      out);
	else if (has_open)
		fputs("Latency is response time, due to done (* at a set "
		      "rate).\n",
		      out);
	else
		fputs("Latency is service time, submitted to done.\n", out);
}

void table_print_rows(const json_t *rows, int width, FILE *out)
{
	bool has_open = false, has_closed = false;
	const json_t *row;
	struct grid g;
	size_t i;

	grid_init(&g, columns, COLUMNS, true);
	for (i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		has_open |= is_open(row);
		has_closed |= !is_open(row);
		if (table_part_of(row) == PART_ROWS)
			add_row(&g, row);
	}
	print_legend(has_open, has_closed, out);
	grid_print(&g, width, out);
	grid_release(&g);
}

/* --- repeats --- */

enum repeats_column {
	REP_NAME,
	REP_OP,
	REP_DEPTH,
	REP_N,
	REP_MEAN,
	REP_CI,
	REP_BEST,
	REP_MEDIAN,
	REP_IOPS,
	REP_TIME,
	REP_TIME_CI,
	REP_P99,
	REP_COLUMNS
};

static const struct grid_column repeats_columns[REP_COLUMNS] = {
	[REP_NAME] = {"name", true, 0},	  [REP_OP] = {"op", true, 0},
	[REP_DEPTH] = {"QD", false, 4},	  [REP_N] = {"n", false, 0},
	[REP_MEAN] = {"MB/s", false, 0},  [REP_CI] = {"+-", false, 0},
	[REP_BEST] = {"best", false, 0},  [REP_MEDIAN] = {"median", false, 0},
	[REP_IOPS] = {"IOPS", false, 3},  [REP_TIME] = {"mean", false, 0},
	[REP_TIME_CI] = {"+-", false, 2}, [REP_P99] = {"p99", false, 1},
};

/* "1.3%" of the mean. */
static void set_half(struct grid *g, size_t column, const struct spread *s)
{
	double percent = s->mean > 0 ? 100 * s->half / s->mean : 0;

	if (s->n > 1)
		grid_set(g, column, "%.*f%%", percent < 10 ? 1 : 0, percent);
}

static void add_figure(struct grid *g, const struct figure *f)
{
	const struct spread *rate = &f->spread[METRIC_MB_S],
			    *mean = &f->spread[METRIC_MEAN];

	grid_add_line(g);
	grid_set(g, REP_NAME, "%s%s", f->point->name,
		 point_is_open(f->point) ? "*" : "");
	grid_set(g, REP_OP, "%s", op_name(f->point->op));
	set_depth(g, REP_DEPTH, f->point->row);
	grid_set(g, REP_N, "%zu", f->spread[METRIC_IOPS].n);
	if (rate->n) {
		grid_set_rate(g, REP_MEAN, rate->mean);
		set_half(g, REP_CI, rate);
		grid_set_rate(g, REP_BEST, rate->best);
		grid_set_rate(g, REP_MEDIAN, rate->median);
	}
	if (f->spread[METRIC_IOPS].n)
		grid_set_count(g, REP_IOPS, f->spread[METRIC_IOPS].mean);
	if (mean->n) {
		grid_set_time(g, REP_TIME, mean->mean);
		set_half(g, REP_TIME_CI, mean);
		grid_set_time(g, REP_P99, f->spread[METRIC_P99].mean);
	}
}

void table_print_repeats(const struct figures *f, int width, FILE *out)
{
	struct grid g;
	size_t i;

	grid_init(&g, repeats_columns, REP_COLUMNS, true);
	for (i = 0; i < f->nr; i++)
		if (table_part_of(f->list[i].point->row) == PART_REPEATS)
			add_figure(&g, &f->list[i]);
	if (g.nr_lines)
		text_put_wrapped(out, "",
				 "Repeats: n of each; MB/s, IOPS and latencies "
				 "are means over them, +- is half the 95 % "
				 "interval of the mean.",
				 width);
	grid_print(&g, width, out);
	grid_release(&g);
}
