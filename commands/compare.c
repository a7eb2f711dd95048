#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "commands/commands.h"
#include "commands/shipped.h"
#include "commands/spelling.h"
#include "report/compare.h"

enum {
	KEY_MAX_REGRESS = 0x100,
	KEY_METRIC,
	KEY_JUNIT,
	KEY_REFERENCE,
	KEY_PROTOCOL,
	KEY_FORCE
};

struct request_compare {
	struct compare_opts opts;
	const char *junit, *reference;
	char **sets;
	int nr_sets;
};

/* "5%" and "5" are both percent: a share would be a gate that none passes. */
static int parse_percent(const char *text, double *share)
{
	char *end;
	double v = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !isfinite(v) || v < 0 || v > 1000) {
		say("\"%s\": --max-regress takes percent: 5%%", text);
		return EINVAL;
	}
	*share = v / 100;
	return 0;
}

static int parse_metrics(const char *text, unsigned int *set)
{
	char *list = strdup(text), *rest = list, *name;
	int m, status = list ? 0 : ENOMEM;

	*set = 0;
	while (!status && (name = strsep(&rest, ","))) {
		for (m = 0; m < METRICS; m++)
			if (!strcmp(name, metrics[m].name))
				break;
		if (m == METRICS) {
			say("\"%s\": no such metric; there are: mb_s, iops, "
			    "mean, p99",
			    name);
			status = EINVAL;
		}
		*set |= 1U << m;
	}
	free(list);
	return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request_compare *r = state->input;

	switch (key) {
	case KEY_MAX_REGRESS:
		return parse_percent(arg, &r->opts.max_regress);
	case KEY_METRIC:
		return parse_metrics(arg, &r->opts.metrics);
	case KEY_JUNIT:
		r->junit = arg;
		return 0;
	case KEY_REFERENCE:
		r->reference = arg;
		return 0;
	case KEY_PROTOCOL:
		r->opts.protocol = arg;
		return 0;
	case KEY_FORCE:
		r->opts.force = true;
		return 0;
	case ARGP_KEY_ARGS:
		r->sets = state->argv + state->next;
		r->nr_sets = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"max-regress", KEY_MAX_REGRESS, "P%", 0,
	 "exit with 1 if a figure is shown to be worse by more than this, or "
	 "is gone",
	 0},
	{"metric", KEY_METRIC, "LIST", 0,
	 "some of mb_s,iops,mean,p99 (default: all)", 0},
	{"junit", KEY_JUNIT, "FILE", 0, "also as JUnit XML", 0},
	{"reference", KEY_REFERENCE, "NAME", 0,
	 "against published figures: a shipped table (nas-2014) or a CSV file",
	 0},
	{"protocol", KEY_PROTOCOL, "NAME", 0,
	 "which figures of the table (default: iscsi)", 0},
	{"force", KEY_FORCE, NULL, 0,
	 "compare runs of different plans all the same", 0},
	{0},
};

/* --- comparing --- */

struct work {
	struct set *sets;
	struct comparison *list;
	size_t nr_list;
	struct reference reference;
};

static int read_sets(struct work *w, const struct request_compare *r,
		     struct err *e)
{
	int i, err = 0;

	w->sets = calloc(r->nr_sets + 1, sizeof(*w->sets));
	w->list = calloc(r->nr_sets + 1, sizeof(*w->list));
	if (!w->sets || !w->list)
		return err_set(e, -ENOMEM, "no memory to compare");
	for (i = 0; i < r->nr_sets && !err; i++)
		err = set_read(&w->sets[i], r->sets[i], e);
	return err;
}

static int compare_all(struct work *w, const struct request_compare *r,
		       struct err *e)
{
	char path[PATH_MAX + 300];
	int i, err = 0;

	if (r->reference) {
		err = shipped_reference(r->reference, path, sizeof(path), e);
		if (!err)
			err = reference_read(&w->reference, path, e);
		for (i = 0; i < r->nr_sets && !err; i++)
			err = compare_reference(&w->list[w->nr_list++],
						&w->reference, &w->sets[i],
						&r->opts, e);
		return err;
	}
	for (i = 1; i < r->nr_sets && !err; i++)
		err = compare_sets(&w->list[w->nr_list++], &w->sets[0],
				   &w->sets[i], &r->opts, e);
	return err;
}

static int write_junit(const struct work *w, const char *path, struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return err_set(e, -ENOMEM, "no memory for \"%s\"", path);
	compare_put_junit(w->list, w->nr_list, out);
	err = fclose(out) ? err_set(e, -ENOMEM, "no memory for \"%s\"", path)
			  : file_write_atomic(path, text, size, e);
	free(text);
	return err;
}

static int finish(const struct work *w, const struct request_compare *r)
{
	int status = STATUS_OK;
	struct err e = {0};
	size_t i;

	for (i = 0; i < w->nr_list; i++) {
		if (i)
			putchar('\n');
		compare_print(&w->list[i], stdout);
		if (comparison_failures(&w->list[i]))
			status = STATUS_GATE;
	}
	if (r->junit && write_junit(w, r->junit, &e))
		return say_err(&e, STATUS_TARGET);
	if (fflush(stdout)) {
		say("stdout: %s", strerror(errno));
		return STATUS_TARGET;
	}
	return status;
}

static void release(struct work *w, int nr_sets)
{
	int i;

	for (i = 0; w->list && i < nr_sets; i++)
		comparison_release(&w->list[i]);
	for (i = 0; w->sets && i < nr_sets; i++)
		set_release(&w->sets[i]);
	reference_release(&w->reference);
	free(w->list);
	free(w->sets);
}

int command_compare(int argc, char **argv)
{
	struct request_compare r = {.opts = {.metrics = (1U << METRICS) - 1,
					     .max_regress = -1,
					     .protocol = "iscsi"}};
	struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "A B...",
		.doc = "Compares results, or folders of them, with the first: "
		       "per job, operation and metric the ratio with its 95 % "
		       "interval and a verdict."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct work w = {0};
	struct err e = {0};
	int status;

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, &r))
		return STATUS_USAGE;
	if (r.nr_sets < (r.reference ? 1 : 2)) {
		say("name two results or folders, A and B, or one and "
		    "--reference; usage: lunbench compare A B...");
		return STATUS_USAGE;
	}
	if (read_sets(&w, &r, &e) || compare_all(&w, &r, &e))
		status = say_err(&e, STATUS_USAGE);
	else
		status = finish(&w, &r);
	release(&w, r.nr_sets);
	return status;
}
