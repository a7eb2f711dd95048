#include "commands/bench_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "commands/bench_child.h"
#include "commands/bench_progress.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "commands/signals.h"
#include "report/result.h"
#include "report/table.h"

/* A signal between the look at it and the wait is seen that late. */
enum { TICK_MS = 200, NOTES_MAX = 32 };

struct pool {
	struct bench_set *set;
	struct bench_child *children; /* owned */
	size_t nr;
	struct bench_progress progress;
	char *notes[NOTES_MAX]; /* owned; what was said */
	size_t nr_notes;
	int told; /* signals that the children know of */
	bool is_full;
};

/* --- what a run says --- */

/* Every guest says the same; once is enough. */
static void on_note(void *user, const struct bench_run *r, const char *text)
{
	struct pool *p = user;

	for (size_t i = 0; i < p->nr_notes; i++)
		if (!strcmp(p->notes[i], text))
			return;
	if (p->nr_notes == NOTES_MAX)
		return;
	p->notes[p->nr_notes] = strdup(text);
	if (!p->notes[p->nr_notes])
		return;
	p->nr_notes++;
	bench_progress_clear(&p->progress);
	say("%s: %s", r->name, text);
}

/* --- what a run leaves --- */

/* The place of its result: one file of the set, or what the request says. */
static int open_output(const struct bench_set *s, const struct bench_run *r,
		       struct output *o)
{
	const struct request file = {.file = r->path};
	char folder[PATH_MAX];
	struct err e = {0};

	memset(o, 0, sizeof(*o));
	if (!s->folder[0])
		return output_open(o, &s->bench->request, r->test->name);
	snprintf(folder, sizeof(folder), "%.*s",
		 (int)(strrchr(r->path, '/') - r->path), r->path);
	if (file_make_dirs(folder, 0777, &e))
		return say_err(&e, STATUS_TARGET);
	return output_open(o, &file, r->test->name);
}

static void fail_run(struct bench_run *r, int status, const char *why)
{
	r->state = BENCH_FAILED;
	r->status = status;
	snprintf(r->error, sizeof(r->error), "%s", why);
	err_make_printable(r->error);
}

/* A result that was cut short is kept, too, though the run is not done. */
static int keep_result(struct pool *p, const struct bench_child *c)
{
	struct output o;
	struct err e = {0};
	json_t *doc =
		c->len ? result_parse(c->run->name, c->doc, c->len, &e) : NULL;
	int status;

	if (!doc)
		return c->len ? say_err(&e, STATUS_TARGET) : STATUS_TARGET;
	status = open_output(p->set, c->run, &o);
	/* The disk may have become full meanwhile: then it goes elsewhere. */
	status = output_write(&o, doc) || status ? STATUS_TARGET : STATUS_OK;
	p->is_full = p->is_full || status;
	if (!p->set->folder[0] && !p->set->bench->request.json) {
		table_print(doc, 0, stdout);
		printf("result: %s\n", o.path);
	}
	json_decref(doc);
	return status;
}

static void save(struct pool *p)
{
	struct err e = {0};

	if (!bench_set_save(p->set, &e))
		return;
	p->is_full = true;
	say_err(&e, STATUS_TARGET);
}

static void finish(struct pool *p, struct bench_child *c, int status)
{
	struct bench_run *r = c->run;
	char text[128];
	int kept;

	bench_progress_clear(&p->progress);
	kept = keep_result(p, c);
	if (!status && !kept)
		r->state = BENCH_DONE;
	else if (status == STATUS_INTERRUPTED && signals_seen)
		r->status = status;
	else
		fail_run(r, status ? status : kept,
			 c->said[0] ? c->said
			 : c->len   ? "its result could not be kept in the set"
				    : "it said nothing");
	bench_child_release(c);
	if (r->state == BENCH_FAILED)
		say("%s failed: %s", r->name, r->error);
	save(p);
	if (r->state == BENCH_DONE && p->set->nr_runs > 1 &&
	    !p->progress.is_quiet)
		fprintf(stderr, "%s is done; %s\n", r->name,
			bench_progress_text(&p->progress, text, sizeof(text)));
}

/* --- all of them --- */

static struct bench_run *next_waiting(struct pool *p, size_t *from)
{
	struct bench_set *s = p->set;

	while (*from < s->nr_runs && s->runs[*from].state != BENCH_WAITING)
		++*from;
	return *from < s->nr_runs ? &s->runs[(*from)++] : NULL;
}

static bool may_start(const struct pool *p)
{
	return !signals_seen && !p->is_full;
}

static void start(struct pool *p, struct bench_child *c, struct bench_run *r)
{
	struct err e = {0};
	struct output o;

	/* Not even a file of a few KiB: no run would be kept. */
	if (open_output(p->set, r, &o)) {
		p->is_full = true;
		return;
	}
	if (!bench_child_start(c, p->set, r, &e))
		return;
	fail_run(r, STATUS_TARGET, e.text);
	say("%s failed: %s", r->name, r->error);
}

static void pass_signals(struct pool *p)
{
	for (; p->told < signals_seen; p->told++)
		for (size_t i = 0; i < p->nr; i++)
			if (p->children[i].run)
				feed_signal(&p->children[i].feed, SIGINT);
}

static size_t look(struct pool *p)
{
	size_t running = 0;
	int status;

	for (size_t i = 0; i < p->nr; i++) {
		struct bench_child *c = &p->children[i];

		if (c->run && bench_child_read(c, on_note, p, &status))
			finish(p, c, status);
		running += c->run != NULL;
	}
	return running;
}

static void run_all(struct pool *p)
{
	struct feed *feeds[64];
	struct bench_run *r = NULL;
	size_t next = 0, running;

	for (size_t i = 0; i < p->nr; i++)
		feeds[i] = &p->children[i].feed;
	do {
		for (size_t i = 0; i < p->nr && may_start(p); i++)
			if (!p->children[i].run && (r = next_waiting(p, &next)))
				start(p, &p->children[i], r);
		feed_wait(feeds, p->nr, TICK_MS);
		pass_signals(p);
		running = look(p);
		bench_progress_show(&p->progress);
	} while (running || (may_start(p) && next < p->set->nr_runs));
	bench_progress_clear(&p->progress);
}

/* What all agree on, if none has a result; else that some failed. */
static int status_of(const struct pool *p)
{
	const struct bench_set *s = p->set;
	int status = STATUS_OK;
	bool has_done = false;

	if (signals_seen)
		return STATUS_INTERRUPTED;
	for (size_t i = 0; i < s->nr_runs; i++) {
		const struct bench_run *r = &s->runs[i];

		has_done = has_done || r->state == BENCH_DONE;
		if (r->state != BENCH_FAILED)
			continue;
		status = !status || status == r->status ? r->status
							: STATUS_TARGET;
	}
	if (p->is_full || (status && has_done))
		return STATUS_TARGET;
	return status;
}

int bench_pool(struct bench_set *s)
{
	struct pool p = {.set = s, .nr = s->bench->jobs ? s->bench->jobs : 1};
	int status;

	p.children = calloc(p.nr, sizeof(*p.children));
	if (!p.children) {
		say("out of memory");
		return STATUS_TARGET;
	}
	bench_progress_init(&p.progress, s, p.children, p.nr);
	save(&p);
	if (!p.is_full)
		run_all(&p);
	status = status_of(&p);
	for (size_t i = 0; i < p.nr_notes; i++)
		free(p.notes[i]);
	free(p.children);
	return status;
}
