#include "report/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* From where on it is that. docs/METHOD.md has this table, too. */
static const struct {
	double cpu, host, disk_busy, disk_queue, held, r2t, sending, ceiling,
		cache, in_flight, slots, stage;
} limits = {
	/* A thread that waits for I/O now and then never gets to 1; from 0.9 on
	 * a tenth more work is all that it could do. What it was ready to run
	 * but had no CPU counts as if it had had one. */
	.cpu = 0.90,
	/* Over all CPUs: ticks are coarse, and the last percents are idle
	 * moments between wakeups, of no use to anybody. */
	.host = 0.95,
	/* The kernel counts a disk as busy once a tick, so one that is fast
	 * seems busier than it is: it must have held an I/O nearly always,
	 * too, which is counted exactly. */
	.disk_busy = 0.90,
	.disk_queue = 0.90,
	/* A quarter of the commands' time waits for the target's window, or for
	 * its R2Ts: without that, the same depth would bring a third more. */
	.held = 0.25,
	.r2t = 0.25,
	/* "Dominates": more than all the rest together. */
	.sending = 0.50,
	/* Of a throughput that was measured without what is above it. More
	 * than that is no ceiling: a cache lies above it. */
	.ceiling = 0.90,
	.cache = 1.10,
	/* Below, the job did not use the slots that it has. */
	.in_flight = 0.90,
	/* Far below, more of them could not help: something else kept them
	 * empty. */
	.slots = 0.50,
	/* To say that the time went to one stage. */
	.stage = 0.50,
};

const char *bottleneck_name(enum bottleneck b)
{
	static const char *const names[BOTTLENECKS] = {
		[BOTTLENECK_PACE] = "pace",
		[BOTTLENECK_INITIATOR] = "initiator cpu",
		[BOTTLENECK_TARGET_CPU] = "target cpu",
		[BOTTLENECK_HOST_CPU] = "host cpu",
		[BOTTLENECK_DISKS] = "member disks",
		[BOTTLENECK_WINDOW] = "window",
		[BOTTLENECK_R2T] = "r2t",
		[BOTTLENECK_WIRE] = "wire",
		[BOTTLENECK_DEPTH] = "depth",
		[BOTTLENECK_TARGET] = "target",
	};

	return b < BOTTLENECKS ? names[b] : NULL;
}

/* --- sentences --- */

/* Pieces one after another, cut where the room ends. */
struct sentence {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s,
						      const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->text + s->used, s->size - s->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->used += n;
	if (s->used >= s->size)
		s->used = s->size - 1;
}

static double percent(double share)
{
	return 100 * share;
}

static void say_initiator(struct sentence *s, const struct evidence *e)
{
	if (!e->has_workers)
		say(s, "lunbench's own CPU is not known");
	else if (e->workers > 1)
		say(s,
		    "lunbench's busiest worker used %.0f %% of a core, its %u "
		    "together %.0f %%",
		    percent(e->worker_busiest), e->workers,
		    percent(e->workers_all));
	else
		say(s, "lunbench used %.0f %% of a core",
		    percent(e->worker_busiest));
}

static void say_disks(struct sentence *s, const struct evidence *e)
{
	if (e->disks > 1)
		say(s,
		    "%s, the busiest of %u disks, was in use %.0f %% "
		    "of the time (on average %.0f %%), with %.1f requests "
		    "in it",
		    e->disk_name, e->disks, percent(e->disk_busy),
		    percent(e->disks_busy_mean), e->disk_queue);
	else
		say(s,
		    "%s was in use %.0f %% of the time, with %.1f requests "
		    "in it",
		    e->disk_name, percent(e->disk_busy), e->disk_queue);
}

/* --- the rules; each says its sentence if it holds --- */

typedef bool rule(const struct evidence *e, struct sentence *s);

static bool is_pace(const struct evidence *e, struct sentence *s)
{
	if (!e->is_paced || e->in_flight >= limits.in_flight * e->depth)
		return false;
	say(s,
	    "the job asks for no more: its rate or thinktime kept %.1f of %.0f "
	    "slots in use, and none waited for another",
	    e->in_flight, e->depth);
	return true;
}

