#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/shipped.h"
#include "commands/spelling.h"
#include "report/evidence.h"
#include "report/formats.h"

enum {
	KEY_FORMAT = 0x100,
	KEY_JOB,
	KEY_OP,
	KEY_RESULT,
	KEY_ARRAY,
	KEY_CLIENTS,
	KEY_REPEAT,
	KEY_REFERENCE,
	KEY_BASELINE
};

struct request_report {
	const char *format, *file, *reference, *baseline;
	struct choice { /* NULL and 0: all */
		const char *job, *op, *result, *array;
		uint64_t clients, repeat;
	} only;
	char **paths;
	int nr_paths;
};

static error_t set_number(uint64_t *to, const char *option, const char *arg)
{
	struct err e = {0};

	if (!units_parse_uint(arg, 1, UINT32_MAX, to, &e))
		return 0;
	say("%s: %s", option, e.text);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request_report *r = state->input;

	switch (key) {
	case KEY_FORMAT:
		r->format = arg;
		return 0;
	case KEY_JOB:
		r->only.job = arg;
		return 0;
	case KEY_OP:
		r->only.op = arg;
		return 0;
	case KEY_RESULT:
		r->only.result = arg;
		return 0;
	case KEY_ARRAY:
		r->only.array = arg;
		return 0;
	case KEY_CLIENTS:
		return set_number(&r->only.clients, "--clients", arg);
	case KEY_REPEAT:
		return set_number(&r->only.repeat, "--repeat", arg);
	case KEY_REFERENCE:
		r->reference = arg;
		return 0;
	case KEY_BASELINE:
		r->baseline = arg;
		return 0;
	case 'o':
		r->file = arg;
		return 0;
	case ARGP_KEY_ARGS:
		r->paths = state->argv + state->next;
		r->nr_paths = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"format", KEY_FORMAT, "NAME", 0,
	 "text (default), csv, html, junit, openmetrics, hgrm or png", 0},
	{"output", 'o', "FILE", 0, "write to FILE, not to standard output", 0},
	{"job", KEY_JOB, "NAME", 0,
	 "only rows of that name (not in text, junit)", 0},
	{"op", KEY_OP, "OP", 0,
	 "only read, write, trim or flush (not in text, junit)", 0},
	{"result", KEY_RESULT, "FILE", 0,
	 "only of the result whose path is FILE, or ends in it (not in text, "
	 "junit)",
	 0},
	{"array", KEY_ARRAY, "KIND", 0,
	 "only of that array (not in text, junit)", 0},
	{"clients", KEY_CLIENTS, "N", 0,
	 "only that step of sweeps (not in text, junit)", 0},
	{"repeat", KEY_REPEAT, "N", 0,
	 "only that repeat within a result (not in text, junit)", 0},
	{"reference", KEY_REFERENCE, "NAME", 0,
	 "text and html: also beside published figures (see compare)", 0},
	{"baseline", KEY_BASELINE, "FILE", 0,
	 "what limited each row, judged with what `lunbench baseline` measured",
	 0},
	{0},
};

/* "raid5/cdm.json" is the end of "set/raid5/cdm.json". */
static bool is_end_of(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end) &&
	       (n == m || *end == '/' || path[n - m - 1] == '/');
}

static bool is_wanted(const struct choice *c, const struct point *p)
{
	return (!c->job || !strcmp(c->job, p->name)) &&
	       (!c->op || !strcmp(c->op, op_name(p->op))) &&
	       (!c->result || is_end_of(p->file->path, c->result)) &&
	       (!c->array || !strcmp(c->array, p->array)) &&
	       (!c->clients || c->clients == p->step) &&
	       (!c->repeat || c->repeat == p->repeat);
}

static int nothing_chosen(const struct set *s, const struct choice *c,
			  struct err *e)
{
	char clients[48] = "", repeat[48] = "";

	if (c->clients)
		snprintf(clients, sizeof(clients), " in a step of %llu clients",
			 (unsigned long long)c->clients);
	if (c->repeat)
		snprintf(repeat, sizeof(repeat), " in repeat %llu",
			 (unsigned long long)c->repeat);
	return err_set(
		e, -ENOENT, "\"%s\" has no %s%s%s%s%s%s%s%s%s%s", s->name,
		c->job ? "row of the name " : "I/O", c->job ? c->job : "",
		c->op ? c->job ? " with " : " of the op " : "",
		c->op ? c->op : "", clients, repeat,
		c->array ? " on the array " : "", c->array ? c->array : "",
		c->result ? " in a result " : "", c->result ? c->result : "");
}

/* Leaves the points that are asked for. */
static int choose(struct set *s, const struct choice *c, struct err *e)
{
	bool is_choice = c->job || c->op || c->result || c->array ||
			 c->clients || c->repeat;
	size_t i, n = 0;

	for (i = 0; i < s->nr_points; i++)
		if (is_wanted(c, &s->points[i]))
			s->points[n++] = s->points[i];
	s->nr_points = n;
	return n || !is_choice ? 0 : nothing_chosen(s, c, e);
}

