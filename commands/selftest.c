#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/quiet_run.h"
#include "commands/signals.h"
#include "commands/spelling.h"

/*
 * The meter measured: what an I/O costs where no target takes part, how fine
 * the clock is, and simulated targets whose figures queueing theory knows.
 */

/* k servers of fixed time S at depth q: min(q,k)/S I/Os a second, each in
 * max(1,q/k)*S. */
struct proof {
	const char *what;
	const char *url;
	const char *keys[8]; /* key, value, ..., NULL */
	double iops;
	double service_ns;
	double response_ns; /* mean */
};

#define MS (double)NS_PER_MSEC

static const struct proof proofs[] = {
	{"1 server, depth 1",
	 "sim:servers=1,service=1ms,size=1G",
	 {"iodepth", "1"},
	 1000,
	 1 * MS,
	 1 * MS},
	{"1 server, depth 8: a queue of 8",
	 "sim:servers=1,service=1ms,size=1G",
	 {"iodepth", "8"},
	 1000,
	 8 * MS,
	 8 * MS},
	{"4 servers, depth 2: two idle",
	 "sim:servers=4,service=2ms,size=1G",
	 {"iodepth", "2"},
	 1000,
	 2 * MS,
	 2 * MS},
	{"4 servers, depth 32",
	 "sim:servers=4,service=2ms,size=1G",
	 {"iodepth", "32"},
	 2000,
	 16 * MS,
	 16 * MS},
	/* Open loop: request n is wanted at n/rate and done at n/capacity, so
	 * over T seconds the mean response is T/2 * (1 - capacity/rate). */
	{"1 server, asked for twice what it can",
	 "sim:servers=1,service=1ms,size=1G",
	 {"iodepth", "1", "rate_iops", "2000"},
	 1000,
	 1 * MS,
	 2500 * MS},
	{"4 servers, asked for half of what they can",
	 "sim:servers=4,service=2ms,size=1G",
	 {"iodepth", "32", "rate_iops", "1000"},
	 1000,
	 2 * MS,
	 2 * MS},
};

enum { PROOF_SECONDS = 10 };

/* One run of random 4 KiB reads; the caller releases @run. */
static int run_once(const char *url, const char *const keys[],
		    const char *runtime, struct run_result *run)
{
	struct request r = {0};
	int status = STATUS_OK;

	run_opts_init(&r.run);
	for (; *keys && !status; keys += 2)
		if (request_add_key(&r, keys[0], keys[1]))
			status = STATUS_TARGET;
	if (request_add_key(&r, "rw", "randread") ||
	    request_add_key(&r, "norandommap", NULL) ||
	    request_add_key(&r, "time_based", NULL) ||
	    request_add_key(&r, "runtime", runtime))
		status = STATUS_TARGET;
	if (!status)
		status = quiet_run(&r, url, run);
	request_release(&r);
	return status;
}

static double seconds(const struct row_result *row)
{
	return (double)(row->window_end_ns - row->window_start_ns) / NS_PER_SEC;
}

static bool within_1_percent(double got, double want)
{
	return fabs(got - want) <= 0.01 * want;
}

static int prove(const struct proof *proof)
{
	struct run_result run = {0};
	char runtime[16], s[32], sw[32], r[32], rw[32];
	const struct meter_op *op;
	double iops, service, response;
	int status;
	bool ok;

	snprintf(runtime, sizeof(runtime), "%d", PROOF_SECONDS);
	status = run_once(proof->url, proof->keys, runtime, &run);
	if (status)
		goto out;
	op = &run.rows[0].meter.op[OP_READ];
	iops = op->ios / seconds(&run.rows[0]);
	service = hist_mean_ns(op->service);
	response = hist_mean_ns(op->response);
	ok = within_1_percent(iops, proof->iops) &&
	     within_1_percent(service, proof->service_ns) &&
	     within_1_percent(response, proof->response_ns);
	printf("%-44s %s\n", proof->what, ok ? "ok" : "WRONG");
	printf("  %.1f IOPS (theory %.0f), service %s (%s), response %s (%s)\n",
	       iops, proof->iops, units_time(s, sizeof(s), service),
	       units_time(sw, sizeof(sw), proof->service_ns),
	       units_time(r, sizeof(r), response),
	       units_time(rw, sizeof(rw), proof->response_ns));
	status = ok ? STATUS_OK : STATUS_GATE;
out:
	run_result_release(&run);
	return status;
}

static int measure_null(const char *depth)
{
	const char *const keys[] = {"iodepth", depth, NULL};
	struct run_result run = {0};
	char mean[32], p99[32];
	const struct row_result *row;
	const struct meter_op *op;
	int status = run_once("null:1G", keys, "1", &run);

	if (!status && run.rows[0].meter.op[OP_READ].ios) {
		row = &run.rows[0];
		op = &row->meter.op[OP_READ];
		printf("no target, depth %-3s %10.0f IOPS, CPU %4.0f ns per "
		       "I/O, "
		       "service mean %s, p99 %s\n",
		       depth, op->ios / seconds(row),
		       (double)(row->user_cpu_ns + row->system_cpu_ns) /
			       op->ios,
		       units_time(mean, sizeof(mean),
				  hist_mean_ns(op->service)),
		       units_time(p99, sizeof(p99),
				  hist_percentile_ns(op->service, 99)));
	}
	run_result_release(&run);
	return status;
}

static void measure_clock(void)
{
	enum { CALLS = 1000000 };
	uint64_t start = clock_now_ns(), before = start, now = start;
	uint64_t smallest = UINT64_MAX;
	int i;

	for (i = 0; i < CALLS; i++) {
		now = clock_now_ns();
		if (now != before && now - before < smallest)
			smallest = now - before;
		before = now;
	}
	printf("clock: smallest step %" PRIu64 " ns, a reading costs %.0f ns\n",
	       smallest, (double)(now - start) / CALLS);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	say("\"%s\": not asked for; usage: lunbench selftest", arg);
	return EINVAL;
}

int command_selftest(int argc, char **argv)
{
	struct argp argp = {
		.parser = parse,
		.doc = "Measures the meter: the clock, the cost of an I/O "
		       "without a target, and simulated targets that must come "
		       "out as queueing theory says, within 1 %. Status 1 if "
		       "one does not."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	int status, worst = STATUS_OK;
	size_t i;

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return STATUS_USAGE;
	signals_init();
	measure_clock();
	worst = measure_null("1");
	if (!worst)
		worst = measure_null("32");
	for (i = 0; i < sizeof(proofs) / sizeof(*proofs); i++) {
		if (worst > STATUS_GATE)
			break;
		status = prove(&proofs[i]);
		worst = status > worst ? status : worst;
	}
	return worst;
}
