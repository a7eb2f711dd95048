#include "report/went.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/text.h"
#include "workloads/options.h"

/* From which share on a stage is worth a line, and writes a hint. */
static const double worth = 0.05;

/* tgt's default, and that of RFC 7143 13.12. */
enum { SMALL_SEGMENT = 8192 };

enum { LINES_MOST = 24, HINT = 512 };

struct load {
	const json_t *document, *row, *wire, *went;
	const char *name;
	double writes, reads, write_bytes; /* mean size of a write */
	double r2t_wait;
};

static bool take(struct load *l, const json_t *document, const json_t *row)
{
	const json_t *ops = json_object_get(row, "ops");
	const json_t *write = json_object_get(ops, "write");

	memset(l, 0, sizeof(*l));
	l->document = document;
	l->row = row;
	l->name = text_of(row, "name");
	l->wire = json_object_get(row, "wire");
	l->went = json_object_get(l->wire, "time_went");
	l->reads = number_of(json_object_get(ops, "read"), "ios");
	l->writes = number_of(write, "ios");
	if (l->writes > 0)
		l->write_bytes = number_of(write, "bytes") / l->writes;
	l->r2t_wait = number_of(l->went, "r2t_wait");
	return json_is_object(l->went);
}

/* What holds after the login; "" where it was not seen. */
static const char *key_of(const struct load *l, const char *key)
{
	const json_t *all = json_object_get(
		json_object_get(l->document, "lunbench"), "negotiated");
	size_t i;

	for (i = 0; i < json_array_size(all); i++)
		if (!strcmp(text_of(json_array_get(all, i), "key"), key))
			return text_of(json_array_get(all, i), "result");
	return "";
}

static double number_key(const struct load *l, const char *key)
{
	return strtod(key_of(l, key), NULL);
}

/* --- hints: each writes its sentence if it holds --- */

static const char *size_of(char buf[32], double bytes)
{
	return units_bytes(buf, 32, bytes);
}

static bool hint_window(const struct load *l, char *text)
{
	double depth = number_of(l->row, "iodepth");
	double window = number_of(l->wire, "window_commands");
	double queued = number_of(l->went, "queued_here");

	if (number_of(l->wire, "window_stalls") < 1 || depth <= window ||
	    queued < worth)
		return false;
	snprintf(text, HINT,
		 "the target takes %.0f commands of a session at once and "
		 "iodepth asks for %.0f: %.0f %% of the time was queued here; "
		 "raise the target's command window (tgt: MaxQueueCmd) or "
		 "lower iodepth",
		 window, depth, 100 * queued);
	return true;
}

static bool hint_initial_r2t(const struct load *l, char *text)
{
	char size[32];

	if (l->r2t_wait < worth || strcmp(key_of(l, "InitialR2T"), "Yes") != 0)
		return false;
	snprintf(text, HINT,
		 "InitialR2T=Yes: each write of %s waited for %.1f R2Ts, "
		 "%.0f %% of the time; set InitialR2T=No at the target, and "
		 "FirstBurstLength to the size of a write",
		 size_of(size, l->write_bytes),
		 number_of(l->wire, "r2ts") / l->writes, 100 * l->r2t_wait);
	return true;
}

static bool hint_first_burst(const struct load *l, char *text)
{
	double burst = number_key(l, "FirstBurstLength");
	char size[32];

	if (l->r2t_wait < worth || burst <= 0 || burst >= l->write_bytes ||
	    strcmp(key_of(l, "InitialR2T"), "No") != 0)
		return false;
	snprintf(text, HINT,
		 "FirstBurstLength=%.0f is less than a write of %s: waiting "
		 "for R2Ts took %.0f %% of the time; raise FirstBurstLength at "
		 "the target",
		 burst, size_of(size, l->write_bytes), 100 * l->r2t_wait);
	return true;
}

/* Its command, and what took the data that was not in that. */
static double pdus_a_write(const struct load *l)
{
	return 1 + number_of(l->wire, "data_outs") / l->writes;
}

