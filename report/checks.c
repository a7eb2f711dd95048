#include "report/checks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/findings.h"

/* The limits. docs/METHOD.md says why each is what it is. */
#define LITTLE_LIMIT 0.05
#define LITTLE_IOS_PER_SLOT 20
#define JAIN_LIMIT 0.95
#define CPU_LIMIT 0.90
#define DURATION_LIMIT_NS NS_PER_SEC
#define SAMPLES_LIMIT 1000
#define LATE_FACTOR 2
#define HELD_LIMIT 0.01
#define LATE_LIMIT_NS NS_PER_MSEC

struct checks {
	struct findings found;
	const struct result_input *in;
};

/* Texts for one sentence: live until the end of the full expression. */
struct text {
	char s[48];
};

static struct text time_text(double ns)
{
	struct text t = {""};

	units_time(t.s, sizeof(t.s), ns);
	return t;
}

static struct text count_text(double n)
{
	struct text t = {""};

	units_count(t.s, sizeof(t.s), n);
	return t;
}

/* --- of a row --- */

static void check_littles_law(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "littles_law", .row = r};
	struct littles_law l;

	/* I/Os that straddle the window's edges count on one side only: up to
	 * one a slot. With few I/Os that alone is more than the limit. */
	if (!row_littles_law(r, &l) ||
	    r->ios < LITTLE_IOS_PER_SLOT * r->total_depth)
		return;
	v.value = l.ratio > 1 ? l.ratio - 1 : 1 - l.ratio;
	v.limit = LITTLE_LIMIT;
	v.ok = v.value <= v.limit;
	findings_add(
		&c->found, &v,
		"row \"%s\": Little's law is off by %.1f %%: %.2f I/Os were "
		"outstanding, but %s IOPS x %s make %.2f; the latencies or the "
		"rate are not those of a steady load",
		r->plan->name, v.value * 100, l.n_measured,
		count_text(l.x_hz).s, time_text(l.r_ns).s, l.product);
}

/* The target took fewer commands at once than the job asks for: what waits for
 * that has not left this machine, and its time is not the target's. */
static void check_command_window(struct checks *c, const struct row *r)
{
	struct verdict v = {
		.check = "command_window", .row = r, .limit = HELD_LIMIT};
	const struct meter *m = &r->result->meter;

	if (!m->sends)
		return;
	v.value = (double)m->held_sends / m->sends;
	v.ok = v.value <= v.limit;
	findings_add(
		&c->found, &v,
		"row \"%s\": the target's command window (MaxCmdSN) was shut "
		"at %.0f %% of the sends: of %.1f outstanding commands %.1f "
		"waited in lunbench on average, which is in their service "
		"time; the target takes less than this iodepth at once",
		r->plan->name, 100 * v.value,
		(double)m->sent_depth_sum / m->sends,
		(double)m->held_sum / m->sends);
}

static void check_fairness(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "fairness", .row = r};
	uint64_t min = UINT64_MAX, max = 0, ios;
	size_t i;

	if (r->result->nr_clients < 2 || !r->ios)
		return;
	for (i = 0; i < r->result->nr_clients; i++) {
		ios = r->result->clients[i].ios;
		min = ios < min ? ios : min;
		max = ios > max ? ios : max;
	}
	v.value = row_fairness(r);
	v.limit = JAIN_LIMIT;
	v.ok = v.value >= v.limit;
	findings_add(
		&c->found, &v,
		"row \"%s\": its %zu clients were served unequally, %llu to "
		"%llu I/Os each (Jain's index %.3f, under %.2f)",
		r->plan->name, r->result->nr_clients, (unsigned long long)min,
		(unsigned long long)max, v.value, v.limit);
}

