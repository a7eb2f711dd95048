#include "commands/bench_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/bench_pool.h"
#include "commands/bench_review.h"
#include "commands/commands.h"
#include "commands/signals.h"
#include "report/across.h"
#include "report/table.h"

bool bench_is_set(const struct bench *b)
{
	return bench_review_find(b->request.job) || b->resume ||
	       b->is_virtual || b->where == WHERE_LAB || b->jobs ||
	       (b->arrays && (strchr(b->arrays, ',') || b->repeats));
}

static unsigned int terminal_width(void)
{
	struct winsize w = {0};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) ? 0 : w.ws_col;
}

/* Only what this set made: its folder may hold more. */
static int read_results(const struct bench_set *s, struct set *results,
			struct err *e)
{
	int err = 0;

	memset(results, 0, sizeof(*results));
	for (size_t i = 0; i < s->nr_runs && !err; i++)
		if (s->runs[i].state == BENCH_DONE)
			err = set_add(results, s->runs[i].path, e);
	return err;
}

static int show(const struct bench_set *s)
{
	struct set results;
	struct err e = {0};
	int status = STATUS_OK;

	if (read_results(s, &results, &e))
		status = say_err(&e, STATUS_TARGET);
	else if (s->nr_runs == 1 && results.nr_files)
		table_print(results.files[0].doc, terminal_width(), stdout);
	else if (results.nr_files)
		across_print(&results, s->arrays, s->nr_arrays,
			     terminal_width(), stdout);
	if (results.nr_files)
		printf("results: %s/\n", s->folder);
	set_release(&results);
	return status;
}

static void say_what_is_left(const struct bench_set *s)
{
	size_t left = 0;

	for (size_t i = 0; i < s->nr_runs; i++)
		left += s->runs[i].state != BENCH_DONE;
	if (!left)
		return;
	say("%s%swhat is done is in \"%s\", %zu of %zu runs are not; go on "
	    "with: lunbench bench --resume %s",
	    signals_seen ? "interrupted; " : "",
	    signals_seen && s->in_lab
		    ? "what ran in the lab is lost with its guest; "
		    : "",
	    s->folder, left, s->nr_runs, s->folder);
}

/* A new one in a place of its own: what was measured is not written over. */
static int check_folder(const struct bench_set *s)
{
	for (size_t i = 0; i < s->nr_runs && s->folder[0]; i++)
		if (!access(s->runs[i].path, F_OK)) {
			say("\"%s\" is there already: name another folder with "
			    "--out, or go on with that set: --resume %s",
			    s->runs[i].path, s->folder);
			return STATUS_USAGE;
		}
	return STATUS_OK;
}

static int run(struct bench_set *s, struct bench *b, const json_t *record)
{
	struct err e = {0};
	int status = bench_set_make(s, b, record), shown;

	if (status)
		return status;
	if (record && bench_set_take(s, record, &e))
		return say_err(&e, STATUS_USAGE);
	if (!record)
		status = check_folder(s);
	if (status)
		return status;
	status = bench_pool(s);
	if (!s->folder[0])
		return status;
	shown = show(s);
	say_what_is_left(s);
	return status ? status : shown;
}

int bench_set(struct bench *b)
{
	struct bench_set *s = calloc(1, sizeof(*s));
	json_t *record = NULL;
	char **words = NULL;
	int status = STATUS_OK;

	if (!s) {
		say("out of memory");
		return STATUS_TARGET;
	}
	if (b->resume)
		status = bench_resume(b, &record, &words);
	if (!status)
		status = run(s, b, record);
	bench_set_release(s);
	free(s);
	/* Before the words that it borrows. */
	bench_release(b);
	free(words);
	json_decref(record);
	return status;
}
