#include <errno.h>
#include <string.h>

#include "report/row.h"

static void put_times(struct put *p, json_t *o, const struct hist *h)
{
	put_real(p, o, "mean_ns", hist_mean_ns(h));
	put_int(p, o, "p50_ns", hist_percentile_ns(h, 50));
	put_int(p, o, "p99_ns", hist_percentile_ns(h, 99));
	put_int(p, o, "p99_9_ns", hist_percentile_ns(h, 99.9));
	put_int(p, o, "max_ns", h->max_ns);
}

/* What the table and comparisons show: response time where a rate sets the
 * pace, else service time (docs/METHOD.md, "Which latency is shown"). */
static void put_latency(struct put *p, json_t *o, const struct row *r,
			const struct meter_op *op)
{
	const struct hist *h = r->is_open ? op->response : op->service;
	json_t *latency;

	if (!h || !h->count) {
		put_value(p, o, "latency", json_null());
		return;
	}
	latency = put_object(p, o, "latency");
	put_text(p, latency, "of", r->is_open ? "response" : "service");
	put_times(p, latency, h);
}

static void put_ops(struct put *p, json_t *o, const struct row *r)
{
	json_t *ops = put_object(p, o, "ops"), *one;
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		const struct meter_op *op = &r->result->meter.op[i];

		if (!(r->plan->ops & OP_BIT(i)))
			continue;
		one = put_object(p, ops, op_name(i));
		put_int(p, one, "ios", op->ios);
		put_int(p, one, "bytes", op->bytes);
		put_int(p, one, "errors", op->errors);
		put_int(p, one, "outside_ios", op->outside_ios);
		put_real(p, one, "bytes_per_s", row_per_second(r, op->bytes));
		put_real(p, one, "ios_per_s", row_per_second(r, op->ios));
		put_latency(p, one, r, op);
	}
}

static void put_clients(struct put *p, json_t *o, const struct row *r)
{
	const struct row_result *rr = r->result;
	json_t *all = put_array(p, o, "clients"), *one;
	json_t *fairness = put_object(p, o, "fairness");
	uint64_t min = UINT64_MAX, max = 0;
	size_t i;

	for (i = 0; i < rr->nr_clients; i++) {
		const struct client_result *c = &rr->clients[i];

		one = put_object(p, all, NULL);
		put_int(p, one, "client", c->client);
		put_int(p, one, "ios", c->ios);
		put_int(p, one, "bytes", c->bytes);
		put_int(p, one, "disconnects", c->disconnects);
		put_int(p, one, "outage_ns", c->outage_ns);
		min = c->ios < min ? c->ios : min;
		max = c->ios > max ? c->ios : max;
	}
	put_int(p, fairness, "clients", rr->nr_clients);
	put_real(p, fairness, "jain", row_fairness(r));
	put_int(p, fairness, "min_ios", rr->nr_clients ? min : 0);
	put_int(p, fairness, "max_ios", max);
}

static void put_troubles(struct put *p, json_t *o, const struct row *r)
{
	const struct meter *m = &r->result->meter;
	json_t *retries = put_object(p, o, "retries"), *outages, *errors, *one;
	size_t i;

	for (i = 0; i < RETRY_CAUSES; i++)
		put_int(p, retries, retry_cause_name(i), m->retries[i]);
	outages = put_object(p, o, "outages");
	put_int(p, outages, "disconnects", r->disconnects);
	put_int(p, outages, "outage_ns", r->outage_ns);
	errors = put_array(p, o, "errors");
	for (i = 0; i < m->nr_errors; i++) {
		const struct error_sample *s = &m->error[i];

		one = put_object(p, errors, NULL);
		put_int(p, one, "at_ns", s->at_ns);
		put_text(p, one, "op", op_name(s->op));
		put_int(p, one, "offset_bytes", s->offset_bytes);
		put_int(p, one, "length_bytes", s->length_bytes);
		put_int(p, one, "errno",
			s->result < 0 ? -(int64_t)s->result : 0);
		put_int(p, one, "count", s->count);
		put_text(p, one, "text", s->text);
	}
}

