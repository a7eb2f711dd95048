#include "report/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/text.h"
#include "workloads/options.h"

enum { EVENTS_SHOWN = 20, WIDTH_DEFAULT = 80 };

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

static const char *const headings[COLUMNS] = {
	"name", "op",  "block", "QD",	 "MB/s", "IOPS",
	"mean", "p50", "p99",	"p99.9", "max",	 "CPU/IO"};

/* What goes first where the terminal is narrow. */
static const enum column expendable[] = {COL_P50, COL_MAX, COL_CPU, COL_P99_9,
					 COL_BLOCK};

struct line {
	char cell[COLUMNS][64];
	bool starts_row;
};

struct table {
	struct line *lines; /* owned; the first holds the headings */
	size_t nr_lines;
	int width[COLUMNS]; /* 0: not shown */
	int gap;
	bool names_apart; /* each name on a line of its own, above its row */
	bool has_open, has_closed;
};

/* --- text --- */

static void print_clean(FILE *out, const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text);
	fputs(clean, out);
}

static void remove_spaces(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (*s != ' ')
			*to++ = *s;
	*to = '\0';
}

static void time_cell(char cell[64], double ns)
{
	units_time(cell, 64, ns);
	remove_spaces(cell);
}

/* --- the lines --- */

static struct line *line_add(struct table *t)
{
	struct line *more =
		realloc(t->lines, (t->nr_lines + 1) * sizeof(*more));
	struct line *l;
	size_t c;

	if (!more)
		return NULL;
	t->lines = more;
	l = &more[t->nr_lines++];
	memset(l, 0, sizeof(*l));
	for (c = 0; c < COLUMNS; c++)
		snprintf(l->cell[c], sizeof(l->cell[c]), "-");
	return l;
}

/* "32", "256x1" for 256 clients of one each, "~48" for unlike clients. */
static void depth_cell(char cell[64], const json_t *row)
{
	json_int_t depth = int_of(row, "iodepth");
	json_int_t total = int_of(row, "total_depth");

	if (depth <= 0)
		snprintf(cell, 64, "~%lld", (long long)total);
	else if (total > depth)
		snprintf(cell, 64, "%lldx%lld", (long long)(total / depth),
			 (long long)depth);
	else
		snprintf(cell, 64, "%lld", (long long)depth);
}

/* The mean size, which is the block size unless sizes vary: then "~". */
static void block_cell(char cell[64], json_int_t bytes, json_int_t ios)
{
	char size[60];

	units_bytes(size, sizeof(size), bytes / ios);
	remove_spaces(size);
	snprintf(cell, 64, "%s%s", bytes % ios ? "~" : "", size);
}

static void rate_cell(char cell[64], double bytes_per_s)
{
	double mb = bytes_per_s / 1e6;

	snprintf(cell, 64, "%.*f", mb >= 1000 ? 0 : mb >= 10 ? 1 : 2, mb);
}

static void latency_cells(struct line *l, const json_t *latency)
{
	time_cell(l->cell[COL_MEAN], number_of(latency, "mean_ns"));
	time_cell(l->cell[COL_P50], number_of(latency, "p50_ns"));
	time_cell(l->cell[COL_P99], number_of(latency, "p99_ns"));
	time_cell(l->cell[COL_P99_9], number_of(latency, "p99_9_ns"));
	time_cell(l->cell[COL_MAX], number_of(latency, "max_ns"));
}

static void op_cells(struct line *l, const json_t *row, const json_t *op)
{
	const json_t *latency = json_object_get(op, "latency");
	const json_t *cpu = json_object_get(row, "cpu");
	json_int_t ios = int_of(op, "ios"), bytes = int_of(op, "bytes");

	if (ios <= 0)
		return;
	if (bytes > 0) {
		block_cell(l->cell[COL_BLOCK], bytes, ios);
		rate_cell(l->cell[COL_RATE], number_of(op, "bytes_per_s"));
	}
	units_count(l->cell[COL_IOPS], sizeof(l->cell[COL_IOPS]),
		    number_of(op, "ios_per_s"));
	remove_spaces(l->cell[COL_IOPS]);
	if (json_is_object(latency))
		latency_cells(l, latency);
	if (json_is_object(cpu))
		time_cell(l->cell[COL_CPU],
			  number_of(cpu, "user_ns_per_io") +
				  number_of(cpu, "system_ns_per_io"));
}

