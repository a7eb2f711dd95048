#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/baseline_rows.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "commands/signals.h"
#include "report/grid.h"
#include "report/text.h"

enum { KEY_RW = 0x2000, KEY_BS, KEY_IODEPTH, KEY_RUNTIME };

enum { WIDTH = 80 };

static const struct argp_option own_options[] = {
	{"rw", KEY_RW, "RW", 0, "as in a job: read, randwrite, ... (randread)",
	 0},
	{"bs", KEY_BS, "SIZE", 0, "size of the blocks (4k)", 0},
	{"iodepth", KEY_IODEPTH, "N", 0, "of them at once (32)", 0},
	{"runtime", KEY_RUNTIME, "S", 0, "of each of the three (2)", 0},
	{0},
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct baseline_ask *a = state->input;

	switch (key) {
	case KEY_RW:
		a->rw = arg;
		return 0;
	case KEY_BS:
		a->bs = arg;
		return 0;
	case KEY_IODEPTH:
		a->iodepth = arg;
		return 0;
	case KEY_RUNTIME:
		a->runtime = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- what came of it --- */

enum column {
	COL_WHAT,
	COL_RATE,
	COL_IOPS,
	COL_EACH,
	COL_MEAN,
	COL_CPU,
	COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
	[COL_WHAT] = {"baseline", true, 0}, [COL_RATE] = {"MB/s", false, 0},
	[COL_IOPS] = {"IOPS", false, 0},    [COL_EACH] = {"each", false, 0},
	[COL_MEAN] = {"mean", false, 0},    [COL_CPU] = {"CPU/IO", false, 0},
};

static void add_line(struct grid *g, enum baseline_what what,
		     const struct baseline_row *r)
{
	grid_add_line(g);
	grid_set(g, COL_WHAT, "%s", baseline_name(what));
	if (!r->is_measured)
		return;
	grid_set_rate(g, COL_RATE, r->bytes_per_s / 1e6);
	grid_set_count(g, COL_IOPS, r->ios_per_s);
	grid_set_time(g, COL_EACH, NS_PER_SEC / r->ios_per_s);
	if (r->mean_ns)
		grid_set_time(g, COL_MEAN, r->mean_ns);
	grid_set_time(g, COL_CPU, r->cpu_ns);
}

/* What it was, and what it does not stand for. */
static void print_about(enum baseline_what what, const struct baseline_row *r,
			FILE *out)
{
	char head[16], text[600];

	snprintf(head, sizeof(head), "%-10s", baseline_name(what));
	snprintf(text, sizeof(text), "%s%s%s%s", r->of,
		 r->of[0] && r->note[0] ? ": " : "",
		 r->is_measured ? "" : "not measured: ", r->note);
	text_put_wrapped(out, head, text, WIDTH);
}

static void print_baseline(const struct baseline *b, FILE *out)
{
	char size[32];
	struct grid g;
	size_t i;

	fprintf(out, "%s, blocks of %s, depth %llu; for %s\n\n", b->rw,
		units_bytes(size, sizeof(size), b->block_bytes),
		(unsigned long long)b->iodepth, b->url);
	grid_init(&g, columns, COLUMNS, true);
	for (i = 0; i < BASELINES; i++)
		add_line(&g, i, &b->row[i]);
	grid_print(&g, WIDTH, out);
	grid_release(&g);
	fputs("Each: the time between two; mean: of one, with the others "
	      "beside it.\n\n",
	      out);
	for (i = 0; i < BASELINES; i++)
		print_about(i, &b->row[i], out);
}

static int keep(const struct baseline *b, struct output *o,
		uint64_t start_wall_ns)
{
	struct err e = {0};
	json_t *document = baseline_build(b, start_wall_ns, &e);
	int status;

	if (!document)
		return say_err(&e, STATUS_TARGET);
	status = output_write(o, document);
	json_decref(document);
	return status;
}

/* --- the whole --- */

static bool has_any(const struct baseline *b)
{
	size_t i;

	for (i = 0; i < BASELINES; i++)
		if (b->row[i].is_measured)
			return true;
	return false;
}

static int measure_and_tell(struct baseline_ask *a)
{
	bool wants_file =
		a->request.file || a->request.folder || a->request.json;
	uint64_t start_wall_ns = clock_wall_ns();
	struct output o = {0};
	struct baseline b;
	int status;

	status = baseline_ask_check(a, &b);
	if (!status && wants_file)
		status = output_open(&o, &a->request, "baseline");
	if (!status)
		status = baseline_measure(a, &b);
	if (status)
		return status;
	if (!a->request.json)
		print_baseline(&b, stdout);
	else if (!a->request.quiet)
		print_baseline(&b, stderr);
	if (wants_file)
		status = keep(&b, &o, start_wall_ns);
	if (o.has_file && !a->request.json)
		printf("baseline: %s\n", o.path);
	return !status && !has_any(&b) ? STATUS_TARGET : status;
}

int command_baseline(int argc, char **argv)
{
	struct baseline_ask a = {
		.rw = "randread", .bs = "4k", .iodepth = "32", .runtime = "2"};
	const struct request_form form = {
		.takes = REQUEST_URL | REQUEST_CONNECT | REQUEST_RUN,
		.args_doc = "URL",
		.doc = "Measures what a LUN's figures can be held against: two "
		       "sockets of this host, the bundled target's null LUN, "
		       "and the device below the LUN where the target is "
		       "lunbench's own. Give -o FILE to "
		       "`lunbench report --baseline`.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = &a,
	};
	int status;

	signals_init();
	status = request_parse(&a.request, &form, argc, argv);
	if (!status)
		status = measure_and_tell(&a);
	request_release(&a.request);
	return status;
}
