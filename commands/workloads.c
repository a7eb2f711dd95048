#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "commands/bench_review.h"
#include "commands/commands.h"
#include "commands/shipped.h"
#include "commands/spelling.h"
#include "workloads/plan.h"

enum { KEY_KEYS = 0x100 };

struct asked {
	bool keys;
	const char *name; /* borrowed from argv; NULL: all */
};

/* A job planned for a LUN that is big enough for any: what it takes by itself,
 * without what a small one would cut. */
struct shown {
	struct jobfile file;
	struct jobset set;
	struct plan plan;
	struct plan_expected expected;
};

static int show(struct shown *s, const char *path, struct err *e)
{
	const struct lun lun = {
		.blocks = 1ULL << 31, .block_bytes = 512, .can_unmap = true};
	size_t i;
	int rc;

	rc = jobfile_read(&s->file, path, e);
	if (!rc)
		rc = jobset_build(&s->set, &s->file, NULL, 0, e);
	if (!rc)
		rc = plan_build(&s->plan, &s->set, &lun, 0, e);
	s->expected.may_end_early = s->plan.until.kind != UNTIL_NONE;
	for (i = 0; !rc && i < s->plan.nr_groups; i++)
		plan_expect(&s->expected, &s->plan.groups[i]);
	return rc;
}

static void release(struct shown *s)
{
	plan_release(&s->plan);
	jobset_release(&s->set);
	jobfile_release(&s->file);
}

/* Of the first job that is measured. */
static const char *description(const struct jobset *set)
{
	size_t i;

	for (i = 0; i < set->nr_jobs; i++)
		if (!set->jobs[i].prepare && set->jobs[i].description)
			return set->jobs[i].description;
	return "";
}

/* "basic" of ".../basic.fio". */
static int name_length(const char *file)
{
	return (int)strlen(file) - 4;
}

/* "56 s", "4 min 35 s + 1 GiB", "by amount: 2 GiB x 6". */
static void format_short(const struct plan_expected *e, char *text, size_t size)
{
	char time[32], bytes[32], times[32] = "";
	size_t n = e->are_alike && e->nr_amounts ? e->nr_amounts : 1;

	units_time(time, sizeof(time), (double)e->ns);
	units_bytes(bytes, sizeof(bytes), e->bytes / n);
	if (n > 1)
		snprintf(times, sizeof(times), " x %zu", n);
	if (!e->nr_amounts)
		snprintf(text, size, "%s%s", e->may_end_early ? "at most " : "",
			 time);
	else if (e->ns)
		snprintf(text, size, "%s + %s%s", time, bytes, times);
	else
		snprintf(text, size, "by amount: %s%s", bytes, times);
}

static int print_line(char *path)
{
	struct shown s = {0};
	struct err e = {0};
	char expected[96];
	const char *file;
	int status = STATUS_OK;

	if (show(&s, path, &e)) {
		status = say_err(&e, STATUS_USAGE);
	} else {
		file = basename(path);
		format_short(&s.expected, expected, sizeof(expected));
		printf("%-12.*s %-21s %s\n", name_length(file), file, expected,
		       description(&s.set));
	}
	release(&s);
	return status;
}

static int print_all(void)
{
	struct err e = {0};
	char **paths;
	size_t nr, i;
	int status = STATUS_OK;

	if (shipped_list(&paths, &nr, &e))
		return say_err(&e, STATUS_TARGET);
	if (!nr) {
		say("\"%s\": no job files there; run make install",
		    LUNBENCH_DATADIR "/workloads");
		status = STATUS_USAGE;
	}
	for (i = 0; i < nr; i++) {
		if (!status)
			status = print_line(paths[i]);
		free(paths[i]);
	}
	free(paths);
	for (const struct bench_review *r = bench_reviews; r->name; r++)
		printf("%-12s %-21s %s\n", r->name, "lunbench bench",
		       r->summary);
	return status;
}

/* The comment that a job file begins with: what it stands for. */
static void print_head(const char *text, FILE *out)
{
	while (*text == '#' || *text == ';') {
		const char *end = strchrnul(text, '\n');

		text += 1 + (text[1] == ' ');
		if (text > end)
			text = end;
		fprintf(out, "%.*s\n", (int)(end - text), text);
		text = *end ? end + 1 : end;
	}
}

static void print_review(const struct bench_review *r)
{
	printf("%s\n\ntests   %s\narrays  %s\n\nTo run it: lunbench bench %s\n",
	       r->summary, r->tests, r->arrays, r->name);
}

static int print_one(const char *name)
{
	const struct bench_review *review = bench_review_find(name);
	struct shown s = {0};
	struct err e = {0};
	char path[PATH_MAX], *text = NULL;
	int status = STATUS_OK;
	size_t len;

	if (review) {
		print_review(review);
		return STATUS_OK;
	}
	if (shipped_resolve(name, path, sizeof(path), &e) ||
	    file_read(path, 4 << 20, &text, &len, &e) || show(&s, path, &e)) {
		status = say_err(&e, STATUS_USAGE);
	} else {
		print_head(text, stdout);
		puts("\nOn a LUN of 1 TiB it would be:\n");
		plan_print(&s.plan, false, stdout);
		printf("\nThe job file is %s\n", path);
	}
	release(&s);
	free(text);
	return status;
}

/* One line a key, tabs between: for people with grep, and for the test that
 * holds the man page to the table. */
static void print_keys(void)
{
	static const char *const kinds[] = {
		[OPTION_WORKS] = "works",
		[OPTION_NOT_APPLICABLE] = "not applicable",
		[OPTION_UNSUPPORTED] = "not supported",
	};
	const struct option_desc *d;

	for (d = options_table(); d->name; d++)
		printf("%s\t%s\t%s\t%s\n", d->name, d->alias ? d->alias : "-",
		       kinds[d->kind], d->help);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct asked *a = state->input;

	switch (key) {
	case KEY_KEYS:
		a->keys = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->name && !a->keys) {
			a->name = arg;
			return 0;
		}
		say("\"%s\": not asked for; usage: lunbench workloads [--keys "
		    "| JOB]",
		    arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_workloads(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"keys", KEY_KEYS, NULL, 0,
		 "the keys of job files instead, and what becomes of each", 0},
		{0},
	};
	struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[JOB]",
		.doc = "Lists the job files that come with lunbench: name, "
		       "what they stand for, expected time. With a JOB: what "
		       "that one stands for, does, and how it departs."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct asked a = {0};

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, &a))
		return STATUS_USAGE;
	if (a.keys)
		print_keys();
	return a.keys ? STATUS_OK : a.name ? print_one(a.name) : print_all();
}