/* What a thread wanted of a core: had it, or was ready without one. */
static double worker_wants(const struct evidence *e)
{
	return e->has_workers ? e->worker_busiest + e->worker_starved : 0;
}

static double thread_wants(const struct evidence *e)
{
	return e->has_target ? e->thread_busiest + e->thread_starved : 0;
}

static void say_starved(struct sentence *s, double starved)
{
	if (starved >= 0.01)
		say(s, " and was ready without one for %.0f %% of the time",
		    percent(starved));
}

/* Of the two the fuller one: it holds the other up. */
static bool is_initiator(const struct evidence *e, struct sentence *s)
{
	if (worker_wants(e) < limits.cpu || thread_wants(e) > worker_wants(e))
		return false;
	say_initiator(s, e);
	say_starved(s, e->worker_starved);
	if (e->worker_waits < 1)
		say(s, "; it never waited");
	else
		say(s, "; it waited %.0f times a second", e->worker_waits);
	if (e->has_target)
		say(s, "; tgtd's busiest thread %.0f %% of one",
		    percent(e->thread_busiest));
	return true;
}

static bool is_target_cpu(const struct evidence *e, struct sentence *s)
{
	if (thread_wants(e) < limits.cpu)
		return false;
	say(s, "tgtd's busiest thread used %.0f %% of its core",
	    percent(e->thread_busiest));
	say_starved(s, e->thread_starved);
	if (e->threads_all > e->thread_busiest + 0.01)
		say(s, " (all its threads %.0f %% of one)",
		    percent(e->threads_all));
	say(s, "; ");
	say_initiator(s, e);
	return true;
}

/* All CPUs are used: by whom most? Sets one of three verdicts. */
enum user { USER_NONE, USER_INITIATOR, USER_TARGET, USER_OTHERS };

static enum user host_user(const struct evidence *e, double *others)
{
	double all = e->cpus * (e->host_used + e->host_steal);
	double target = e->has_target ? e->threads_all : 0;

	if (!e->has_host || !e->has_workers ||
	    e->host_used + e->host_steal < limits.host)
		return USER_NONE;
	*others = all - e->workers_all - target;
	if (*others < 0)
		*others = 0;
	if (*others > e->workers_all && *others > target)
		return USER_OTHERS;
	return e->workers_all >= target ? USER_INITIATOR : USER_TARGET;
}

static bool say_host(const struct evidence *e, struct sentence *s,
		     enum user wanted)
{
	double others;

	if (host_user(e, &others) != wanted)
		return false;
	say(s,
	    "this host's %u CPU%s were all in use: lunbench %.0f %% of a "
	    "core",
	    e->cpus, e->cpus == 1 ? "" : "s", percent(e->workers_all));
	if (e->has_target)
		say(s, ", tgtd %.0f %%", percent(e->threads_all));
	say(s, ", others%s %.0f %%", e->has_target ? "" : " and the kernel",
	    percent(others));
	if (e->host_steal >= 0.01)
		say(s, " (%.0f %% of all went to other machines)",
		    percent(e->host_steal));
	return true;
}

static bool is_host_initiator(const struct evidence *e, struct sentence *s)
{
	return say_host(e, s, USER_INITIATOR);
}

static bool is_host_target(const struct evidence *e, struct sentence *s)
{
	return say_host(e, s, USER_TARGET);
}

/* Where no thread of ours filled a core itself: what it would have done with
 * the time that others had is not known. */
static bool is_host_others(const struct evidence *e, struct sentence *s)
{
	if (e->worker_busiest >= limits.cpu || e->thread_busiest >= limits.cpu)
		return false;
	return say_host(e, s, USER_OTHERS);
}

static bool is_disks(const struct evidence *e, struct sentence *s)
{
	if (!e->disks || e->disk_busy < limits.disk_busy ||
	    e->disk_queue < limits.disk_queue)
		return false;
	say_disks(s, e);
	if (e->has_target)
		say(s, "; tgtd's busiest thread %.0f %% of a core",
		    percent(e->thread_busiest));
	return true;
}