static void check_duration(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "duration", .row = r};

	if (!r->has_run)
		return;
	v.value = (double)r->window_ns / NS_PER_SEC;
	v.limit = (double)DURATION_LIMIT_NS / NS_PER_SEC;
	v.ok = v.value >= v.limit;
	if (!r->window_ns)
		findings_add(
			&c->found, &v,
			"row \"%s\": nothing was measured: it was over before "
			"its window opened (startdelay, ramp_time); %llu I/Os "
			"were done until then",
			r->plan->name, (unsigned long long)r->all_ios);
	else
		findings_add(
			&c->found, &v,
			"row \"%s\": measured for %s only, under 1 s: rates "
			"and "
			"percentiles are rough",
			r->plan->name, time_text(r->window_ns).s);
}

static void check_samples(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "samples", .row = r};
	uint64_t n;
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		n = r->result->meter.op[i].ios;
		if (!n)
			continue;
		v.op = op_name(i);
		v.value = n;
		v.limit = SAMPLES_LIMIT;
		v.ok = n >= SAMPLES_LIMIT;
		findings_add(
			&c->found, &v,
			"row \"%s\": %s I/Os measured: %llu, under %d: p99.9 "
			"is little more than the slowest of them",
			r->plan->name, v.op, (unsigned long long)n,
			SAMPLES_LIMIT);
	}
}

static void check_errors(struct checks *c, const struct row *r)
{
	const struct error_sample *first = row_first_error(r, 0);
	struct verdict v = {.check = "errors", .row = r};

	if (!r->has_run)
		return;
	v.value = r->errors;
	v.ok = r->errors == 0;
	findings_add(&c->found, &v,
		     "row \"%s\": %llu of %llu I/Os failed; first: %s %s",
		     r->plan->name, (unsigned long long)r->errors,
		     (unsigned long long)r->all_ios,
		     first ? op_name(first->op) : "", first ? first->text : "");
}

static void check_retries(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "retries", .row = r};
	char causes[256] = "";
	size_t i, used = 0;
	uint64_t n;

	if (!r->has_run)
		return;
	for (i = 0; i < RETRY_CAUSES && used < sizeof(causes); i++) {
		n = r->result->meter.retries[i];
		if (n)
			used += snprintf(causes + used, sizeof(causes) - used,
					 "%s%s %llu", used ? ", " : "",
					 retry_cause_name(i),
					 (unsigned long long)n);
	}
	v.value = r->retries;
	v.ok = r->retries == 0;
	findings_add(&c->found, &v,
		     "row \"%s\": %llu commands had to be repeated (%s)",
		     r->plan->name, (unsigned long long)r->retries, causes);
}

static void check_outages(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "outages", .row = r};

	if (!r->has_run)
		return;
	v.value = r->disconnects;
	v.ok = r->disconnects == 0;
	if (r->disconnects && !r->outage_ns) { /* --on-disconnect=fail */
		findings_add(&c->found, &v,
			     "row \"%s\": %llu sessions were lost",
			     r->plan->name, (unsigned long long)r->disconnects);
		return;
	}
	findings_add(
		&c->found, &v,
		"row \"%s\": sessions were lost %llu times and away for %s in "
		"all; the figures include that",
		r->plan->name, (unsigned long long)r->disconnects,
		time_text(r->outage_ns).s);
}

/* Open loop that fell behind its schedule and caught up. */
static void check_late(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "late", .row = r, .limit = LATE_FACTOR};
	uint64_t service_ns, response_ns;
	size_t i;

	for (i = 0; i < OP_DATA_COUNT; i++) {
		const struct meter_op *op = &r->result->meter.op[i];

		if (!r->is_open || !op->ios)
			continue;
		service_ns = hist_percentile_ns(op->service, 99);
		response_ns = hist_percentile_ns(op->response, 99);
		v.op = op_name(i);
		v.value = service_ns ? (double)response_ns / service_ns : 1;
		v.ok = v.value <= v.limit ||
		       response_ns < service_ns + LATE_LIMIT_NS;
		findings_add(
			&c->found, &v,
			"row \"%s\": p99 of %s is %s from the time it was due "
			"but %s from its start: the schedule was not kept, for "
			"want of depth or because this machine was busy",
			r->plan->name, v.op, time_text(response_ns).s,
			time_text(service_ns).s);
	}
}

