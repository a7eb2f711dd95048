#include "commands/bench_progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "commands/commands.h"

#define LIVE_NS (500 * NS_PER_MSEC)
#define LOG_NS (30 * NS_PER_SEC)

/* Below that share of the whole, no time left is told. */
static const double least_share = 0.02;

void bench_progress_init(struct bench_progress *p, const struct bench_set *s,
			 const struct bench_child *children, size_t nr)
{
	uint64_t asked_ns = s->bench->request.run.progress_ns;
	struct live_line l;

	memset(p, 0, sizeof(*p));
	live_line_init(&l, s->bench->request.quiet);
	p->set = s;
	p->children = children;
	p->nr = nr;
	p->is_tty = l.is_tty;
	p->is_quiet = l.is_quiet;
	p->width = l.width;
	p->interval_ns = asked_ns ? asked_ns : l.is_tty ? LIVE_NS : LOG_NS;
	p->begin_ns = p->shown_ns = clock_now_ns();
	for (size_t i = 0; i < s->nr_runs; i++)
		if (s->runs[i].state == BENCH_DONE)
			p->kept_s += s->runs[i].test->expected_s;
}

static double fraction_of(const struct bench_child *c)
{
	return c->has_figures && c->figures.fraction > 0 ? c->figures.fraction
							 : 0;
}

/* Of the expected time of all that had to be done: how much is over. */
static double share_done(const struct bench_progress *p)
{
	double all = 0, over = 0;

	for (size_t i = 0; i < p->set->nr_runs; i++) {
		const struct bench_run *r = &p->set->runs[i];

		all += r->test->expected_s;
		if (r->state != BENCH_WAITING)
			over += r->test->expected_s;
	}
	for (size_t i = 0; i < p->nr; i++)
		if (p->children[i].run)
			over += fraction_of(&p->children[i]) *
				p->children[i].run->test->expected_s;
	all -= p->kept_s;
	return all > 0 ? (over - p->kept_s) / all : 1;
}

/* It is a guess: "45 s", "12 min" are all that it is worth. */
static void left_text(double ns, char *buf, size_t size)
{
	double s = ceil(ns / NS_PER_SEC);

	if (s < 120)
		snprintf(buf, size, ", about %.0f s left", s);
	else
		snprintf(buf, size, ", about %.0f min left", ceil(s / 60));
}

char *bench_progress_text(const struct bench_progress *p, char *buf,
			  size_t size)
{
	double share = share_done(p);
	uint64_t now = clock_now_ns();
	char left[64] = "";
	size_t over = 0;

	for (size_t i = 0; i < p->set->nr_runs; i++)
		over += p->set->runs[i].state != BENCH_WAITING;
	if (share >= least_share && share < 1)
		left_text((now - p->begin_ns) * (1 - share) / share, left,
			  sizeof(left));
	snprintf(buf, size, "%zu of %zu done%s", over, p->set->nr_runs, left);
	return buf;
}

/* "; raid5 netbench 42% 61.2 MB/s" */
static void add_child(const struct bench_child *c, char *line, size_t size)
{
	const struct live_figures *f = &c->figures;
	char done[16] = "";
	size_t n = strlen(line);

	if (f->fraction >= 0)
		snprintf(done, sizeof(done), " %.0f%%", 100 * f->fraction);
	if (!c->has_figures)
		snprintf(line + n, size - n, "; %s %s", c->run->name, c->doing);
	else
		snprintf(line + n, size - n, "; %s%s%s%s", c->run->name, done,
			 *f->rate ? " " : "", f->rate);
}

void bench_progress_show(struct bench_progress *p)
{
	uint64_t now = clock_now_ns();
	char line[1024];

	if (p->is_quiet || now - p->shown_ns < p->interval_ns)
		return;
	p->shown_ns = now;
	bench_progress_text(p, line, sizeof(line));
	for (size_t i = 0; i < p->nr; i++)
		if (p->children[i].run && strlen(line) + 256 < sizeof(line))
			add_child(&p->children[i], line, sizeof(line));
	if (!p->is_tty) {
		fprintf(stderr, "%s\n", line);
		return;
	}
	/* One column is left free: some terminals wrap at the last. */
	fprintf(stderr, "\r%.*s\033[K", (int)p->width - 1, line);
	p->is_line_open = true;
}

void bench_progress_clear(struct bench_progress *p)
{
	if (p->is_line_open)
		fputs("\r\033[K", stderr);
	p->is_line_open = false;
}