static bool reaches(const struct evidence *e, const struct ceiling *c)
{
	return c->is_known && c->bytes_per_s > 0 &&
	       e->bytes_per_s >= limits.ceiling * c->bytes_per_s &&
	       e->bytes_per_s <= limits.cache * c->bytes_per_s;
}

static void say_reaches(struct sentence *s, const struct evidence *e,
			const struct ceiling *c, const char *what)
{
	char rate[32];

	say(s, "%s are %.0f %% of %s",
	    units_rate(rate, sizeof(rate), e->bytes_per_s),
	    percent(e->bytes_per_s / c->bytes_per_s), what);
}

static bool is_device(const struct evidence *e, struct sentence *s)
{
	if (!reaches(e, &e->device))
		return false;
	say_reaches(s, e, &e->device,
		    "what the device below gives without iSCSI (baseline)");
	return true;
}

static bool is_servers(const struct evidence *e, struct sentence *s)
{
	if (!e->has_servers || e->servers_busy < limits.cpu)
		return false;
	say(s, "its %.0f simulated server%s %.0f %% busy", e->servers,
	    e->servers > 1 ? "s were" : " was", percent(e->servers_busy));
	return true;
}

static double held_share(const struct evidence *e)
{
	return e->has_window && e->outstanding > 0 ? e->held / e->outstanding
						   : 0;
}

static bool is_window(const struct evidence *e, struct sentence *s)
{
	if (held_share(e) < limits.held)
		return false;
	say(s,
	    "the target's command window was shut at %.0f %% of the sends: of "
	    "%.1f commands %.1f waited for it here, which is %.0f %% of "
	    "their time",
	    percent(e->held_sends), e->outstanding, e->held,
	    percent(held_share(e)));
	return true;
}

static bool is_r2t(const struct evidence *e, struct sentence *s)
{
	if (!e->has_stages || e->r2t_wait < limits.r2t)
		return false;
	say(s,
	    "%.0f %% of the commands' time was waiting for the target to "
	    "ask for the data (R2T), %.0f %% for its answer",
	    percent(e->r2t_wait), percent(e->at_target));
	return true;
}

static bool is_wire(const struct evidence *e, struct sentence *s)
{
	if (e->has_stages && e->sending >= limits.sending) {
		say(s,
		    "%.0f %% of the commands' time was data that waited for "
		    "room in the socket, %.0f %% the target",
		    percent(e->sending), percent(e->at_target));
		return true;
	}
	if (e->is_loopback && reaches(e, &e->sockets)) {
		say_reaches(s, e, &e->sockets,
			    "what two sockets of this host pass (baseline)");
		return true;
	}
	if (e->is_loopback && reaches(e, &e->null_lun)) {
		say_reaches(s, e, &e->null_lun,
			    "what the null LUN gives, which is the path "
			    "without storage (baseline)");
		return true;
	}
	return false;
}

/* Everything that could be at its limit was looked at. */
static bool has_seen_all(const struct evidence *e)
{
	if (e->has_servers)
		return true;
	return e->has_workers && e->has_host && e->has_disks &&
	       (e->has_target || !e->is_network);
}

static bool is_depth(const struct evidence *e, struct sentence *s)
{
	char time[32];

	if (!has_seen_all(e) || e->in_flight < limits.slots * e->depth)
		return false;
	say(s,
	    "nothing that was seen is at its limit: with %.3g in flight, each "
	    "waits %s for the %s",
	    e->in_flight, units_time(time, sizeof(time), e->service_ns),
	    e->is_network || e->has_servers ? "target" : "device");
	if (e->has_servers) {
		say(s, " (its %.0f server%s %.0f %% busy)", e->servers,
		    e->servers > 1 ? "s were" : " was",
		    percent(e->servers_busy));
		return true;
	}
	say(s, " (");
	say_initiator(s, e);
	if (e->has_target)
		say(s, ", tgtd's busiest thread %.0f %%",
		    percent(e->thread_busiest));
	if (e->disks)
		say(s, ", the busiest disk in use %.0f %% of the time",
		    percent(e->disk_busy));
	say(s, ")");
	return true;
}