static int write_out(const struct request_report *r, const char *text,
		     size_t size, struct err *e)
{
	if (r->file)
		return file_write_atomic(r->file, text, size, e);
	if (fwrite(text, 1, size, stdout) != size || fflush(stdout))
		return err_set(e, -EIO, "stdout: %s", strerror(errno));
	return 0;
}

static int report(const struct set *s, const struct comparison *beside,
		  const struct format *f, const struct request_report *r,
		  struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return err_set(e, -ENOMEM, "no memory for the report");
	err = f->write(s, beside, out, e);
	if (fclose(out) && !err)
		err = err_set(e, -ENOMEM, "no memory for the report");
	if (!err)
		err = write_out(r, text, size, e);
	free(text);
	return err;
}

/* See struct format. */
static bool is_usage(int code)
{
	return code == -EINVAL || code == -ENODATA || code == -EOPNOTSUPP;
}

/* Judges every row again. */
static int apply_baseline(const struct set *s, const char *path, struct err *e)
{
	struct put p = {false};
	struct baseline b;
	size_t i, fitting = 0;
	int err = baseline_read(&b, path, e);

	for (i = 0; !err && i < s->nr_files; i++)
		fitting += evidence_put(&p, s->files[i].doc, &b);
	if (!err && p.failed)
		err = err_set(e, -ENOMEM, "no memory for the report");
	if (!err && !fitting)
		say("--baseline: \"%s\" is of %s, blocks of %llu bytes, "
		    "depth %llu, and no row is",
		    path, b.rw, (unsigned long long)b.block_bytes,
		    (unsigned long long)b.iodepth);
	return err;
}

static int read_all(struct set *s, const struct request_report *r,
		    struct err *e)
{
	int i, err = 0;

	for (i = 0; i < r->nr_paths && !err; i++)
		err = set_add(s, r->paths[i], e);
	if (!err && r->baseline)
		err = apply_baseline(s, r->baseline, e);
	return err ? err : choose(s, &r->only, e);
}

/* Copies are read beside the review that they are from, in forms for people
 * that have the room. */
static const char *usual_reference(const struct set *s, const struct format *f)
{
	size_t i;

	for (i = 0; f == &format_html && i < s->nr_points; i++)
		if (!strcmp(s->points[i].view, "copy"))
			return "nas-2014";
	return NULL;
}

/* The same beside published figures, where these are asked for. */
static int report_beside(const struct set *s, const struct format *f,
			 const struct request_report *r, struct err *e)
{
	const struct compare_opts o = {.max_regress = -1, .protocol = "iscsi"};
	const char *name = r->reference ? r->reference : usual_reference(s, f);
	struct reference reference;
	struct comparison c = {0};
	char path[PATH_MAX + 300];
	int err;

	if (!name)
		return report(s, NULL, f, r, e);
	if (shipped_reference(name, path, sizeof(path), e) ||
	    reference_read(&reference, path, e))
		return e->code = -EINVAL;
	err = compare_reference(&c, &reference, s, &o, e);
	if (err == -ENOENT && !r->reference) /* copies on other volumes */
		err = report(s, NULL, f, r, e);
	else if (!err)
		err = report(s, &c, f, r, e);
	else if (err == -ENOENT)
		e->code = err = -EINVAL;
	comparison_release(&c);
	reference_release(&reference);
	return err;
}

int command_report(int argc, char **argv)
{
	struct request_report r = {.format = "text"};
	struct argp argp = {.options = options,
			    .parser = parse,
			    .args_doc = "SET|FILE...",
			    .doc = "Reports results, or folders of them: as "
				   "text, as a page, or for other programs."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	const struct format *f;
	struct set s = {0};
	struct err e = {0};
	int status = STATUS_OK;
	size_t i;

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, &r))
		return STATUS_USAGE;
	if (format_find(&f, r.format, &e))
		return say_err(&e, STATUS_USAGE);
	if (!r.nr_paths) {
		say("which result? usage: lunbench report SET|FILE...");
		return STATUS_USAGE;
	}
	if (f->is_binary && !r.file && isatty(STDOUT_FILENO)) {
		say("\"%s\" is no text; name a file with -o", f->name);
		return STATUS_USAGE;
	}
	if (read_all(&s, &r, &e))
		status = say_err(&e, STATUS_USAGE);
	else if (report_beside(&s, f, &r, &e))
		status = say_err(&e, is_usage(e.code) ? STATUS_USAGE
						      : STATUS_TARGET);
	for (i = 0; i < s.nr_warnings && f != &format_text; i++)
		say("left out: %s", s.warnings[i]);
	set_release(&s);
	return status;
}
