#include "commands/beside_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Rows that open or end together share a sample that is younger. */
#define SAMPLE_NS (5 * NS_PER_MSEC)

struct beside_sample {
	uint64_t at_ns;
	struct host_usage host;
	struct process_usage target;
	struct disk_usage disk[BESIDE_DISKS];
};

static void read_sample(const struct beside_watch *w, struct beside_sample *s)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->at_ns = clock_now_ns();
	host_usage_read(&s->host, "", NULL);
	if (w->pid)
		process_usage_read(&s->target, "", w->pid, NULL);
	for (i = 0; i < w->nr_disks; i++)
		disk_usage_read(&s->disk[i], "", w->disk[i], NULL);
}

/* The number of a sample of now. */
static size_t take(struct beside_watch *w)
{
	struct beside_sample *more;
	size_t last = w->nr_samples - 1;

	if (w->nr_samples &&
	    clock_now_ns() - w->samples[last].at_ns < SAMPLE_NS)
		return last;
	more = realloc(w->samples, (w->nr_samples + 1) * sizeof(*more));
	if (!more)
		return SIZE_MAX;
	w->samples = more;
	read_sample(w, &more[w->nr_samples]);
	return w->nr_samples++;
}

static void on_window(void *user, size_t row, bool opens)
{
	struct beside_watch *w = user;

	*(opens ? &w->opened[row] : &w->ended[row]) = take(w);
}

/* False where @path does not tell on what it lies. */
static bool add_disk(struct beside_watch *w, const char *path)
{
	char device[128];

	if (w->nr_disks == BESIDE_DISKS ||
	    disk_below(path, device, sizeof(device), NULL))
		return false;
	if (device[0])
		memcpy(w->disk[w->nr_disks++], device, sizeof(device));
	return true;
}

/* The members of an array; else what the LUN lies on. */
static bool find_disks(struct beside_watch *w, const struct tgt_status *target,
		       const struct url *url)
{
	size_t i;

	if (!strcmp(url->scheme, "block"))
		return add_disk(w, url->rest);
	if (!target)
		return !strcmp(url->scheme, "null");
	if (!target->nr_members)
		return !strcmp(target->store, "null") ||
		       add_disk(w, target->backing);
	for (i = 0; i < target->nr_members; i++)
		if (!add_disk(w, target->member[i]))
			return false;
	return true;
}

void beside_watch_attach(struct beside_watch *w, size_t nr_rows,
			 const struct tgt_status *target, struct run_opts *o)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->opened = malloc((nr_rows + 1) * sizeof(*w->opened));
	w->ended = malloc((nr_rows + 1) * sizeof(*w->ended));
	if (!w->opened || !w->ended) {
		beside_watch_release(w);
		return;
	}
	for (i = 0; i < nr_rows; i++)
		w->opened[i] = w->ended[i] = SIZE_MAX;
	w->nr_rows = nr_rows;
	w->pid = target ? target->pid : 0;
	w->has_disks = find_disks(w, target, o->url);
	o->on_window = on_window;
	o->window_user = w;
}

/* All of them, or none: the busiest might be the one that was not seen. */
static void add_disks(const struct beside_watch *w, struct beside *b,
		      const struct beside_sample *from,
		      const struct beside_sample *to)
{
	struct disk_share share;
	size_t i;

	for (i = 0; i < w->nr_disks; i++) {
		struct beside_disk *d = &b->disk[b->nr_disks];
		const char *slash = strrchr(w->disk[i], '/');

		if (!disk_share_of(&share, &from->disk[i], &to->disk[i]))
			return;
		snprintf(d->name, sizeof(d->name), "%.63s",
			 slash ? slash + 1 : w->disk[i]);
		d->busy = share.busy;
		d->queue = share.queue;
		b->nr_disks++;
	}
	b->has_disks = w->has_disks;
}

void beside_watch_result(const struct beside_watch *w, size_t row,
			 struct beside *b)
{
	const struct beside_sample *from, *to;
	struct process_share process;
	struct host_share host;

	memset(b, 0, sizeof(*b));
	if (row >= w->nr_rows || w->opened[row] == SIZE_MAX ||
	    w->ended[row] == SIZE_MAX || w->opened[row] == w->ended[row])
		return;
	from = &w->samples[w->opened[row]];
	to = &w->samples[w->ended[row]];
	b->has_host = host_share_of(&host, &from->host, &to->host);
	if (b->has_host) {
		b->cpus = to->host.cpus;
		b->used = host.used;
		b->steal = host.steal;
	}
	b->has_target = w->pid &&
			process_share_of(&process, &from->target, &to->target);
	if (b->has_target) {
		b->threads = process.threads;
		b->busiest = process.busiest;
		b->starved = process.starved;
		b->all = process.all;
	}
	add_disks(w, b, from, to);
}

void beside_watch_release(struct beside_watch *w)
{
	size_t i;

	for (i = 0; i < w->nr_samples; i++)
		process_usage_release(&w->samples[i].target);
	free(w->samples);
	free(w->opened);
	free(w->ended);
	memset(w, 0, sizeof(*w));
}
