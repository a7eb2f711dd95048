#include "report/fio_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "report/fio_options.h"

const char FIO_JSON_VERSION[] = "fio-3.33";

const char *const fio_json_not_measured[] = {
	"eta",
	"short_ios",
	"drop_ios",
	"majf",
	"minf",
	"iodepth_submit",
	"iodepth_complete",
	"latency_target",
	"latency_window",
	NULL,
};

/* fio's own histogram ends here, and its fio_jsonplus_clat2csv never ends when
 * it meets a later bin. */
#define FIO_LAST_BIN_NS 17112760320ULL

/* --- latencies --- */

static void put_percentiles(struct put *p, json_t *lat, const struct hist *h,
			    const struct job_opts *o)
{
	json_t *all = put_object(p, lat, "percentile");
	char key[32];
	size_t i;

	for (i = 0; i < o->nr_percentiles; i++) {
		snprintf(key, sizeof(key), "%f", o->percentiles[i]);
		put_int(p, all, key, hist_percentile_ns(h, o->percentiles[i]));
	}
}

static void put_bins(struct put *p, json_t *lat, const struct hist *h)
{
	json_t *bins = put_object(p, lat, "bins");
	uint64_t beyond = 0;
	char key[32];
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (hist_bucket_ns(i) >= FIO_LAST_BIN_NS) {
			beyond += h->bucket[i];
			continue;
		}
		snprintf(key, sizeof(key), "%llu",
			 (unsigned long long)hist_bucket_ns(i));
		put_int(p, bins, key, h->bucket[i]);
	}
	if (beyond) {
		snprintf(key, sizeof(key), "%llu", FIO_LAST_BIN_NS);
		put_int(p, bins, key, beyond);
	}
}

/* Percentiles and bins only where there are samples, as fio does: its
 * fio_jsonplus_clat2csv fails on empty bins. */
static void put_latency(struct put *p, json_t *o, const char *key,
			const struct hist *h, const struct job_opts *job)
{
	json_t *lat = put_object(p, o, key);

	if (h && !h->count)
		h = NULL;
	put_int(p, lat, "min", h ? h->min_ns : 0);
	put_int(p, lat, "max", h ? h->max_ns : 0);
	put_real(p, lat, "mean", h ? hist_mean_ns(h) : 0);
	put_real(p, lat, "stddev", h ? hist_stddev_ns(h) : 0);
	put_int(p, lat, "N", h ? h->count : 0);
	if (!h)
		return;
	put_percentiles(p, lat, h, job);
	put_bins(p, lat, h);
}

/* --- samples per interval --- */

struct samples {
	uint64_t n;
	double min, max, mean, sum_sq; /* Welford's running moments */
};

static void samples_add(struct samples *s, double x)
{
	double delta = x - s->mean;

	if (!s->n || x < s->min)
		s->min = x;
	if (!s->n || x > s->max)
		s->max = x;
	s->n++;
	s->mean += delta / s->n;
	s->sum_sq += delta * (x - s->mean);
}

static double samples_stddev(const struct samples *s)
{
	return s->n > 1 ? sqrt(s->sum_sq / (s->n - 1)) : 0;
}

/* KiB/s and I/O per second of each interval. */
static void samples_collect(const struct row *r, enum io_op op,
			    struct samples *bw, struct samples *iops)
{
	const struct meter *m = &r->result->meter;
	struct intervals v = row_intervals(r);
	double seconds;
	size_t i;

	memset(bw, 0, sizeof(*bw));
	memset(iops, 0, sizeof(*iops));
	/* An op that never came has no samples, as in fio. */
	if (!m->op[op].ios)
		return;
	for (i = v.first; i < v.end; i++) {
		seconds = (double)m->interval_ns / NS_PER_SEC;
		samples_add(bw, m->series[i].bytes[op] / 1024 / seconds);
		samples_add(iops, m->series[i].ios[op] / seconds);
	}
}

/* Bytes a second; 0 where nothing was measured. */
static double row_result_bandwidth(const struct row_result *rr, enum io_op op)
{
	if (rr->window_end_ns <= rr->window_start_ns)
		return 0;
	return (double)rr->meter.op[op].bytes * NS_PER_SEC /
	       (rr->window_end_ns - rr->window_start_ns);
}

/*
 * Of all rows of the reporting group, KiB/s. Every row comes here, and there
 * may be thousands: a row_init of each, which looks at all clients, would take
 * minutes.
 */
