#include "initiator/meter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A series starts with a minute of points, and may have 2^20 (12 days of
 * seconds): a wrong time must not ask for all memory. */
enum { SERIES_FIRST = 64, SERIES_MAX = 1 << 20 };

const char *retry_cause_name(enum retry_cause c)
{
	static const char *const names[RETRY_CAUSES] = {
		[RETRY_BUSY] = "busy",
		[RETRY_TASK_SET_FULL] = "task_set_full",
		[RETRY_UNIT_ATTENTION] = "unit_attention",
		[RETRY_NOT_READY] = "not_ready",
		[RETRY_CONNECTION_LOST] = "connection_lost",
	};

	return names[c];
}

static int op_alloc_hists(struct meter_op *o)
{
	struct hist **all[] = {&o->wait, &o->service, &o->response};
	size_t i;

	for (i = 0; i < 3; i++) {
		if (*all[i])
			continue;
		*all[i] = malloc(sizeof(struct hist));
		if (!*all[i])
			return -ENOMEM;
		hist_init(*all[i]);
	}
	return 0;
}

/* Room for at least @points; -ENOMEM leaves the series as it was. */
static int series_reserve(struct meter *m, size_t points)
{
	size_t cap = m->cap_series ? m->cap_series : SERIES_FIRST;
	struct series_point *series;

	if (points <= m->cap_series)
		return 0;
	if (points > SERIES_MAX)
		return -ENOMEM;
	while (cap < points)
		cap *= 2;
	series = realloc(m->series, cap * sizeof(*series));
	if (!series)
		return -ENOMEM;
	memset(series + m->cap_series, 0,
	       (cap - m->cap_series) * sizeof(*series));
	m->series = series;
	m->cap_series = cap;
	return 0;
}

int meter_init(struct meter *m, unsigned int ops, uint64_t interval_ns,
	       struct err *e)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	m->interval_ns = interval_ns;
	for (i = 0; i < OP_COUNT; i++) {
		m->op[i].first_submit_ns = UINT64_MAX;
		if ((ops & OP_BIT(i)) && op_alloc_hists(&m->op[i]))
			goto out_memory;
	}
	if (interval_ns && series_reserve(m, 1))
		goto out_memory;
	return 0;

out_memory:
	meter_release(m);
	return err_set(e, -ENOMEM, "no memory for a meter");
}

void meter_release(struct meter *m)
{
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		free(m->op[i].wait);
		free(m->op[i].service);
		free(m->op[i].response);
	}
	for (i = 0; i < WIRE_STAGES; i++)
		free(m->stage[i]);
	free(m->series);
	memset(m, 0, sizeof(*m));
}

/* The point of @since_start_ns, or NULL when there is none and can be none. */
static struct series_point *series_at(struct meter *m, uint64_t since_start_ns)
{
	uint64_t i;

	if (!m->interval_ns)
		return NULL;
	i = since_start_ns / m->interval_ns;
	if (i >= m->nr_series) {
		if (i >= SERIES_MAX || series_reserve(m, i + 1)) {
			m->series_dropped++;
			return NULL;
		}
		m->nr_series = i + 1;
	}
	return &m->series[i];
}

int meter_extend_series(struct meter *m, uint64_t since_start_ns, struct err *e)
{
	uint64_t points;

	if (!m->interval_ns || !since_start_ns)
		return 0;
	points = (since_start_ns - 1) / m->interval_ns + 1;
	if (points <= m->nr_series)
		return 0;
	if (points > SERIES_MAX)
		points = SERIES_MAX;
	if (series_reserve(m, points))
		return err_set(e, -ENOMEM, "no memory for a series");
	m->nr_series = points;
	return 0;
}

static uint64_t since(uint64_t earlier_ns, uint64_t later_ns)
{
	return later_ns > earlier_ns ? later_ns - earlier_ns : 0;
}

void meter_record(struct meter *m, enum io_op op, uint32_t bytes, bool counted,
		  uint64_t intended_ns, uint64_t submit_ns, uint64_t done_ns,
		  uint64_t since_start_ns)
{
	struct series_point *point = series_at(m, since_start_ns);
	uint64_t service_ns = since(submit_ns, done_ns);
	struct meter_op *o = &m->op[op];

	if (point) {
		point->ios[op]++;
		point->bytes[op] += bytes;
		point->service_sum_ns += service_ns;
		if (service_ns > point->service_max_ns)
			point->service_max_ns = service_ns;
	}
	if (!counted) {
		o->outside_ios++;
		return;
	}
	o->ios++;
	o->bytes += bytes;
	if (submit_ns < o->first_submit_ns)
		o->first_submit_ns = submit_ns;
	if (done_ns > o->last_done_ns)
		o->last_done_ns = done_ns;
	hist_record(o->wait, since(intended_ns, submit_ns));
	hist_record(o->service, service_ns);
	hist_record(o->response, since(intended_ns, done_ns));
}

static int alloc_stages(struct meter *m)
{
	for (size_t i = 0; i < WIRE_STAGES; i++) {
		if (m->stage[i])
			continue;
		m->stage[i] = malloc(sizeof(*m->stage[i]));
		if (!m->stage[i])
			return -ENOMEM;
		hist_init(m->stage[i]);
	}
	return 0;
}

int meter_add_stages(struct meter *m, struct err *e)
{
	if (alloc_stages(m))
		return err_set(e, -ENOMEM, "no memory for a meter");
	return 0;
}

