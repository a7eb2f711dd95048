#include "workloads/plan_say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "workloads/plan_region.h"

enum { WIDTH = 80, TEXT = 48 };

/* A sentence, broken between words. */
void plan_say_wrapped(FILE *out, const char *lead, const char *text)
{
	int indent = (int)strlen(lead), column = indent;

	fputs(lead, out);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + (int)word > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)word, text);
		column += (int)word;
		text += word + strspn(text + word, " ");
	}
	fputc('\n', out);
}

/* --- phrases, comma after comma, broken at the margin --- */

struct line {
	FILE *out;
	int indent; /* of the lines after the first */
	int column;
};

static void begin(struct line *l, FILE *out, const char *lead)
{
	l->out = out;
	l->indent = (int)strlen(lead);
	l->column = 0;
	fputs(lead, out);
}

static void say(struct line *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct line *l, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = (int)strlen(text);
	if (!l->column) {
		l->column = l->indent;
	} else if (l->column + 2 + len > WIDTH) {
		fprintf(l->out, ",\n%*s", l->indent, "");
		l->column = l->indent;
	} else {
		fputs(", ", l->out);
		l->column += 2;
	}
	fputs(text, l->out);
	l->column += len;
}

static void end(struct line *l)
{
	fputc('\n', l->out);
}

/* As asked for: whole seconds without the decimals of a measured time. */
char *plan_say_time(char *buf, size_t size, uint64_t ns)
{
	if (ns < 60 * NS_PER_SEC && ns % NS_PER_SEC == 0)
		snprintf(buf, size, "%u s", (unsigned int)(ns / NS_PER_SEC));
	else
		units_time(buf, size, (double)ns);
	return buf;
}

/* --- what a job does --- */

static bool has_op(const struct job_opts *o, int op)
{
	return (o->ops & OP_BIT(op)) != 0;
}

static bool is_mixed(const struct job_opts *o)
{
	return has_op(o, OP_READ) && has_op(o, OP_WRITE);
}

static int first_op(const struct job_opts *o)
{
	int op = 0;

	while (op < OP_DATA_COUNT - 1 && !has_op(o, op))
		op++;
	return op;
}

static void say_kind(struct line *l, const struct job_opts *o)
{
	const char *order = o->is_random ? "random" : "sequential";

	if (is_mixed(o))
		say(l, "%s mix of %u%% reads and %u%% writes", order,
		    o->rwmixread, 100 - o->rwmixread);
	else
		say(l, "%s %s", order, op_name((enum io_op)first_op(o)));
}

static bool is_same_size(const struct job_opts *o)
{
	return !o->nr_bssplit[OP_READ] && !o->nr_bssplit[OP_WRITE] &&
	       o->bs[OP_READ] == o->bs[OP_WRITE];
}

static void say_sizes_of(struct line *l, const struct job_opts *o, int op,
			 const char *what)
{
	char text[TEXT];
	size_t i;

	if (!o->nr_bssplit[op])
		say(l, "%s%s", units_bytes(text, sizeof(text), o->bs[op]),
		    what);
	for (i = 0; i < o->nr_bssplit[op]; i++)
		say(l, "%s%s %g%%",
		    units_bytes(text, sizeof(text), o->bssplit[op][i].bytes),
		    what, o->bssplit[op][i].percent);
}

static void say_sizes(struct line *l, const struct job_opts *o)
{
	char text[TEXT];
	int op = first_op(o);

	if (is_mixed(o) && !is_same_size(o)) {
		say_sizes_of(l, o, OP_READ, " reads");
		say_sizes_of(l, o, OP_WRITE, " writes");
	} else {
		say_sizes_of(l, o, op, "");
	}
	if (o->is_random && o->blockalign[op])
		say(l, "aligned to %s",
		    units_bytes(text, sizeof(text), o->blockalign[op]));
}

static void say_sequence(struct line *l, const struct job_opts *o)
{
	uint64_t step =
		(uint64_t)(o->step_bytes < 0 ? -o->step_bytes : o->step_bytes);
	char text[TEXT];

	if (o->is_random && o->sequence > 1)
		say(l, "%u in a row", o->sequence);
	if (step)
		say(l,
		    o->step_bytes > 0 ? "each %s after the end of the last"
				      : "each %s before the end of the last",
		    units_bytes(text, sizeof(text), step));
}