static bool is_target(const struct evidence *e, struct sentence *s)
{
	char time[32];

	if (has_seen_all(e) || !e->has_stages || e->at_target < limits.stage)
		return false;
	say(s, "%.0f %% of each command's %s went by at the target%s; ",
	    percent(e->at_target),
	    units_time(time, sizeof(time), e->service_ns),
	    e->is_loopback ? "" : " or in the network to it");
	say_initiator(s, e);
	if (e->has_target)
		say(s,
		    ", tgtd's busiest thread %.0f %% of one, so something "
		    "below it that cannot be seen from here",
		    percent(e->thread_busiest));
	return true;
}

/* In this order: who takes the CPUs from all of it, what is at its limit, then
 * who keeps whom waiting, then what is left. */
static const struct {
	enum bottleneck what;
	rule *holds;
} rules[] = {
	{BOTTLENECK_PACE, is_pace},
	{BOTTLENECK_HOST_CPU, is_host_others},
	{BOTTLENECK_INITIATOR, is_initiator},
	{BOTTLENECK_TARGET_CPU, is_target_cpu},
	{BOTTLENECK_INITIATOR, is_host_initiator},
	{BOTTLENECK_TARGET_CPU, is_host_target},
	{BOTTLENECK_DISKS, is_disks},
	{BOTTLENECK_DISKS, is_device},
	{BOTTLENECK_TARGET, is_servers},
	{BOTTLENECK_WINDOW, is_window},
	{BOTTLENECK_R2T, is_r2t},
	{BOTTLENECK_WIRE, is_wire},
	{BOTTLENECK_DEPTH, is_depth},
	{BOTTLENECK_TARGET, is_target},
};

/* Where a CPU is the limit, R2Ts may be what keeps it busy: worth telling. */
static void say_also(struct sentence *s, const struct evidence *e,
		     enum bottleneck what)
{
	if (what != BOTTLENECK_R2T && e->has_stages &&
	    e->r2t_wait >= limits.r2t)
		say(s, "; %.0f %% of the commands' time was waiting for R2Ts",
		    percent(e->r2t_wait));
	if (what != BOTTLENECK_WINDOW && held_share(e) >= limits.held)
		say(s,
		    "; the target's command window was shut at %.0f %% of "
		    "the sends",
		    percent(e->held_sends));
}

static void say_unknown(struct sentence *s, const struct evidence *e)
{
	char time[32];

	if (!e->ios_per_s || !e->depth) {
		say(s, "nothing was measured");
		return;
	}
	if (has_seen_all(e)) {
		say(s, "only %.1f of %.0f slots were in use on average",
		    e->in_flight, e->depth);
		return;
	}
	if (e->has_workers) {
		say_initiator(s, e);
		say(s, "; ");
	}
	say(s, "what held up each command's %s cannot be told",
	    units_time(time, sizeof(time), e->service_ns));
	if (e->has_stages)
		say(s,
		    ": %.0f %% went by here, %.0f %% waiting for R2Ts, %.0f %% "
		    "at the target",
		    percent(e->queued_here + e->sending), percent(e->r2t_wait),
		    percent(e->at_target));
	else if (e->is_network && !e->has_target)
		say(s, ": neither the target nor the way to it was seen");
	else if (!e->has_host)
		say(s, ": it was too short to see this host's CPUs");
	else
		say(s, ": the disks below were not seen");
}

void verdict_make(struct verdict_of_row *v, const struct evidence *e)
{
	struct sentence s = {.text = v->why, .size = sizeof(v->why)};
	size_t i;

	v->what = BOTTLENECK_UNKNOWN;
	v->why[0] = '\0';
	if (e->ios_per_s > 0 && e->depth > 0)
		for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
			if (rules[i].holds(e, &s)) {
				v->what = rules[i].what;
				say_also(&s, e, v->what);
				return;
			}
	say_unknown(&s, e);
}