static bool is_open(const json_t *row)
{
	return strcmp(text_of(row, "pace"), "open") == 0;
}

/* One line an op that came; a row that never ran has one line. */
static bool add_row(struct table *t, const json_t *row)
{
	struct line *l;
	bool first = true;
	json_t *op;
	size_t i;

	if (is_open(row))
		t->has_open = true;
	else
		t->has_closed = true;
	for (i = 0; i < OP_COUNT; i++) {
		op = json_object_get(json_object_get(row, "ops"), op_name(i));
		if (!op ||
		    (!first && !int_of(op, "ios") && !int_of(op, "errors")))
			continue;
		l = line_add(t);
		if (!l)
			return false;
		text_clean(l->cell[COL_NAME], sizeof(l->cell[COL_NAME]) - 2,
			   text_of(row, "name"));
		if (is_open(row))
			strcat(l->cell[COL_NAME], "*");
		strcpy(l->cell[COL_OP], op_name(i));
		depth_cell(l->cell[COL_DEPTH], row);
		op_cells(l, row, op);
		l->starts_row = first;
		first = false;
	}
	return true;
}

static bool add_lines(struct table *t, const json_t *rows)
{
	struct line *l = line_add(t);
	size_t i;

	if (!l)
		return false;
	for (i = 0; i < COLUMNS; i++)
		snprintf(l->cell[i], sizeof(l->cell[i]), "%s", headings[i]);
	for (i = 0; i < json_array_size(rows); i++)
		if (!add_row(t, json_array_get(rows, i)))
			return false;
	return true;
}

/* --- the layout --- */

static int total_width(const struct table *t)
{
	int total = 0, shown = 0;
	size_t c;

	for (c = t->names_apart ? COL_OP : COL_NAME; c < COLUMNS; c++) {
		total += t->width[c];
		shown += t->width[c] > 0;
	}
	return total + t->gap * (shown - 1) + (t->names_apart ? 2 : 0);
}

/* Two blanks between columns; where that is too wide one; then names above
 * their rows; then fewer columns. */
static void lay_out(struct table *t, int width)
{
	size_t i, c;
	int w;

	for (i = 0; i < t->nr_lines; i++)
		for (c = 0; c < COLUMNS; c++) {
			w = text_width(t->lines[i].cell[c]);
			if (t->width[c] < w)
				t->width[c] = w;
		}
	t->gap = 2;
	if (total_width(t) > width)
		t->gap = 1;
	if (total_width(t) > width)
		t->names_apart = true;
	for (i = 0; i < sizeof(expendable) / sizeof(expendable[0]); i++)
		if (total_width(t) > width)
			t->width[expendable[i]] = 0;
}

static void print_cell(FILE *out, const char *text, int width, bool right)
{
	int blanks = width - text_width(text);

	fprintf(out, "%*s%s%*s", right ? blanks : 0, "", text,
		right ? 0 : blanks, "");
}

static void print_lines(const struct table *t, FILE *out)
{
	const struct line *l;
	size_t i, c;

	for (i = 0; i < t->nr_lines; i++) {
		l = &t->lines[i];
		if (!t->names_apart)
			print_cell(out, l->cell[COL_NAME], t->width[COL_NAME],
				   false);
		else if (l->starts_row)
			fprintf(out, "%s\n", l->cell[COL_NAME]);
		for (c = COL_OP; c < COLUMNS; c++) {
			if (!t->width[c])
				continue;
			fprintf(out, "%*s",
				t->names_apart && c == COL_OP ? 2 : t->gap, "");
			print_cell(out, l->cell[c], t->width[c], c > COL_OP);
		}
		fputc('\n', out);
	}
}

/* --- around the table --- */