static double group_bandwidth(const struct row *r, enum io_op op)
{
	const struct run_result *run = r->in->run;
	double sum = 0;
	size_t i;

	if (!r->result->meter.op[op].bytes)
		return 0;
	for (i = 0; i < row_count(r->in) && i < run->nr_rows; i++)
		if (r->in->plan->rows[i].groupid == r->plan->groupid)
			sum += row_result_bandwidth(&run->rows[i], op);
	return sum / 1024;
}

static void put_samples(struct put *p, json_t *o, const struct row *r,
			enum io_op op)
{
	double group = group_bandwidth(r, op), share;
	struct samples bw, iops;

	samples_collect(r, op, &bw, &iops);
	share = group > 0 ? bw.mean * 100 / group : 0;
	put_int(p, o, "bw_min", bw.min);
	put_int(p, o, "bw_max", bw.max);
	put_real(p, o, "bw_agg", share > 100 ? 100 : share);
	put_real(p, o, "bw_mean", bw.mean);
	put_real(p, o, "bw_dev", samples_stddev(&bw));
	put_int(p, o, "bw_samples", bw.n);
	put_int(p, o, "iops_min", iops.min);
	put_int(p, o, "iops_max", iops.max);
	put_real(p, o, "iops_mean", iops.mean);
	put_real(p, o, "iops_stddev", samples_stddev(&iops));
	put_int(p, o, "iops_samples", iops.n);
}

/* --- the job --- */

/* A window under half a millisecond is still not none. */
static uint64_t to_ms(uint64_t ns)
{
	uint64_t ms = (ns + NS_PER_MSEC / 2) / NS_PER_MSEC;

	return ns && !ms ? 1 : ms;
}

static void put_direction(struct put *p, json_t *job, const struct row *r,
			  enum io_op op)
{
	const struct meter_op *m = &r->result->meter.op[op];
	json_t *o = put_object(p, job, op_name(op));
	uint64_t bw_bytes = row_per_second(r, m->bytes);

	put_int(p, o, "io_bytes", m->bytes);
	put_int(p, o, "io_kbytes", m->bytes / 1024);
	put_int(p, o, "bw_bytes", bw_bytes);
	put_int(p, o, "bw", bw_bytes / 1024);
	put_real(p, o, "iops", row_per_second(r, m->ios));
	put_int(p, o, "runtime", m->ios ? to_ms(r->window_ns) : 0);
	put_int(p, o, "total_ios", m->ios);
	put_int(p, o, "short_ios", 0);
	put_int(p, o, "drop_ios", 0);
	put_latency(p, o, "slat_ns", m->wait, r->job);
	put_latency(p, o, "clat_ns", m->service, r->job);
	put_latency(p, o, "lat_ns", m->response, r->job);
	put_samples(p, o, r, op);
}

static void put_sync(struct put *p, json_t *job, const struct row *r)
{
	const struct meter_op *m = &r->result->meter.op[OP_FLUSH];
	json_t *o = put_object(p, job, "sync");

	put_int(p, o, "total_ios", m->ios);
	put_latency(p, o, "lat_ns", m->service, r->job);
}

static void put_cpu(struct put *p, json_t *job, const struct row *r)
{
	const struct row_result *rr = r->result;
	bool known = r->window_ns && !r->in->run->is_virtual_time;

	put_real(p, job, "usr_cpu",
		 known ? 100.0 * rr->user_cpu_ns / r->window_ns : 0);
	put_real(p, job, "sys_cpu",
		 known ? 100.0 * rr->system_cpu_ns / r->window_ns : 0);
	put_int(p, job, "ctx", known ? rr->context_switches : 0);
	put_int(p, job, "majf", 0);
	put_int(p, job, "minf", 0);
}

static void put_depths(struct put *p, json_t *job, const struct row *r)
{
	static const char *const level[DEPTH_LEVELS] = {"1",  "2",  "4",   "8",
							"16", "32", ">=64"};
	static const char *const batch[] = {"0",  "4",	"8",   "16",
					    "32", "64", ">=64"};
	static const char *const not_measured[] = {"iodepth_submit",
						   "iodepth_complete"};
	const uint64_t *count = r->result->meter.depth_level;
	uint64_t total = 0;
	size_t i, k;
	json_t *o = put_object(p, job, "iodepth_level");

	for (i = 0; i < DEPTH_LEVELS; i++)
		total += count[i];
	for (i = 0; i < DEPTH_LEVELS; i++)
		put_real(p, o, level[i], total ? 100.0 * count[i] / total : 0);
	for (i = 0; i < 2; i++) {
		o = put_object(p, job, not_measured[i]);
		for (k = 0; k < sizeof(batch) / sizeof(batch[0]); k++)
			put_real(p, o, batch[k], 0);
	}
}

