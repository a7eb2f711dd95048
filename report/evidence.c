#include "report/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "report/text.h"
#include "workloads/options.h"

static const json_t *own_of(const json_t *document)
{
	return json_object_get(document, "lunbench");
}

/* A setting of the row's job, or of the global section; "" for none. */
static const char *setting(const json_t *document, size_t row, const char *key)
{
	const json_t *job =
		json_array_get(json_object_get(document, "jobs"), row);
	const char *own = text_of(json_object_get(job, "job options"), key);

	return *own ? own
		    : text_of(json_object_get(document, "global options"), key);
}

/* Whether a check of that name found what it looks for. */
static bool has_finding(const json_t *document, const char *check)
{
	const json_t *all = json_object_get(own_of(document), "checks");
	size_t i;

	for (i = 0; i < json_array_size(all); i++)
		if (!strcmp(text_of(json_array_get(all, i), "check"), check))
			return !json_is_true(
				json_object_get(json_array_get(all, i), "ok"));
	return false;
}

/* --- the load --- */

static void take_load(struct evidence *e, const json_t *document, size_t row,
		      const json_t *o)
{
	const json_t *law = json_object_get(o, "littles_law");

	e->depth = number_of(o, "total_depth");
	e->ios_per_s = number_of(law, "x_hz");
	e->service_ns = number_of(law, "r_ns");
	e->in_flight = number_of(law, "n_measured");
	e->is_paced = !strcmp(text_of(o, "pace"), "open") ||
		      *setting(document, row, "thinktime");
}

static void take_rate(struct evidence *e, const json_t *o)
{
	const json_t *ops = json_object_get(o, "ops");
	size_t i;

	for (i = 0; i < OP_COUNT; i++)
		e->bytes_per_s += number_of(json_object_get(ops, op_name(i)),
					    "bytes_per_s");
}

/* --- what was busy --- */

static void take_workers(struct evidence *e, const json_t *o, double seconds)
{
	const json_t *all =
		json_object_get(json_object_get(o, "cpu"), "workers");
	size_t i;

	for (i = 0; i < json_array_size(all); i++) {
		const json_t *w = json_array_get(all, i);
		double used = number_of(w, "core_percent") / 100;
		double starved = number_of(w, "starved_percent") / 100;

		e->has_workers = true;
		e->workers++;
		e->workers_all += used;
		if (used + starved < e->worker_busiest + e->worker_starved)
			continue;
		e->worker_busiest = used;
		e->worker_starved = starved;
		e->worker_waits = number_of(w, "waits");
		if (seconds > 0)
			e->worker_waits /= seconds;
	}
}

static void take_disks(struct evidence *e, const json_t *all)
{
	double busy, queue;
	size_t i;

	e->has_disks = json_is_array(all);
	for (i = 0; i < json_array_size(all); i++) {
		const json_t *d = json_array_get(all, i);

		busy = number_of(d, "busy_percent") / 100;
		queue = number_of(d, "queue_mean");
		e->disks_busy_mean += (busy - e->disks_busy_mean) / (i + 1);
		e->disks++;
		if (i && (busy < e->disk_busy ||
			  (busy == e->disk_busy && queue <= e->disk_queue)))
			continue;
		e->disk_busy = busy;
		e->disk_queue = queue;
		e->disk_name = text_of(d, "name");
	}
}

static void take_beside(struct evidence *e, const json_t *o)
{
	const json_t *beside = json_object_get(o, "beside");
	const json_t *host = json_object_get(beside, "host");
	const json_t *target = json_object_get(beside, "target");

	e->has_host = json_is_object(host);
	e->cpus = int_of(host, "cpus");
	e->host_used = number_of(host, "used_percent") / 100;
	e->host_steal = number_of(host, "steal_percent") / 100;
	e->has_target = json_is_object(target);
	e->thread_busiest = number_of(target, "busiest_thread_percent") / 100;
	e->thread_starved =
		number_of(target, "busiest_thread_starved_percent") / 100;
	e->threads_all = number_of(target, "all_threads_percent") / 100;
	take_disks(e, json_object_get(beside, "disks"));
}