static uint64_t point_ios(const struct series_point *s)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < OP_COUNT; i++)
		n += s->ios[i];
	return n;
}

static void put_series(struct put *p, json_t *o, const struct row *r)
{
	const struct meter *m = &r->result->meter;
	json_t *series = put_object(p, o, "series"), *op, *ios, *bytes;
	json_t *errors, *mean, *max;
	size_t i, k;

	put_int(p, series, "interval_ns", m->interval_ns);
	put_int(p, series, "dropped", m->series_dropped);
	for (i = 0; i < OP_COUNT; i++) {
		if (!(r->plan->ops & OP_BIT(i)))
			continue;
		op = put_object(p, series, op_name(i));
		ios = put_array(p, op, "ios");
		bytes = put_array(p, op, "bytes");
		for (k = 0; k < m->nr_series; k++) {
			put_int(p, ios, NULL, m->series[k].ios[i]);
			put_int(p, bytes, NULL, m->series[k].bytes[i]);
		}
	}
	errors = put_array(p, series, "errors");
	mean = put_array(p, series, "service_mean_ns");
	max = put_array(p, series, "service_max_ns");
	for (k = 0; k < m->nr_series; k++) {
		const struct series_point *s = &m->series[k];
		uint64_t n = point_ios(s);

		put_int(p, errors, NULL, s->errors);
		put_int(p, mean, NULL, n ? s->service_sum_ns / n + 0.5 : 0);
		put_int(p, max, NULL, s->service_max_ns);
	}
}

static void put_workers(struct put *p, json_t *cpu, const struct row_result *rr)
{
	json_t *all = put_array(p, cpu, "workers"), *one;
	const struct worker_share *w;
	size_t i;

	for (i = 0; i < rr->nr_workers; i++) {
		w = &rr->workers[i];
		one = put_object(p, all, NULL);
		put_int(p, one, "worker", w->number);
		put_real(p, one, "core_percent",
			 100.0 * w->cpu_ns / w->span_ns);
		put_real(p, one, "starved_percent",
			 100.0 * w->starved_ns / w->span_ns);
		put_int(p, one, "waits", w->waits);
	}
}

/* On a virtual clock the CPU's real time says nothing, and would make two
 * equal runs differ. */
static void put_cpu(struct put *p, json_t *o, const struct row *r)
{
	const struct row_result *rr = r->result;
	double ios = r->ios ? r->ios : 1;
	uint64_t cpu_ns = rr->user_cpu_ns + rr->system_cpu_ns;
	json_t *cpu;

	if (r->in->run->is_virtual_time) {
		put_value(p, o, "cpu", json_null());
		return;
	}
	cpu = put_object(p, o, "cpu");
	put_int(p, cpu, "user_ns", rr->user_cpu_ns);
	put_int(p, cpu, "system_ns", rr->system_cpu_ns);
	put_real(p, cpu, "user_ns_per_io", rr->user_cpu_ns / ios);
	put_real(p, cpu, "system_ns_per_io", rr->system_cpu_ns / ios);
	put_real(p, cpu, "core_percent",
		 r->window_ns ? 100.0 * cpu_ns / r->window_ns : 0);
	put_int(p, cpu, "context_switches", rr->context_switches);
	put_workers(p, cpu, rr);
}

static void put_command_window(struct put *p, json_t *o, const struct row *r)
{
	const struct meter *m = &r->result->meter;
	json_t *window;

	if (!m->sends) {
		put_value(p, o, "command_window", json_null());
		return;
	}
	window = put_object(p, o, "command_window");
	put_int(p, window, "sends", m->sends);
	put_int(p, window, "held_sends", m->held_sends);
	put_real(p, window, "held_mean", (double)m->held_sum / m->sends);
	put_real(p, window, "outstanding_mean",
		 (double)m->sent_depth_sum / m->sends);
}