static bool hint_immediate(const struct load *l, char *text)
{
	char size[32];

	if (strcmp(key_of(l, "ImmediateData"), "No") != 0)
		return false;
	snprintf(text, HINT,
		 "ImmediateData=No: the data of a write never goes with its "
		 "command, and each write of %s took %.1f PDUs; set "
		 "ImmediateData=Yes at the target",
		 size_of(size, l->write_bytes), pdus_a_write(l));
	return true;
}

static bool hint_segment(const struct load *l, char *text)
{
	double segment = number_key(l, "MaxRecvDataSegmentLength");
	char size[32];

	if (segment <= 0 || segment > SMALL_SEGMENT ||
	    l->write_bytes <= segment)
		return false;
	snprintf(text, HINT,
		 "MaxRecvDataSegmentLength=%.0f: each write of %s took %.1f "
		 "PDUs; set it to 262144 at the target",
		 segment, size_of(size, l->write_bytes), pdus_a_write(l));
	return true;
}

static const struct {
	bool (*holds)(const struct load *l, char *text);
	bool of_writes;
} hints[] = {
	{hint_window, false},	  {hint_initial_r2t, true},
	{hint_first_burst, true}, {hint_immediate, true},
	{hint_segment, true},
};
enum { HINTS = sizeof(hints) / sizeof(hints[0]) };

/* --- lines --- */

static bool says_something(const struct load *l)
{
	return 1 - number_of(l->went, "target") >= worth;
}

/* A blank line before the first. */
static void put_line(const char *head, const char *text, int width,
		     bool *has_begun, FILE *out)
{
	if (!*has_begun)
		fputc('\n', out);
	*has_begun = true;
	text_put_wrapped(out, head, text, width);
}

static void print_line(const struct load *l, int width, bool *has_begun,
		       FILE *out)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%.100s: time went: %.0f %% queued here, %.0f %% waiting for "
		 "R2T, %.0f %% sending, %.0f %% target",
		 l->name, 100 * number_of(l->went, "queued_here"),
		 100 * l->r2t_wait, 100 * number_of(l->went, "sending"),
		 100 * number_of(l->went, "target"));
	put_line("time    ", text, width, has_begun, out);
}

static bool has_writes(const struct load *l)
{
	return l->writes >= 1 && l->writes >= worth * (l->reads + l->writes);
}

static void print_hints(const struct load *l, bool told[HINTS], int width,
			bool *has_begun, FILE *out)
{
	char why[HINT], text[HINT + 128];
	size_t i;

	for (i = 0; i < HINTS; i++) {
		if (told[i] || (hints[i].of_writes && !has_writes(l)) ||
		    !hints[i].holds(l, why))
			continue;
		told[i] = true;
		snprintf(text, sizeof(text), "%.100s: %s", l->name, why);
		put_line("hint    ", text, width, has_begun, out);
	}
}

/* Of a sweep's steps, and of repeats, the last stands for all. */
static bool comes_again(const json_t *rows, size_t at)
{
	const char *name = text_of(json_array_get(rows, at), "name");
	size_t i;

	for (i = at + 1; i < json_array_size(rows); i++)
		if (!strcmp(text_of(json_array_get(rows, i), "name"), name) &&
		    json_object_get(json_array_get(rows, i), "wire"))
			return true;
	return false;
}

void table_print_went(const json_t *document, int width, FILE *out)
{
	const json_t *rows =
		json_object_get(json_object_get(document, "lunbench"), "rows");
	bool told[HINTS] = {false}, has_begun = false;
	size_t i, lines = 0;
	struct load l;

	for (i = 0; i < json_array_size(rows) && lines < LINES_MOST; i++) {
		if (!take(&l, document, json_array_get(rows, i)) ||
		    comes_again(rows, i))
			continue;
		if (says_something(&l)) {
			print_line(&l, width, &has_begun, out);
			lines++;
		}
		print_hints(&l, told, width, &has_begun, out);
	}
}
