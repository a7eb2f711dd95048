#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "workloads/plan_region.h"
#include "workloads/plan_say.h"

enum { TEXT = 48 };

/* --- time --- */

void plan_expect(struct plan_expected *e, const struct plan_group *g)
{
	if (g->expected_ns != UINT64_MAX) {
		e->ns = plan_add(e->ns, g->expected_ns);
		e->may_end_early |= g->may_end_early;
		return;
	}
	e->are_alike =
		!e->nr_amounts ||
		(e->are_alike && e->bytes / e->nr_amounts == g->amount_bytes);
	e->nr_amounts++;
	e->bytes = plan_add(e->bytes, g->amount_bytes);
}

char *plan_format_expected(const struct plan_expected *e, char *text,
			   size_t size)
{
	char bytes[TEXT], time[TEXT], times[TEXT] = "";
	size_t n = e->are_alike && e->nr_amounts ? e->nr_amounts : 1, len = 0;

	text[0] = '\0';
	if (e->ns)
		len = snprintf(text, size, "%s %s%s",
			       e->may_end_early ? "at most" : "about",
			       plan_say_time(time, sizeof(time), e->ns),
			       e->nr_amounts ? ", and " : "");
	if (n > 1)
		snprintf(times, sizeof(times), "%zu x ", n);
	if (e->nr_amounts && len < size)
		snprintf(text + len, size - len, "%s%s without a time limit",
			 times,
			 units_bytes(bytes, sizeof(bytes), e->bytes / n));
	return text;
}

/* --- parts: groups of the job file, with all their steps and repeats --- */

struct part {
	const struct plan_group *shown; /* its step with the most clients */
	size_t nr_groups, nr_steps;
	struct plan_expected expected;
};

static struct part part_of(const struct plan *p, size_t part)
{
	struct part s = {0};
	size_t i;

	for (i = 0; i < p->nr_groups; i++) {
		const struct plan_group *g = &p->groups[i];
		size_t row = p->clients[g->first_client].row;

		if (g->part != part)
			continue;
		s.nr_groups++;
		plan_expect(&s.expected, g);
		if (p->rows[row].repeat > 1)
			continue;
		s.nr_steps++;
		s.shown = g;
	}
	return s;
}

static void print_heading(const struct plan *p, size_t part,
			  const struct part *s, FILE *out)
{
	size_t repeats = s->nr_groups / s->nr_steps;
	bool may_be_less = p->until.kind != UNTIL_NONE &&
			   repeats == p->nr_passes && repeats > 1;
	char text[3 * TEXT];

	if (p->nr_groups == 1) {
		fputs("\nJobs\n", out);
		return;
	}
	fprintf(out, "\nGroup %zu of %zu: ", part + 1, p->nr_parts);
	if (s->nr_steps > 1)
		fprintf(out, "%zu steps, ", s->nr_steps);
	if (repeats > 1)
		fprintf(out, "%s%zu times%s, ", may_be_less ? "up to " : "",
			repeats, s->nr_steps > 1 ? " each" : "");
	fprintf(out, "%s%s\n",
		plan_format_expected(&s->expected, text, sizeof(text)),
		s->nr_groups > 1 && !s->expected.nr_amounts ? " in all" : "");
}

static void print_part(const struct plan *p, size_t part, bool verbose,
		       FILE *out)
{
	struct part s = part_of(p, part);
	size_t i, first = s.shown->first_client;

	print_heading(p, part, &s, out);
	for (i = first; i < first + s.shown->nr_clients; i++)
		if (i == first || p->clients[i].job != p->clients[i - 1].job)
			plan_say_job(p, s.shown, &p->clients[i], verbose, out);
}

static void print_passes(const struct plan *p, FILE *out)
{
	char text[160];

	char most[32] = "";

	if (p->nr_passes < 2)
		return;
	if (p->min_passes < p->nr_passes)
		snprintf(most, sizeof(most), "%u to ", p->min_passes);
	fputc('\n', out);
	switch (p->until.kind) {
	case UNTIL_NONE:
		snprintf(text, sizeof(text),
			 "%u: all groups in turn, and then again",
			 p->nr_passes);
		break;
	case UNTIL_CI:
		snprintf(text, sizeof(text),
			 "%s%u: until the 95 %% interval of every mean is "
			 "within %g %% of it",
			 most, p->nr_passes, p->until.percent);
		break;
	case UNTIL_STEADY:
		snprintf(text, sizeof(text),
			 "%s%u: until the last %u are steady by SNIA's two "
			 "rules",
			 most, p->nr_passes, p->min_passes);
		break;
	}
	plan_say_wrapped(out, "Passes  ", text);
}

/* --- the whole --- */

static void print_lun(const struct lun *l, FILE *out)
{
	char text[3 * TEXT];

	fprintf(out, "LUN   %s in %" PRIu64 " blocks of %u bytes",
		units_bytes(text, sizeof(text), lun_bytes(l)), l->blocks,
		l->block_bytes);
	if (*l->vendor || *l->product)
		fprintf(out, ", %s%s%s", l->vendor,
			*l->vendor && *l->product ? " " : "", l->product);
	fputc('\n', out);
}

static void print_total(const struct plan *p, FILE *out)
{
	struct plan_expected all = {.may_end_early =
					    p->until.kind != UNTIL_NONE};
	char text[3 * TEXT];
	size_t g;

	for (g = 0; g < p->nr_groups; g++)
		plan_expect(&all, &p->groups[g]);
	fprintf(out, "%sTime  %s\n", p->nr_passes > 1 ? "" : "\n",
		plan_format_expected(&all, text, sizeof(text)));
}

static void print_list(const char *title, char *const *list, size_t nr,
		       FILE *out)
{
	size_t i;

	if (nr)
		fprintf(out, "\n%s\n", title);
	for (i = 0; i < nr; i++)
		plan_say_wrapped(out, "  ", list[i]);
}

void plan_print(const struct plan *p, bool verbose, FILE *out)
{
	const struct jobset *set = p->set;
	size_t part;

	print_lun(&p->lun, out);
	fprintf(out, "Seed  %" PRIu64 "\n", p->seed);
	for (part = 0; part < p->nr_parts; part++)
		print_part(p, part, verbose, out);
	print_passes(p, out);
	print_total(p, out);
	print_list("Not applicable to a LUN, passed over", set->not_applicable,
		   set->nr_not_applicable, out);
	print_list("How it departs from what it stands for", set->departs,
		   set->nr_departs, out);
	print_list("Warnings", set->warnings, set->nr_warnings, out);
	print_list("Notes", p->notes, p->nr_notes, out);
}