static void check_series(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "series", .row = r};

	if (!r->has_run)
		return;
	v.value = r->result->meter.series_dropped;
	v.ok = v.value == 0;
	findings_add(
		&c->found, &v,
		"row \"%s\": %.0f completions are missing from the series, "
		"for want of memory; the totals have them",
		r->plan->name, v.value);
}

static void check_has_run(struct checks *c, const struct row *r)
{
	struct verdict v = {.check = "has_run", .row = r, .limit = 1};

	v.ok = r->has_run;
	v.value = v.ok;
	findings_add(&c->found, &v, "row \"%s\": never ran", r->plan->name);
}

/* --- of the run --- */

/* The workers' CPU time in a group is that of all its rows, among which it was
 * shared out by I/Os, over the time from the first window's start to the last
 * one's end. */
static void check_initiator_cpu(struct checks *c, size_t group)
{
	struct verdict v = {.check = "initiator_cpu", .limit = CPU_LIMIT};
	size_t sessions = c->in->plan->groups[group].nr_clients;
	size_t i, workers = c->in->run->nr_workers;
	uint64_t cpu_ns = 0, start_ns = UINT64_MAX, end_ns = 0;
	struct row r, first = {0};

	for (i = 0; i < row_count(c->in); i++) {
		row_init(&r, c->in, i);
		if (r.plan->group != group || !r.window_ns)
			continue;
		if (!first.plan)
			first = r;
		cpu_ns += r.result->user_cpu_ns + r.result->system_cpu_ns;
		if (start_ns > r.result->window_start_ns)
			start_ns = r.result->window_start_ns;
		if (end_ns < r.result->window_end_ns)
			end_ns = r.result->window_end_ns;
	}
	/* A session has one worker: more workers than sessions are idle. */
	if (workers > sessions)
		workers = sessions;
	if (!first.plan || !workers)
		return;
	v.row = &first;
	v.value = (double)cpu_ns / (end_ns - start_ns) / workers;
	v.ok = v.value < v.limit;
	findings_add(
		&c->found, &v,
		"row \"%s\": lunbench itself kept its %zu worker%s %.0f %% "
		"busy: the initiator may be the limit%s",
		first.plan->name, workers, workers > 1 ? "s" : "",
		v.value * 100,
		workers < sessions ? "; try more --workers" : "");
}

static void check_end(struct checks *c)
{
	const struct run_result *run = c->in->run;
	struct verdict v = {.check = "complete", .limit = 1};
	struct text after = time_text(run->duration_ns);

	v.ok = run->end == RUN_COMPLETE;
	v.value = v.ok;
	if (run->end == RUN_FAILED)
		findings_add(
			&c->found, &v,
			"the run failed after %s: %s; the figures are what was "
			"measured until then",
			after.s, run->error.text);
	else
		findings_add(
			&c->found, &v,
			"the run was interrupted after %s; the figures are "
			"what was measured until then",
			after.s);
}

/* The most repeats came, and that was not enough. A run that did not come to
 * its end has another finding. */
static void check_until(struct checks *c)
{
	const struct plan *plan = c->in->plan;
	struct verdict v = {.check = "until", .limit = 1};
	char until[64];

	if (plan->until.kind == UNTIL_NONE || c->in->run->end != RUN_COMPLETE)
		return;
	v.ok = plan->until_reached;
	v.value = v.ok;
	until_format(&plan->until, until, sizeof(until));
	if (plan->until.kind == UNTIL_STEADY)
		findings_add(&c->found, &v,
			     "not steady: after %u rounds not every row keeps "
			     "SNIA's two rules over its last five; the figures "
			     "still change, or vary by more than that",
			     plan->nr_passes);
	else
		findings_add(&c->found, &v,
			     "until=%s was not reached: after %u repeats the "
			     "interval of some row is wider than that",
			     until, plan->nr_passes);
}

