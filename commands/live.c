#include "commands/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

void live_init(struct live *p, bool is_quiet)
{
	struct winsize w = {0};
	const char *term = getenv("TERM");

	memset(p, 0, sizeof(*p));
	p->is_quiet = is_quiet;
	p->is_tty = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
	p->width = 80;
	if (p->is_tty && !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 20)
		p->width = w.ws_col;
}

static void clear_line(struct live *p)
{
	if (p->is_line_open)
		fputs("\r\033[K", stderr);
	p->is_line_open = false;
}

/* "seq-read-1m 3/8 running  12 %  48.0 s left | 812 MB/s  774 IOPS  mean ..."
 */
static void format_line(const struct run_progress *r, char *line, size_t size)
{
	char done[16] = "", left[48] = "", rate[32], iops[32], mean[32],
	     p99[32], extra[64] = "";

	if (r->fraction >= 0)
		snprintf(done, sizeof(done), " %3.0f %%", 100 * r->fraction);
	if (r->left_ns != UINT64_MAX) {
		units_time(mean, sizeof(mean), (double)r->left_ns);
		snprintf(left, sizeof(left), ", %s left", mean);
	}
	if (r->sessions_down)
		snprintf(extra, sizeof(extra), "  %u of %u sessions lost",
			 r->sessions_down, r->sessions_up + r->sessions_down);
	else if (r->errors)
		snprintf(extra, sizeof(extra), "  %llu errors",
			 (unsigned long long)r->errors);
	snprintf(line, size,
		 "%s %zu/%zu %s%s%s%s  %s  %s IOPS  mean %s  p99 %s",
		 r->row_name, r->group + 1, r->nr_groups, r->phase, done, left,
		 extra, units_rate(rate, sizeof(rate), r->bytes_per_s),
		 units_count(iops, sizeof(iops), r->ios_per_s),
		 units_time(mean, sizeof(mean), r->mean_service_ns),
		 units_time(p99, sizeof(p99), r->p99_service_ns));
}

static void on_progress(void *user, const struct run_progress *r)
{
	struct live *p = user;
	char line[512];

	format_line(r, line, sizeof(line));
	if (!p->is_tty) {
		fprintf(stderr, "%s\n", line);
		return;
	}
	/* One column is left free: some terminals wrap at the last. */
	fprintf(stderr, "\r%.*s\033[K", (int)p->width - 1, line);
	p->is_line_open = true;
}

static void on_event(void *user, const struct run_event *ev)
{
	struct live *p = user;
	char at[32];

	if (ev->kind == EVENT_PHASE)
		return; /* the live line says it */
	clear_line(p);
	fprintf(stderr, "lunbench: at %s: %s\n",
		units_time(at, sizeof(at), (double)ev->at_ns), ev->text);
}

void live_attach(struct live *p, struct run_opts *o)
{
	if (!p->is_quiet) {
		o->progress_ns =
			p->is_tty ? 500 * NS_PER_MSEC : 10 * NS_PER_SEC;
		o->on_progress = on_progress;
	}
	o->on_event = on_event;
	o->user = p;
}

void live_end(struct live *p)
{
	clear_line(p);
	fflush(stderr);
}