/* The sim transport says what it simulates, in text. */
static void take_servers(struct evidence *e, const json_t *own)
{
	const json_t *session = json_object_get(own, "session");

	if (strcmp(text_of(own, "transport"), "sim") != 0)
		return;
	e->servers = strtod(text_of(session, "servers"), NULL);
	e->has_servers = e->servers > 0;
	if (e->has_servers)
		e->servers_busy = e->ios_per_s *
				  strtod(text_of(session, "service_ns"), NULL) /
				  NS_PER_SEC / e->servers;
}

/* --- the path --- */

static void take_path(struct evidence *e, const json_t *document,
		      const json_t *o)
{
	const json_t *window = json_object_get(o, "command_window");
	const json_t *went =
		json_object_get(json_object_get(o, "wire"), "time_went");
	double sends = number_of(window, "sends");

	e->is_network =
		!strcmp(text_of(own_of(document), "transport"), "iscsi");
	e->is_loopback = e->is_network && has_finding(document, "own_machine");
	e->has_window = json_is_object(window) && sends > 0;
	if (e->has_window) {
		e->held_sends = number_of(window, "held_sends") / sends;
		e->held = number_of(window, "held_mean");
		e->outstanding = number_of(window, "outstanding_mean");
	}
	e->has_stages = json_is_object(went);
	e->queued_here = number_of(went, "queued_here");
	e->r2t_wait = number_of(went, "r2t_wait");
	e->sending = number_of(went, "sending");
	e->at_target = number_of(went, "target");
}

/* Of the same blocks, operation and depth, or not at all. */
static bool take_baseline(struct evidence *e, const json_t *document,
			  size_t row, const struct baseline *b)
{
	struct ceiling *to[BASELINES] = {[BASELINE_SOCKETS] = &e->sockets,
					 [BASELINE_NULL] = &e->null_lun,
					 [BASELINE_DEVICE] = &e->device};
	size_t i;

	if (e->ios_per_s <= 0 || e->depth != b->iodepth ||
	    fabs(e->bytes_per_s / e->ios_per_s - b->block_bytes) > 0.5 ||
	    strcmp(setting(document, row, "rw"), b->rw) != 0)
		return false;
	for (i = 0; i < BASELINES; i++) {
		to[i]->is_known = b->row[i].is_measured && b->row[i].applies;
		to[i]->bytes_per_s = b->row[i].bytes_per_s;
	}
	return true;
}

bool evidence_of(struct evidence *e, const json_t *document, size_t row,
		 const struct baseline *baseline)
{
	const json_t *own = own_of(document);
	const json_t *o = json_array_get(json_object_get(own, "rows"), row);
	const json_t *window = json_object_get(o, "window");

	memset(e, 0, sizeof(*e));
	take_load(e, document, row, o);
	take_rate(e, o);
	take_workers(
		e, o,
		(number_of(window, "end_ns") - number_of(window, "start_ns")) /
			NS_PER_SEC);
	take_beside(e, o);
	take_servers(e, own);
	take_path(e, document, o);
	return baseline && take_baseline(e, document, row, baseline);
}

size_t evidence_put(struct put *p, json_t *document,
		    const struct baseline *baseline)
{
	json_t *rows = json_object_get(own_of(document), "rows"), *one;
	struct verdict_of_row v;
	size_t i, fitting = 0;
	struct evidence e;

	for (i = 0; i < json_array_size(rows); i++) {
		fitting += evidence_of(&e, document, i, baseline);
		verdict_make(&v, &e);
		one = put_object(p, json_array_get(rows, i), "bottleneck");
		if (v.what != BOTTLENECK_UNKNOWN)
			put_text(p, one, "what", bottleneck_name(v.what));
		put_text(p, one, "why", v.why);
	}
	return fitting;
}
