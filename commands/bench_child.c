#include "commands/bench_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOC_BYTES_MAX ((size_t)256 << 20)

enum { WORDS_MAX = 64 };

/* --- its command line --- */

struct words {
	const char **word; /* owned */
	size_t nr;
};

static void add(struct words *w, const char *word)
{
	w->word[w->nr++] = word;
}

static void add_option(struct words *w, const char *option, const char *value)
{
	if (!value)
		return;
	add(w, option);
	add(w, value);
}

static void add_lab(struct words *w, const struct bench_set *s, char *clock,
		    size_t size)
{
	const struct bench *b = s->bench;

	add(w, "lab");
	add(w, "exec");
	if (b->is_virtual) {
		snprintf(clock, size, "--virtual-time%s%s", b->mips ? "=" : "",
			 b->mips ? b->mips : "");
		add(w, clock);
	} else if (b->jobs > 1) {
		add_option(w, "--cpus", "1");
	}
	add_option(w, "--memory", s->memory);
	add_option(w, "--timeout", b->timeout);
	add(w, "--");
	add(w, "lunbench");
}

/* What it is comes first: behind a "--" of the user's nothing is an option. */
static void add_bench(struct words *w, const struct bench_set *s,
		      const struct bench_run *r, char *seed, size_t size)
{
	const struct bench *b = s->bench;

	add(w, "bench");
	add_option(w, "--where", "host");
	add_option(w, "--array", r->array);
	if (*s->members && !*b->target.array.members)
		add_option(w, "--members", s->members);
	/* Before the user's own, which wins. */
	add_option(w, "--fit", *s->fit && r->test->adapts ? s->fit : NULL);
	/* In virtual time repeats of one seed would be one run, copied. */
	snprintf(seed, size, "%u", r->repeat);
	add_option(w, "--seed",
		   r->repeat > 1 && !b->request.seed ? seed : NULL);
	add_option(w, "--output-format", "json");
	/* Always the same: in virtual time these lines cost some of it. */
	add_option(w, "--progress", "1");
	if (r->test->job)
		add(w, r->test->job);
	for (int i = 1; i < b->argc; i++)
		if (!b->request.set_aside[i])
			add(w, b->argv[i]);
}

int bench_child_start(struct bench_child *c, const struct bench_set *s,
		      struct bench_run *r, struct err *e)
{
	struct words w = {0};
	char clock[64], seed[16];
	int err;

	memset(c, 0, sizeof(*c));
	strcpy(c->doing, "starts");
	w.word = calloc(s->bench->argc + WORDS_MAX, sizeof(*w.word));
	if (!w.word)
		return err_set(e, -ENOMEM, "no memory for a command line");
	add(&w, "/proc/self/exe");
	if (s->in_lab)
		add_lab(&w, s, clock, sizeof(clock));
	add_bench(&w, s, r, seed, sizeof(seed));
	err = feed_start(&c->feed, w.word, e);
	free(w.word);
	if (!err)
		c->run = r;
	return err;
}

/* --- what it says --- */

struct listener {
	struct bench_child *c;
	bench_note *on_note;
	void *user;
};

static void take_out(void *user, const char *data, size_t len)
{
	struct bench_child *c = ((struct listener *)user)->c;
	size_t room = c->room ? c->room : 1 << 16;
	char *more;

	while (room < c->len + len + 1)
		room *= 2;
	if (room != c->room) {
		more = room > DOC_BYTES_MAX ? NULL : realloc(c->doc, room);
		c->has_no_memory = c->has_no_memory || !more;
		if (!more)
			return;
		c->doc = more;
		c->room = room;
	}
	memcpy(c->doc + c->len, data, len);
	c->len += len;
	c->doc[c->len] = '\0';
}

/* Its last sentence, once another or figures have come: till then it may be why
 * it fails, which is told at its end. */
static void pass_on(struct listener *l)
{
	struct bench_child *c = l->c;

	if (c->said[0] && !c->is_passed_on)
		l->on_note(l->user, c->run, c->said);
	c->is_passed_on = true;
}

static void take_sentence(struct listener *l, const char *text)
{
	struct bench_child *c = l->c;

	/* The lab's last word, on how long it took, is no reason. */
	if (!strncmp(text, "lab: ", strlen("lab: ")))
		return;
	/* The array's first sync may take its time, with a line now and then.
	 */
	if (!strncmp(text, "first sync", strlen("first sync"))) {
		snprintf(c->doing, sizeof(c->doing), "%s", text);
		return;
	}
	/* What comes after figures is an event, which the result has. */
	if (!c->has_figures)
		pass_on(l);
	snprintf(c->said, sizeof(c->said), "%s", text);
	c->is_passed_on = c->has_figures;
}

static void take_line(struct listener *l)
{
	static const char mine[] = "lunbench: ";
	struct bench_child *c = l->c;

	if (live_line_parse(c->line, &c->figures)) {
		pass_on(l);
		c->has_figures = true;
	} else if (!strncmp(c->line, mine, strlen(mine))) {
		take_sentence(l, c->line + strlen(mine));
	}
}

static void take_err(void *user, const char *data, size_t len)
{
	struct listener *l = user;
	struct bench_child *c = l->c;

	for (; len--; data++) {
		if (*data != '\n') {
			if (c->line_len + 1 < sizeof(c->line))
				c->line[c->line_len++] = *data;
			continue;
		}
		c->line[c->line_len] = '\0';
		c->line_len = 0;
		take_line(l);
	}
}

bool bench_child_read(struct bench_child *c, bench_note *on_note, void *user,
		      int *status)
{
	struct listener l = {c, on_note, user};

	return feed_read(&c->feed, take_out, take_err, &l, status);
}

void bench_child_release(struct bench_child *c)
{
	free(c->doc);
	memset(c, 0, sizeof(*c));
}
