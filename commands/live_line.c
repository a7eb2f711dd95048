#include "commands/live_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

void live_line_init(struct live_line *l, bool is_quiet)
{
	struct winsize w = {0};
	const char *term = getenv("TERM");

	memset(l, 0, sizeof(*l));
	l->is_quiet = is_quiet;
	l->is_tty = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
	l->width = 80;
	if (l->is_tty && !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 20)
		l->width = w.ws_col;
}

static void clear_line(struct live_line *l)
{
	if (l->is_line_open)
		fputs("\r\033[K", stderr);
	l->is_line_open = false;
}

/* Sessions that are away while they should work. Those that are not up yet, or
 * not any more, are no news. */
static bool has_lost(const struct run_progress *r)
{
	return r->sessions_down && !strcmp(r->phase, "running");
}

/* " running 12% 48.0 s left 812 MB/s 774 IOPS mean 1.2 ms p99 3 ms": short
 * enough to leave room for a name in 80 columns. */
static void format_rest(const struct run_progress *r, char *line, size_t size)
{
	char done[16] = "", left[48] = "", rate[32], iops[32], mean[32],
	     p99[32], trouble[64] = "";

	if (r->fraction >= 0)
		snprintf(done, sizeof(done), " %.0f%%", 100 * r->fraction);
	if (r->left_ns != UINT64_MAX)
		snprintf(left, sizeof(left), "%s %s left",
			 r->left_is_most ? " at most" : "",
			 units_time(mean, sizeof(mean), (double)r->left_ns));
	if (has_lost(r))
		snprintf(trouble, sizeof(trouble), " %u of %u sessions lost",
			 r->sessions_down, r->sessions_up + r->sessions_down);
	else if (r->errors)
		snprintf(trouble, sizeof(trouble), " %" PRIu64 " errors",
			 r->errors);
	snprintf(line, size, " %s%s%s%s %s %s IOPS mean %s p99 %s", r->phase,
		 done, left, trouble,
		 units_rate(rate, sizeof(rate), r->bytes_per_s),
		 units_count(iops, sizeof(iops), r->ios_per_s),
		 units_time(mean, sizeof(mean), r->mean_service_ns),
		 units_time(p99, sizeof(p99), r->p99_service_ns));
}

bool live_line_parse(const char *line, struct live_figures *f)
{
	const char *at = strstr(line, " of "), *rate = strstr(line, "MB/s");
	const char *percent = at ? strchr(at, '%') : NULL;

	if (!at || !rate || rate < at || !strstr(rate, " IOPS mean "))
		return false;
	while (percent && percent > at && strchr("0123456789", percent[-1]))
		percent--;
	f->fraction = percent && percent < rate ? atof(percent) / 100 : -1;
	/* "812 MB/s": the word before it is the number. */
	for (rate--; rate > at && rate[-1] != ' ';)
		rate--;
	f->rate[0] = '\0';
	if (atof(rate) > 0)
		snprintf(f->rate, sizeof(f->rate), "%.*s",
			 (int)(strstr(rate, "MB/s") + 4 - rate), rate);
	return true;
}

static void on_progress(void *user, const struct run_progress *r)
{
	struct live_line *l = user;
	char rest[512];
	int room;

	format_rest(r, rest, sizeof(rest));
	if (!l->is_tty && r->elapsed_ns < NS_PER_SEC)
		return; /* nothing to tell yet */
	if (!l->is_tty) {
		fprintf(stderr, "%s (%zu of %zu)%s\n", r->row_name,
			r->group + 1, r->nr_groups, rest);
		return;
	}
	/* The figures matter more than the whole name. One column is left free:
	 * some terminals wrap at the last. */
	room = (int)l->width - 1 - (int)strlen(rest);
	fprintf(stderr, "\r%.*s%.*s\033[K", room > 4 ? room : 4, r->row_name,
		(int)l->width - 5, rest);
	l->is_line_open = true;
}

static void on_event(void *user, const struct run_event *ev)
{
	struct live_line *l = user;
	char at[32];

	if (ev->kind == EVENT_PHASE)
		return; /* the live line says it */
	clear_line(l);
	fprintf(stderr, "lunbench: at %s: %s\n",
		units_time(at, sizeof(at), (double)ev->at_ns), ev->text);
}

void live_line_attach(struct live_line *l, struct run_opts *o)
{
	if (!l->is_quiet) {
		if (!o->progress_ns)
			o->progress_ns =
				l->is_tty ? 500 * NS_PER_MSEC : 10 * NS_PER_SEC;
		o->on_progress = on_progress;
	}
	o->on_event = on_event;
	o->user = l;
}

void live_line_end(struct live_line *l)
{
	clear_line(l);
	fflush(stderr);
}
