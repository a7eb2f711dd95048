#include "initiator/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* AHEAD -> OPEN -> OVER, or AHEAD -> OVER */
enum row_phase { ROW_AHEAD, ROW_OPEN, ROW_OVER };

struct row_window {
	enum row_phase phase;
	uint64_t opens_ns; /* since the group's start */
};

int windows_init(struct windows *w, const struct plan *plan,
		 const struct run_opts *opts, struct err *e)
{
	memset(w, 0, sizeof(*w));
	w->plan = plan;
	w->opts = opts;
	w->row = calloc(plan->nr_rows, sizeof(*w->row));
	if (!w->row)
		return err_set(e, -ENOMEM, "no memory for the windows");
	return 0;
}

void windows_release(struct windows *w)
{
	free(w->row);
	memset(w, 0, sizeof(*w));
}

void windows_begin(struct windows *w, size_t group)
{
	const struct plan_group *g = &w->plan->groups[group];
	const struct plan_client *c = &w->plan->clients[g->first_client];
	struct row_window *row;
	uint64_t ns;
	size_t i;

	w->group = group;
	for (i = 0; i < w->plan->nr_rows; i++)
		if (w->plan->rows[i].group == group)
			w->row[i].opens_ns = UINT64_MAX;
	for (i = 0; i < g->nr_clients; i++) {
		row = &w->row[c[i].row];
		/* as in session_start() */
		ns = c[i].opts->startdelay_ns + c[i].opts->ramp_ns;
		if (ns < row->opens_ns)
			row->opens_ns = ns;
	}
}

static void tell(struct windows *w, struct group_run *g, size_t row, bool opens)
{
	pthread_mutex_unlock(&g->lock);
	w->opts->on_window(w->opts->window_user, row, opens);
	pthread_mutex_lock(&g->lock);
}

static void look_at(struct windows *w, struct group_run *g, size_t i,
		    uint64_t since_start_ns)
{
	struct row_window *row = &w->row[i];
	bool is_over = !g->row_left[i];

	if (row->phase == ROW_AHEAD && !is_over &&
	    since_start_ns >= row->opens_ns) {
		row->phase = ROW_OPEN;
		tell(w, g, i, true);
	}
	if (row->phase == ROW_OPEN && is_over)
		tell(w, g, i, false);
	if (is_over)
		row->phase = ROW_OVER;
}

uint64_t windows_tell(struct windows *w, struct group_run *g)
{
	uint64_t start_ns = atomic_load(&g->start_ns), next_ns = UINT64_MAX;
	uint64_t now = clock_now_ns();
	size_t i;

	if (!w->opts->on_window || !start_ns ||
	    transport_caps(w->opts->url) & IS_VIRTUAL)
		return UINT64_MAX;
	for (i = 0; i < w->plan->nr_rows; i++) {
		if (w->plan->rows[i].group != w->group)
			continue;
		if (now >= start_ns)
			look_at(w, g, i, now - start_ns);
		if (w->row[i].phase == ROW_AHEAD &&
		    start_ns + w->row[i].opens_ns < next_ns)
			next_ns = start_ns + w->row[i].opens_ns;
	}
	return next_ns;
}