static void put_stages(struct put *p, json_t *wire, const struct meter *m)
{
	json_t *stages = put_object(p, wire, "stages"), *one;
	json_t *went = put_object(p, wire, "time_went");
	double all = 0;
	size_t i;

	for (i = 0; i < WIRE_STAGES; i++)
		all += m->stage[i]->sum_ns;
	for (i = 0; i < WIRE_STAGES; i++) {
		one = put_object(p, stages, wire_stage_name(i));
		put_int(p, one, "n", m->stage[i]->count);
		put_times(p, one, m->stage[i]);
		put_real(p, went, wire_stage_name(i),
			 all > 0 ? m->stage[i]->sum_ns / all : 0);
	}
}

/* Absent where the wire has no tap, or nothing was done. */
static void put_wire(struct put *p, json_t *o, const struct row *r)
{
	const struct meter *m = &r->result->meter;
	const struct wire_counts *c = &m->wire;
	json_t *wire;

	if (!m->stage[0] || !m->stage[0]->count)
		return;
	wire = put_object(p, o, "wire");
	put_stages(p, wire, m);
	put_int(p, wire, "window_stalls", c->window_stalls);
	put_int(p, wire, "window_shut_ns", c->window_shut_ns);
	put_int(p, wire, "window_commands", c->window_commands);
	put_int(p, wire, "r2ts", c->r2ts);
	put_int(p, wire, "pdus_out", c->pdus_out);
	put_int(p, wire, "data_outs", c->data_outs);
	put_int(p, wire, "pdus_in", c->pdus_in);
	put_int(p, wire, "nops", c->nops);
	put_int(p, wire, "digest_errors", c->digest_errors);
}

static void put_littles_law(struct put *p, json_t *o, const struct row *r)
{
	struct littles_law l;
	json_t *law;

	if (!row_littles_law(r, &l)) {
		put_value(p, o, "littles_law", json_null());
		return;
	}
	law = put_object(p, o, "littles_law");
	put_real(p, law, "n_measured", l.n_measured);
	put_real(p, law, "x_hz", l.x_hz);
	put_real(p, law, "r_ns", l.r_ns);
	put_real(p, law, "product", l.product);
	put_real(p, law, "ratio", l.ratio);
}

static bool has_repeats(const struct row *r)
{
	const struct plan *plan = r->in->plan;
	size_t i;

	for (i = 0; i < plan->nr_rows; i++)
		if (plan->rows[i].job == r->plan->job &&
		    plan->rows[i].repeat != r->plan->repeat)
			return true;
	return false;
}

/* What most rows are not: absent there. */
static void put_kind(struct put *p, json_t *o, const struct row *r)
{
	if (has_repeats(r))
		put_int(p, o, "repeat", r->plan->repeat);
	if (r->plan->clients)
		put_int(p, o, "step_clients", r->plan->clients);
	if (r->plan->view)
		put_text(p, o, "view", r->plan->view);
}

void row_put(struct put *p, json_t *rows, const struct row *r)
{
	const struct row_result *rr = r->result;
	json_t *o = put_object(p, rows, NULL), *window;
	const struct error_sample *first;

	put_text(p, o, "name", r->plan->name);
	put_int(p, o, "groupid", r->plan->groupid);
	put_int(p, o, "group", r->plan->group);
	put_kind(p, o, r);
	put_bool(p, o, "has_run", r->has_run);
	if (r->is_cut_short)
		put_bool(p, o, "cut_short", true);
	put_text(p, o, "pace", r->is_open ? "open" : "closed");
	put_int_or_null(p, o, "iodepth",
			r->mixes_depths ? UINT64_MAX : r->job->iodepth);
	put_int(p, o, "total_depth", r->total_depth);
	window = put_object(p, o, "window");
	put_int(p, window, "start_ns", rr->window_start_ns);
	put_int(p, window, "end_ns", rr->window_end_ns);
	put_ops(p, o, r);
	put_littles_law(p, o, r);
	put_command_window(p, o, r);
	put_wire(p, o, r);
	put_cpu(p, o, r);
	beside_put(p, o, row_beside(r));
	put_clients(p, o, r);
	put_troubles(p, o, r);
	put_series(p, o, r);
	first = row_first_error(r, rr->error);
	if (!rr->error)
		put_value(p, o, "error", json_null());
	else
		put_text(p, o, "error",
			 first ? first->text : strerror(-rr->error));
}