/* Completions of reads, writes and trims with a service time under @ns. */
static uint64_t count_below(const struct row *r, uint64_t ns)
{
	const struct hist *h;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < OP_DATA_COUNT; i++) {
		h = r->result->meter.op[i].service;
		if (h)
			n += hist_count_upto(h, ns - 1);
	}
	return n;
}

/* fio's coarse distribution: percent of the I/Os from the bound before up to,
 * not including, the bound that is the key. */
static void put_distribution(struct put *p, json_t *job, const struct row *r)
{
	static const unsigned int bounds[] = {2,   4,	10,  20,   50,	100,
					      250, 500, 750, 1000, 2000};
	static const struct {
		const char *key;
		uint64_t unit_ns;
		size_t n;
	} scales[] = {{"latency_ns", 1, 10},
		      {"latency_us", NS_PER_USEC, 10},
		      {"latency_ms", NS_PER_MSEC, 11}};
	uint64_t before = 0, below, total = count_below(r, UINT64_MAX);
	double percent = total ? 100.0 / total : 0;
	json_t *o = NULL;
	char key[16];
	size_t i, k;

	for (i = 0; i < 3; i++) {
		o = put_object(p, job, scales[i].key);
		for (k = 0; k < scales[i].n; k++) {
			below = count_below(r, bounds[k] * scales[i].unit_ns);
			snprintf(key, sizeof(key), "%u", bounds[k]);
			put_real(p, o, key, (below - before) * percent);
			before = below;
		}
	}
	put_real(p, o, ">=2000", (total - before) * percent);
}

static void put_errors(struct put *p, json_t *job, const struct row *r)
{
	const struct error_sample *s = row_first_error(r, 0);
	int first = s ? -s->result : -r->result->error;

	put_int(p, job, "total_err", r->errors);
	put_int(p, job, "first_error", first > 0 ? first : 0);
}

static uint64_t elapsed_s(const struct row *r)
{
	const struct run_result *run = r->in->run;
	size_t g = r->plan->group;
	uint64_t ns = run->duration_ns;

	if (g < run->nr_groups && run->group_end_ns[g] != UINT64_MAX)
		ns = run->group_end_ns[g];
	return (ns + NS_PER_SEC - 1) / NS_PER_SEC;
}

void fio_json_put_job(struct put *p, json_t *jobs, const struct row *r)
{
	json_t *job = put_object(p, jobs, NULL);
	size_t op;

	put_text(p, job, "jobname", r->plan->name);
	put_int(p, job, "groupid", r->plan->groupid);
	put_int(p, job, "error", r->result->error < 0 ? -r->result->error : 0);
	put_int(p, job, "eta", 0);
	put_int(p, job, "elapsed", elapsed_s(r));
	if (r->job->description)
		put_text(p, job, "desc", r->job->description);
	fio_options_put_job(p, job, r);
	for (op = 0; op < OP_DATA_COUNT; op++)
		put_direction(p, job, r, op);
	put_sync(p, job, r);
	put_int(p, job, "job_runtime", to_ms(r->window_ns));
	put_cpu(p, job, r);
	put_depths(p, job, r);
	put_distribution(p, job, r);
	put_errors(p, job, r);
	put_int(p, job, "latency_depth", r->job->iodepth);
	put_int(p, job, "latency_target", 0);
	put_real(p, job, "latency_percentile", 100);
	put_int(p, job, "latency_window", 0);
}

/* As ctime(3), without its line end. */
static void put_time(struct put *p, json_t *o, time_t seconds)
{
	char text[32];

	if (!ctime_r(&seconds, text))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	put_text(p, o, "time", text);
}

void fio_json_put_head(struct put *p, json_t *document,
		       const struct result_input *in)
{
	uint64_t end_ns = in->run->start_wall_ns + in->run->duration_ns;

	put_text(p, document, "fio version", FIO_JSON_VERSION);
	put_int(p, document, "timestamp", end_ns / NS_PER_SEC);
	put_int(p, document, "timestamp_ms", end_ns / NS_PER_MSEC);
	put_time(p, document, end_ns / NS_PER_SEC);
	fio_options_put_global(p, document, in->plan->set);
}