static void say_distribution(struct line *l, const struct job_opts *o)
{
	const struct distribution *d = &o->distribution;
	int op = first_op(o);

	if (!o->is_random)
		return;
	if (o->percentage_random[op] < 100)
		say(l, "%u%% of them random", o->percentage_random[op]);
	switch (d->kind) {
	case DIST_RANDOM:
		if (o->norandommap)
			say(l, "blocks may repeat");
		break;
	case DIST_ZIPF:
		say(l, "zipf %g", d->param);
		break;
	case DIST_PARETO:
		say(l, "pareto %g", d->param);
		break;
	case DIST_NORMAL:
		say(l, "normal %g%%", d->param);
		break;
	case DIST_ZONED:
		say(l, "%zu zones", d->nr_zones);
		break;
	}
}

/* How many numbers from @from on go up by the same stride. */
static size_t run_length(const struct job_opts *o, size_t from)
{
	size_t n = from + 1;

	while (n + 1 < o->nr_steps &&
	       o->steps[n + 1] - o->steps[n] ==
		       o->steps[from + 1] - o->steps[from])
		n++;
	return n < o->nr_steps ? n + 1 - from : o->nr_steps - from;
}

/* "1, 4, 8 ... 60" */
static void format_steps(const struct job_opts *o, char *text, size_t size)
{
	size_t i = 0, len = 0, n;

	text[0] = '\0';
	while (i < o->nr_steps && len < size) {
		n = run_length(o, i);
		if (n > 3)
			len += snprintf(text + len, size - len,
					"%s%u, %u ... %u", i ? ", " : "",
					o->steps[i], o->steps[i + 1],
					o->steps[i + n - 1]);
		else
			len += snprintf(text + len, size - len, "%s%u",
					i ? ", " : "", o->steps[i]);
		i += n > 3 ? n : 1;
	}
	if (len >= size)
		strcpy(text + size - 5, " ...");
}

static void say_load(struct line *l, const struct job_opts *o)
{
	char steps[160];

	say(l, "depth %u", o->iodepth);
	if (o->numjobs > 1)
		say(l, "%u clones%s", o->numjobs,
		    o->group_reporting ? " reported together" : "");
	if (o->nr_steps) {
		format_steps(o, steps, sizeof(steps));
		say(l, "%s clients%s in turn", steps,
		    o->numjobs > 1 ? " each" : "");
	} else if (o->clients > 1) {
		say(l, "%u clients%s", o->clients,
		    o->numjobs > 1 ? " each" : "");
	}
}

static void say_rate(struct line *l, const struct job_opts *o)
{
	const char *how = o->rate_process == RATE_POISSON ? " (poisson)" : "";
	char text[TEXT];
	int op;

	for (op = 0; op < OP_DATA_COUNT; op++) {
		const char *each = o->numjobs > 1 ? " a clone" : "";

		if (!has_op(o, op))
			continue;
		if (o->rate[op])
			say(l, "%s at %s%s%s", op_name((enum io_op)op),
			    units_rate(text, sizeof(text), (double)o->rate[op]),
			    each, how);
		if (o->rate_iops[op])
			say(l, "%s at %" PRIu64 " IOPS%s%s",
			    op_name((enum io_op)op), o->rate_iops[op], each,
			    how);
	}
	if (o->thinktime_ns)
		say(l, "pause of %s after every %u I/Os",
		    plan_say_time(text, sizeof(text), o->thinktime_ns),
		    o->thinktime_blocks);
}

static void say_flushes(struct line *l, const struct job_opts *o)
{
	if (!has_op(o, OP_WRITE))
		return;
	if (o->fsync)
		say(l, "flush after every %u writes", o->fsync);
	if (o->fdatasync)
		say(l, "flush after every %u writes", o->fdatasync);
	if (o->end_fsync)
		say(l, "flush at the end");
}

/* --- where, how much, how long --- */

struct span { /* over the clients of one job in one group */
	uint64_t offset_bytes, slice_bytes, clone_bytes;
	uint64_t io_bytes, number_ios; /* UINT64_MAX: without end */
};