static const char *target_fact(const struct result_input *in, const char *key)
{
	size_t i;

	for (i = 0; i < in->nr_target; i++)
		if (strcmp(in->target[i].key, key) == 0)
			return in->target[i].value;
	return "";
}

static bool has_written(const struct result_input *in)
{
	struct row r;
	size_t i;

	for (i = 0; i < row_count(in); i++) {
		row_init(&r, in, i);
		if (r.result->meter.op[OP_WRITE].ios)
			return true;
	}
	return false;
}

static void check_store(struct checks *c)
{
	const char *store = target_fact(c->in, "store");
	struct verdict real = {.check = "real_storage", .limit = 1};
	struct verdict durable = {.check = "durable_store", .limit = 1};

	real.ok = strcmp(store, "null") != 0 &&
		  strcmp(c->in->transport, "null") != 0 &&
		  strcmp(c->in->transport, "sim") != 0;
	real.value = real.ok;
	if (*store)
		findings_add(
			&c->found, &real,
			"the target's null store keeps no data: this measures "
			"the path to the target, not storage");
	else
		findings_add(
			&c->found, &real,
			"the %s transport reaches no storage: this measures "
			"lunbench itself",
			c->in->transport);
	if (!real.ok || !*store || !has_written(c->in))
		return;
	durable.ok = strcmp(target_fact(c->in, "durable"), "no") != 0;
	durable.value = durable.ok;
	findings_add(
		&c->found, &durable,
		"writes went to the %s store, which is not durable: flushes "
		"and FUA reach no disk, so storage that must keep its data "
		"will be slower",
		store);
}

/* Target and initiator then compete for the same cores. */
static void check_loopback(struct checks *c)
{
	static const char *const names[] = {"127.", "localhost", "[::1]"};
	const char *host = strstr(c->in->url, "iscsi://"), *at;
	struct verdict v = {.check = "own_machine", .ok = true};
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	char cpus[32];
	size_t i;

	if (!host)
		return;
	snprintf(cpus, sizeof(cpus), online == 1 ? "CPU" : "%ld CPUs", online);
	host += strlen("iscsi://");
	at = memchr(host, '@', strcspn(host, "/"));
	if (at)
		host = at + 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(host, names[i], strlen(names[i])) == 0)
			v.ok = false;
	v.value = !v.ok;
	findings_add(
		&c->found, &v,
		"the target runs on this machine, on the same %s as lunbench: "
		"both would be faster apart",
		cpus);
}

void checks_put(struct put *p, json_t *checks, json_t *warnings,
		const struct result_input *in)
{
	/* Of a job that only prepares the LUN nobody reads the figures. */
	enum { OF_ALL_ROWS = 4 };
	static void (*const of_row[])(struct checks *, const struct row *) = {
		check_has_run,	check_errors,	      check_outages,
		check_retries,	check_littles_law,    check_late,
		check_fairness, check_duration,	      check_samples,
		check_series,	check_command_window,
	};
	struct checks c = {
		.found = {.p = p, .checks = checks, .warnings = warnings},
		.in = in,
	};
	struct row r;
	size_t i, k, nr;

	check_end(&c);
	check_until(&c);
	for (i = 0; i < row_count(in); i++) {
		row_init(&r, in, i);
		nr = r.job->prepare ? OF_ALL_ROWS
				    : sizeof(of_row) / sizeof(of_row[0]);
		for (k = 0; k < nr; k++)
			of_row[k](&c, &r);
	}
	/* A virtual clock has no CPU time; the null transport is meant to be
	 * limited by the initiator. */
	if (!in->run->is_virtual_time && strcmp(in->transport, "null") != 0)
		for (i = 0; i < in->plan->nr_groups; i++)
			check_initiator_cpu(&c, i);
	check_store(&c);
	check_loopback(&c);
	findings_end(&c.found);
}