static void print_lun(const json_t *o, FILE *out)
{
	static const char *const keys[] = {"vendor", "product", "revision"};
	const json_t *lun = json_object_get(o, "lun");
	const char *serial = text_of(lun, "serial");
	char size[32], block[32];
	size_t i;

	fputs("LUN     ", out);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!*text_of(lun, keys[i]))
			continue;
		print_clean(out, text_of(lun, keys[i]));
		fputs(i + 1 < sizeof(keys) / sizeof(keys[0]) ? " " : ", ", out);
	}
	if (*serial) {
		fputs("serial ", out);
		print_clean(out, serial);
		fputs(", ", out);
	}
	units_bytes(size, sizeof(size), int_of(lun, "bytes"));
	units_bytes(block, sizeof(block), int_of(lun, "block_bytes"));
	fprintf(out, "%s, blocks of %s\nURL     ", size, block);
	print_clean(out, text_of(o, "url"));
	fputc('\n', out);
}

/* The bundled target's: what its speed depends on. The rest is in the file. */
static void print_target(const json_t *o, FILE *out)
{
	static const char *const keys[] = {"array",   "members",  "store",
					   "durable", "settings", "tgt"};
	const json_t *target = json_object_get(o, "target");
	const char *before = "target  ";
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!*text_of(target, keys[i]))
			continue;
		fprintf(out, "%s%s ", before, keys[i]);
		print_clean(out, text_of(target, keys[i]));
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', out);
}

/* What the figures are figures of, when it is no plain machine. */
static void print_lab(const json_t *o, FILE *out)
{
	const char *lab = text_of(json_object_get(o, "host"), "lab");

	if (!*lab)
		return;
	fputs("lab     ", out);
	print_clean(out, lab);
	fputc('\n', out);
}

static void print_run(const json_t *o, FILE *out)
{
	const json_t *run = json_object_get(o, "run");
	const char *job = text_of(o, "job");
	json_int_t workers = int_of(run, "workers");
	char duration[32];

	fputs("run     ", out);
	if (*job) {
		print_clean(out, job);
		fputs(", ", out);
	}
	units_time(duration, sizeof(duration), number_of(run, "duration_ns"));
	fputs("seed ", out);
	print_clean(out, text_of(o, "seed"));
	fprintf(out, ", %lld worker%s, ", (long long)workers,
		workers == 1 ? "" : "s");
	print_clean(out, text_of(json_object_get(o, "host"), "start_time"));
	fprintf(out, ", %s\n", duration);
}

static void print_legend(const struct table *t, FILE *out)
{
	if (t->has_open && t->has_closed)
		fputs("Latency is service time, submitted to done; in rows "
		      "with * (at a set rate) it is\nresponse time, due to "
		      "done.\n",
		      out);
	else if (t->has_open)
		fputs("Latency is response time, due to done (* at a set "
		      "rate).\n",
		      out);
	else
		fputs("Latency is service time, submitted to done.\n", out);
}

static void print_events(const json_t *events, FILE *out)
{
	size_t i, shown = 0, more = 0;
	char at[32];

	for (i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);

		if (strcmp(text_of(event, "kind"), "phase") == 0)
			continue;
		if (shown == EVENTS_SHOWN) {
			more++;
			continue;
		}
		shown++;
		units_time(at, sizeof(at), number_of(event, "at_ns"));
		fprintf(out, "at %s: ", at);
		print_clean(out, text_of(event, "text"));
		fputc('\n', out);
	}
	if (more)
		fprintf(out, "... and %zu more events, in the result file\n",
			more);
}

static void print_warnings(const json_t *warnings, FILE *out)
{
	const char *text;
	size_t i;

	for (i = 0; i < json_array_size(warnings); i++) {
		text = json_string_value(json_array_get(warnings, i));
		fputs("warning: ", out);
		print_clean(out, text ? text : "?");
		fputc('\n', out);
	}
}

void table_print(const json_t *result, unsigned int width, FILE *out)
{
	const json_t *o = json_object_get(result, "lunbench");
	struct table t;

	memset(&t, 0, sizeof(t));
	print_lun(o, out);
	print_target(o, out);
	print_run(o, out);
	print_lab(o, out);
	fputc('\n', out);
	if (add_lines(&t, json_object_get(o, "rows"))) {
		print_legend(&t, out);
		lay_out(&t, width ? (int)width : WIDTH_DEFAULT);
		print_lines(&t, out);
	} else {
		fputs("(no memory for the table)\n", out);
	}
	free(t.lines);
	fputc('\n', out);
	print_events(json_object_get(o, "events"), out);
	print_warnings(json_object_get(o, "warnings"), out);
}
