#include "report/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/units.h"
#include "report/table_parts.h"
#include "report/text.h"
#include "report/went.h"

enum { EVENTS_SHOWN = 20, WIDTH_DEFAULT = 80 };

static void print_clean(FILE *out, const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text);
	fputs(clean, out);
}

/* --- around the table --- */

/* One line of the head, put together piece by piece. */
struct head {
	char text[1024];
	size_t used;
};

__attribute__((format(printf, 3, 4))) static void head_add(struct head *h,
							   const char *between,
							   const char *fmt, ...)
{
	char piece[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (!*piece)
		return;
	n = snprintf(h->text + h->used, sizeof(h->text) - h->used, "%s%s",
		     h->used ? between : "", piece);
	h->used += (size_t)n < sizeof(h->text) - h->used
			   ? (size_t)n
			   : sizeof(h->text) - h->used - 1;
}

static void print_lun(const json_t *o, int width, FILE *out)
{
	const json_t *lun = json_object_get(o, "lun");
	const char *serial = text_of(lun, "serial");
	struct head h = {.used = 0};
	char size[32], block[32];

	head_add(&h, " ", "%s", text_of(lun, "vendor"));
	head_add(&h, " ", "%s", text_of(lun, "product"));
	head_add(&h, " ", "%s", text_of(lun, "revision"));
	if (*serial)
		head_add(&h, ", ", "serial %s", serial);
	head_add(&h, ", ", "%s, blocks of %s",
		 units_bytes(size, sizeof(size), int_of(lun, "bytes")),
		 units_bytes(block, sizeof(block), int_of(lun, "block_bytes")));
	text_put_wrapped(out, "LUN     ", h.text, width);
	fputs("URL     ", out); /* in one piece, to be copied */
	print_clean(out, text_of(o, "url"));
	fputc('\n', out);
}

/* The bundled target's: what its speed depends on. The rest is in the file. */
static void print_target(const json_t *o, int width, FILE *out)
{
	static const char *const keys[] = {"array",   "members",  "store",
					   "durable", "settings", "tgt"};
	const json_t *target = json_object_get(o, "target");
	struct head h = {.used = 0};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (*text_of(target, keys[i]))
			head_add(&h, ", ", "%s %s", keys[i],
				 text_of(target, keys[i]));
	if (h.used)
		text_put_wrapped(out, "target  ", h.text, width);
}

static void print_run(const json_t *o, int width, FILE *out)
{
	const json_t *run = json_object_get(o, "run");
	json_int_t workers = int_of(run, "workers");
	struct head h = {.used = 0};
	char duration[32];

	head_add(&h, "", "%s", text_of(o, "job"));
	head_add(&h, ", ", "seed %s", text_of(o, "seed"));
	head_add(&h, ", ", "%lld worker%s", (long long)workers,
		 workers == 1 ? "" : "s");
	head_add(&h, ", ", "%s",
		 text_of(json_object_get(o, "host"), "start_time"));
	head_add(&h, ", ", "%s",
		 units_time(duration, sizeof(duration),
			    number_of(run, "duration_ns")));
	text_put_wrapped(out, "run     ", h.text, width);
}

/* What was left out or made to fit the LUN. */
static void print_notes(const json_t *notes, int width, FILE *out)
{
	enum { NOTES_MOST = 8 };
	size_t nr = json_array_size(notes), i;
	const char *text;

	for (i = 0; i < nr && i < NOTES_MOST; i++) {
		text = json_string_value(json_array_get(notes, i));
		text_put_wrapped(out, "note    ", text ? text : "?", width);
	}
	if (nr > NOTES_MOST)
		fprintf(out,
			"note    and %zu more, in lunbench.plan.notes of the "
			"result\n",
			nr - NOTES_MOST);
}

/* What the figures are figures of, when it is no plain machine, or not what
 * the job stands for. */
static void print_departures(const json_t *o, int width, FILE *out)
{
	const json_t *departs = json_object_get(o, "departs");
	const char *lab = text_of(json_object_get(o, "host"), "lab"), *text;
	size_t i;

	if (*lab)
		text_put_wrapped(out, "lab     ", lab, width);
	for (i = 0; i < json_array_size(departs); i++) {
		text = json_string_value(json_array_get(departs, i));
		text_put_wrapped(out, "departs ", text ? text : "?", width);
	}
	print_notes(json_object_get(json_object_get(o, "plan"), "notes"), width,
		    out);
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

void table_print_warnings(const json_t *result, FILE *out)
{
	const json_t *warnings = json_object_get(
		json_object_get(result, "lunbench"), "warnings");
	const char *text;
	size_t i;

	for (i = 0; i < json_array_size(warnings); i++) {
		text = json_string_value(json_array_get(warnings, i));
		fputs("warning: ", out);
		print_clean(out, text ? text : "?");
		fputc('\n', out);
	}
}

/* --- the whole --- */

enum table_part table_part_of(const json_t *row)
{
	static const struct {
		const char *view;
		enum table_part part;
	} views[] = {
		{"cdm", PART_CDM}, {"copy", PART_COPY}, {"bars", PART_BARS}};
	const json_t *ops = json_object_get(row, "ops");
	const char *view = text_of(row, "view");
	size_t i;

	if (int_of(row, "step_clients") > 0)
		return PART_SWEEPS;
	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcmp(view, views[i].view) &&
		    (json_object_get(ops, "read") ||
		     json_object_get(ops, "write")))
			return views[i].part;
	return json_object_get(row, "repeat") ? PART_REPEATS : PART_ROWS;
}

/* Bits 1 << enum table_part. */
static unsigned int parts_of(const json_t *rows)
{
	unsigned int parts = 0;
	size_t i;

	for (i = 0; i < json_array_size(rows); i++)
		parts |= 1U << table_part_of(json_array_get(rows, i));
	return parts;
}

/* A blank line between two parts. */
static bool begin_part(unsigned int parts, enum table_part part, FILE *out)
{
	if (!(parts & 1U << part))
		return false;
	if (parts & ((1U << part) - 1))
		fputc('\n', out);
	return true;
}

static void print_parts(const struct set *s, unsigned int parts, int width,
			FILE *out)
{
	struct figures f = {0};
	struct curves c = {0};

	if (figures_of(&f, s, NULL) || curves_of(&c, s, true, NULL)) {
		fputs("(no memory for the table)\n", out);
		parts = 0;
	}
	if (begin_part(parts, PART_REPEATS, out))
		table_print_repeats(&f, width, out);
	if (begin_part(parts, PART_SWEEPS, out))
		table_print_sweeps(&c, width, out);
	if (begin_part(parts, PART_CDM, out))
		table_print_cdm(s, &f, width, out);
	if (begin_part(parts, PART_COPY, out))
		table_print_copy(&f, width, out);
	if (begin_part(parts, PART_BARS, out))
		table_print_bars(&f, width, out);
	figures_release(&f);
	curves_release(&c);
}

/* Why repeats ended when they did. */
static void print_repeats_end(const json_t *o, int width, FILE *out)
{
	const json_t *repeats = json_object_get(o, "repeats");
	const char *until = text_of(repeats, "until");
	long long passes = int_of(repeats, "passes");
	char text[256];

	if (!*until)
		return;
	if (json_is_true(json_object_get(repeats, "reached")))
		snprintf(text, sizeof(text),
			 "Ended after %lld passes: every row fulfils until=%s.",
			 passes, until);
	else
		snprintf(text, sizeof(text),
			 "Ended after %lld passes: not every row fulfils "
			 "until=%s.",
			 passes, until);
	text_put_wrapped(out, "", text, width);
}

void table_print(const json_t *result, unsigned int width, FILE *out)
{
	const json_t *o = json_object_get(result, "lunbench");
	const json_t *rows = json_object_get(o, "rows");
	int w = width ? (int)width : WIDTH_DEFAULT;
	unsigned int parts = parts_of(rows);
	struct set s = {0};

	print_lun(o, w, out);
	print_target(o, w, out);
	print_run(o, w, out);
	print_departures(o, w, out);
	fputc('\n', out);
	table_print_rows(rows, w, out);
	if (parts & ~(1U << PART_ROWS)) {
		if (set_add_document(&s, "", json_incref((json_t *)result),
				     NULL))
			fputs("(no memory for the table)\n", out);
		else
			print_parts(&s, parts, w, out);
		set_release(&s);
	}
	table_print_went(result, w, out);
	table_print_bottlenecks(rows, w, out);
	print_repeats_end(o, w, out);
	fputc('\n', out);
	print_events(json_object_get(o, "events"), out);
	table_print_warnings(result, out);
}