static struct span span_of(const struct plan *p, const struct plan_group *g,
			   size_t job)
{
	struct span s = {0};
	bool is_first = true;
	size_t i;

	for (i = g->first_client; i < g->first_client + g->nr_clients; i++) {
		const struct plan_client *c = &p->clients[i];

		if (c->job != job)
			continue;
		if (is_first) {
			s.offset_bytes = c->offset_bytes;
			s.slice_bytes = c->length_bytes;
		}
		if (!c->clone)
			s.clone_bytes += c->length_bytes;
		s.io_bytes = plan_add(s.io_bytes, c->io_bytes);
		s.number_ios = plan_add(s.number_ios, c->number_ios);
		is_first = false;
	}
	return s;
}

static void say_region(struct line *l, const struct plan *p,
		       const struct job_opts *o, const struct span *s)
{
	char size[TEXT], text[TEXT];

	units_bytes(size, sizeof(size), s->clone_bytes);
	if (s->clone_bytes == lun_bytes(&p->lun))
		say(l, "on the whole LUN");
	else if (s->offset_bytes)
		say(l, "on %s from %s", size,
		    units_bytes(text, sizeof(text), s->offset_bytes));
	else
		say(l, "on the first %s", size);
	if (o->numjobs > 1 && o->offset_increment.set) {
		if (o->offset_increment.is_percent)
			say(l, "each clone %g%% of the LUN further on",
			    o->offset_increment.percent);
		else
			say(l, "each clone %s further on",
			    units_bytes(text, sizeof(text),
					o->offset_increment.bytes));
	}
	if (o->workspace_bytes)
		say(l, "%s for each client",
		    units_bytes(text, sizeof(text), s->slice_bytes));
	else if (o->nr_steps)
		say(l, "in equal slices");
	else if (o->clients > 1)
		say(l, "in slices of %s",
		    units_bytes(text, sizeof(text), s->slice_bytes));
}

static void say_end(struct line *l, const struct job_opts *o,
		    const struct span *s)
{
	char text[TEXT];

	if (o->startdelay_ns)
		say(l, "starts after %s",
		    plan_say_time(text, sizeof(text), o->startdelay_ns));
	if (o->ramp_ns)
		say(l, "ramp of %s",
		    plan_say_time(text, sizeof(text), o->ramp_ns));
	if (o->time_based) {
		say(l, "for %s",
		    plan_say_time(text, sizeof(text), o->runtime_ns));
		return;
	}
	say(l, "until %s are done",
	    units_bytes(text, sizeof(text), s->io_bytes));
	if (s->number_ios != UINT64_MAX)
		say(l, "or %" PRIu64 " I/Os", s->number_ios);
	if (o->runtime_ns)
		say(l, "or %s have passed",
		    plan_say_time(text, sizeof(text), o->runtime_ns));
}

static void print_clients(const struct plan *p, const struct plan_group *g,
			  size_t job, FILE *out)
{
	char size[TEXT], offset[TEXT];
	size_t i;

	for (i = g->first_client; i < g->first_client + g->nr_clients; i++) {
		const struct plan_client *c = &p->clients[i];

		if (c->job != job)
			continue;
		fprintf(out, "      client %u.%u: %s at %s, seed %" PRIu64 "\n",
			c->clone, c->number,
			units_bytes(size, sizeof(size), c->length_bytes),
			units_bytes(offset, sizeof(offset), c->offset_bytes),
			c->seed);
	}
}

/* A description in [global] is every job's: once is enough. */
static bool has_new_description(const struct plan *p, size_t job)
{
	const char *text = p->set->jobs[job].description, *before;

	before = job ? p->set->jobs[job - 1].description : NULL;
	return text && (!before || strcmp(text, before) != 0);
}

void plan_say_job(const struct plan *p, const struct plan_group *g,
		  const struct plan_client *c, bool verbose, FILE *out)
{
	struct span s = span_of(p, g, c->job);
	const struct job_opts *o = c->opts;
	struct line l;

	fprintf(out, "  %s%s\n", o->name,
		has_op(o, OP_WRITE) || has_op(o, OP_TRIM)
			? "   *** destroys the data in its region ***"
			: "");
	if (has_new_description(p, c->job))
		plan_say_wrapped(out, "    ", o->description);
	begin(&l, out, "    ");
	say_kind(&l, o);
	say_sizes(&l, o);
	say_sequence(&l, o);
	say_distribution(&l, o);
	say_load(&l, o);
	say_rate(&l, o);
	say_flushes(&l, o);
	end(&l);
	begin(&l, out, "    ");
	say_region(&l, p, o, &s);
	say_end(&l, o, &s);
	end(&l);
	if (verbose)
		print_clients(p, g, c->job, out);
}