void meter_record_stages(struct meter *m, const uint64_t ns[WIRE_STAGES])
{
	for (size_t i = 0; i < WIRE_STAGES; i++)
		hist_record(m->stage[i], ns[i]);
}

void meter_record_depth(struct meter *m, unsigned int depth)
{
	unsigned int level = 0;

	while (depth >>= 1)
		level++;
	m->depth_level[level < DEPTH_LEVELS ? level : DEPTH_LEVELS - 1]++;
}

void meter_record_send(struct meter *m, unsigned int depth, unsigned int held)
{
	m->sends++;
	m->held_sends += held > 0;
	m->held_sum += held;
	m->sent_depth_sum += depth;
}

static void errors_add(struct meter *m, const struct error_sample *s,
		       uint64_t count)
{
	struct error_sample *k;

	for (k = m->error; k < m->error + m->nr_errors; k++) {
		if (k->op != s->op || k->result != s->result ||
		    strcmp(k->text, s->text) != 0)
			continue;
		count += k->count;
		if (s->at_ns < k->at_ns)
			*k = *s;
		k->count = count;
		return;
	}
	if (m->nr_errors == ERROR_SAMPLES)
		return;
	*k = *s;
	k->count = count;
	m->nr_errors++;
}

void meter_record_error(struct meter *m, const struct error_sample *s,
			bool counted)
{
	struct series_point *point = series_at(m, s->at_ns);

	if (point)
		point->errors++;
	if (counted)
		m->op[s->op].errors++;
	errors_add(m, s, 1);
}

static void op_add(struct meter_op *to, const struct meter_op *from)
{
	to->ios += from->ios;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->outside_ios += from->outside_ios;
	if (from->first_submit_ns < to->first_submit_ns)
		to->first_submit_ns = from->first_submit_ns;
	if (from->last_done_ns > to->last_done_ns)
		to->last_done_ns = from->last_done_ns;
	if (!from->response)
		return;
	hist_add(to->wait, from->wait);
	hist_add(to->service, from->service);
	hist_add(to->response, from->response);
}

static void point_add(struct series_point *to, const struct series_point *from)
{
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		to->ios[i] += from->ios[i];
		to->bytes[i] += from->bytes[i];
	}
	to->errors += from->errors;
	to->service_sum_ns += from->service_sum_ns;
	if (from->service_max_ns > to->service_max_ns)
		to->service_max_ns = from->service_max_ns;
}

static bool has_stages(const struct meter *m)
{
	return m->stage[WIRE_STAGES - 1];
}

int meter_add(struct meter *to, const struct meter *from, struct err *e)
{
	size_t i;

	if (to->interval_ns != from->interval_ns)
		return err_set(e, -EINVAL,
			       "meters with intervals of %llu ns and %llu ns "
			       "cannot be added",
			       (unsigned long long)to->interval_ns,
			       (unsigned long long)from->interval_ns);
	/* Everything that can fail comes first. */
	if (series_reserve(to, from->nr_series))
		return err_set(e, -ENOMEM, "no memory to add meters");
	for (i = 0; i < OP_COUNT; i++)
		if (from->op[i].response && op_alloc_hists(&to->op[i]))
			return err_set(e, -ENOMEM, "no memory to add meters");
	if (has_stages(from) && alloc_stages(to))
		return err_set(e, -ENOMEM, "no memory to add meters");

	for (i = 0; i < OP_COUNT; i++)
		op_add(&to->op[i], &from->op[i]);
	for (i = 0; i < RETRY_CAUSES; i++)
		to->retries[i] += from->retries[i];
	for (i = 0; i < DEPTH_LEVELS; i++)
		to->depth_level[i] += from->depth_level[i];
	for (i = 0; has_stages(from) && i < WIRE_STAGES; i++)
		hist_add(to->stage[i], from->stage[i]);
	wire_counts_add(&to->wire, &from->wire, &(struct wire_counts){0});
	to->sends += from->sends;
	to->held_sends += from->held_sends;
	to->held_sum += from->held_sum;
	to->sent_depth_sum += from->sent_depth_sum;
	for (i = 0; i < from->nr_series; i++)
		point_add(&to->series[i], &from->series[i]);
	if (to->nr_series < from->nr_series)
		to->nr_series = from->nr_series;
	to->series_dropped += from->series_dropped;
	for (i = 0; i < from->nr_errors; i++)
		errors_add(to, &from->error[i], from->error[i].count);
	to->outstanding_ns += from->outstanding_ns;
	return 0;
}

void run_result_cut(struct run_result *r, size_t nr_rows, size_t nr_groups)
{
	for (; r->rows && r->nr_rows > nr_rows; r->nr_rows--) {
		meter_release(&r->rows[r->nr_rows - 1].meter);
		free(r->rows[r->nr_rows - 1].clients);
		free(r->rows[r->nr_rows - 1].workers);
	}
	if (r->nr_groups > nr_groups)
		r->nr_groups = nr_groups;
}

void run_result_release(struct run_result *r)
{
	run_result_cut(r, 0, 0);
	free(r->rows);
	free(r->events);
	free(r->group_start_ns);
	free(r->group_end_ns);
	memset(r, 0, sizeof(*r));
}

double meter_jain(const uint64_t *x, size_t n)
{
	double sum = 0, sum_sq = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += x[i];
		sum_sq += (double)x[i] * x[i];
	}
	/* Nobody got anything: all the same, so fair. */
	if (n <= 1 || sum_sq == 0)
		return 1;
	return sum * sum / (n * sum_sq);
}
