#include "commands/baseline_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/lab_target.h"
#include "commands/live_line.h"
#include "commands/prepare.h"
#include "commands/quiet_run.h"
#include "commands/signals.h"
#include "initiator/floor.h"
#include "target/listen.h"

/* --- what is asked --- */

static int add_keys(struct request *r, const struct baseline_ask *a)
{
	if (request_add_key(r, "rw", a->rw) ||
	    request_add_key(r, "bs", a->bs) ||
	    request_add_key(r, "iodepth", a->iodepth) ||
	    request_add_key(r, "runtime", a->runtime) ||
	    request_add_key(r, "time_based", NULL) ||
	    request_add_key(r, "norandommap", NULL)) {
		say("out of memory");
		return STATUS_TARGET;
	}
	return STATUS_OK;
}

static bool is_loopback(const char *host)
{
	struct listen_address a;

	return !strcasecmp(host, "localhost") ||
	       (!listen_parse(&a, host, NULL) && a.is_loopback);
}

/* What the job's keys come to, checked as those of a run are. */
static int check_job(struct baseline_ask *a, struct baseline *b)
{
	struct prepared p = {0};
	const struct job_opts *o;
	int status = add_keys(&a->request, a);

	if (!status)
		status = prepare_load(&p, &a->request);
	if (!status) {
		o = &p.set.jobs[0];
		a->reads = o->ops & OP_BIT(OP_READ);
		a->writes = o->ops & OP_BIT(OP_WRITE);
		a->runtime_ns = o->runtime_ns;
		b->block_bytes = o->bs[a->reads ? OP_READ : OP_WRITE];
		b->iodepth = o->iodepth;
		if (!a->reads && !a->writes) {
			say("--rw: \"%s\" moves no data; take one that reads "
			    "or writes",
			    a->rw);
			status = STATUS_USAGE;
		} else if (!a->runtime_ns) {
			say("--runtime: \"%s\" is no time; give at least 1",
			    a->runtime);
			status = STATUS_USAGE;
		}
	}
	prepare_release(&p);
	return status;
}

int baseline_ask_check(struct baseline_ask *a, struct baseline *b)
{
	const struct url *u = &a->request.url;
	char lab[128];

	memset(b, 0, sizeof(*b));
	if (strcmp(u->scheme, "iscsi") != 0) {
		say("\"%s\": a baseline is for an iSCSI LUN "
		    "(iscsi://HOST/IQN/LUN); run the job on a local device "
		    "itself",
		    u->display);
		return STATUS_USAGE;
	}
	/* Between here and a lab's guest lies QEMU's network. */
	a->is_loopback =
		is_loopback(u->host) &&
		!lab_target_owns(u->host, u->port, u->target, &a->target, lab);
	a->is_ours = tgt_owns(u->host, u->port, u->target, &a->target);
	snprintf(b->url, sizeof(b->url), "%s", u->display);
	snprintf(b->rw, sizeof(b->rw), "%s", a->rw);
	return check_job(a, b);
}

/* --- the rows --- */

static void announce(const struct baseline_ask *a, enum baseline_what what,
		     const char *of)
{
	if (!a->request.quiet)
		fprintf(stderr, "%s: %s\n", baseline_name(what), of);
}

static void note(struct baseline_row *r, const char *text)
{
	snprintf(r->note, sizeof(r->note), "%s", text);
}

static int measure_sockets(struct baseline_ask *a, struct baseline *b)
{
	struct baseline_row *row = &b->row[BASELINE_SOCKETS];
	const struct floor_opts o = {.block_bytes = b->block_bytes,
				     .depth = b->iodepth,
				     .reads = a->reads,
				     .writes = a->writes,
				     .runtime_ns = a->runtime_ns,
				     .stop = &signals_seen};
	struct floor_result r;
	struct err e = {0};

	snprintf(row->of, sizeof(row->of), "two TCP sockets over loopback");
	announce(a, BASELINE_SOCKETS, row->of);
	if (floor_measure(&o, &r, &e)) {
		note(row, e.text);
		return signals_seen ? STATUS_INTERRUPTED : STATUS_OK;
	}
	row->is_measured = true;
	row->applies = a->is_loopback;
	if (!a->is_loopback)
		note(row, "what this host can do without a network; it is not "
			  "the network to that target");
	row->ios_per_s = (double)r.messages * NS_PER_SEC / r.elapsed_ns;
	row->bytes_per_s = row->ios_per_s * b->block_bytes;
	row->cpu_ns = (double)r.cpu_ns / r.messages;
	return STATUS_OK;
}

static void take_run(struct baseline_row *row, const struct run_result *run)
{
	const struct row_result *r = &run->rows[0];
	double ns = r->window_end_ns - r->window_start_ns, sum_ns = 0;
	uint64_t ios = 0, bytes = 0;
	int op;

	for (op = 0; op < OP_COUNT; op++) {
		const struct meter_op *o = &r->meter.op[op];

		ios += o->ios;
		bytes += o->bytes;
		if (o->service)
			sum_ns += o->service->sum_ns;
	}
	if (!ios || ns <= 0) {
		note(row, "nothing was measured");
		return;
	}
	row->is_measured = true;
	row->ios_per_s = ios * NS_PER_SEC / ns;
	row->bytes_per_s = bytes * NS_PER_SEC / ns;
	row->mean_ns = sum_ns / ios;
	row->cpu_ns = (double)(r->user_cpu_ns + r->system_cpu_ns) / ios;
}

/* The job on @url, run as the request says. */
static int run_on(const struct baseline_ask *a, const char *url,
		  struct baseline_row *row)
{
	struct request r = {.run = a->request.run};
	struct run_result run = {0};
	struct live_line live;
	int status = add_keys(&r, a);

	live_line_init(&live, a->request.quiet);
	live_line_attach(&live, &r.run);
	if (!status)
		status = quiet_run(&r, url, &run);
	live_line_end(&live);
	if (!status)
		take_run(row, &run);
	else if (status != STATUS_INTERRUPTED)
		note(row, "it failed (see above)");
	run_result_release(&run);
	request_release(&r);
	return status == STATUS_INTERRUPTED ? status : STATUS_OK;
}

static int measure_null(struct baseline_ask *a, struct baseline *b)
{
	struct baseline_row *row = &b->row[BASELINE_NULL];
	struct tgt_status target = {0};
	char stale[256] = "";
	struct tgt_opts o;
	struct err e = {0};
	int status;

	tgt_opts_init(&o);
	snprintf(o.name, sizeof(o.name), "baseline-%d", (int)getpid());
	o.store = STORE_NULL;
	if (a->is_ours) {
		o.size_bytes = a->target.size_bytes;
		o.block_bytes = a->target.block_bytes;
		o.stock = a->target.stock;
	}
	snprintf(row->of, sizeof(row->of), "bundled tgtd, %s, here",
		 o.stock ? "stock" : "tuned");
	announce(a, BASELINE_NULL, row->of);
	if (tgt_up(&o, &target, stale, &e)) {
		note(row, e.text);
		return signals_seen ? STATUS_INTERRUPTED : STATUS_OK;
	}
	status = signals_seen ? STATUS_INTERRUPTED : run_on(a, target.url, row);
	if (tgt_down(o.name, &e)) {
		say_err(&e, STATUS_TARGET);
		say("run: lunbench target down --name %s", o.name);
	}
	row->applies = row->is_measured && a->is_loopback;
	if (row->is_measured && !a->is_loopback)
		note(row, "it is neither that target nor the network to it");
	return status;
}

/* Why the device below cannot be measured, or NULL. */
static const char *no_device(const struct baseline_ask *a)
{
	if (!a->is_ours)
		return a->is_loopback
			       ? "the target is not lunbench's own: what lies "
				 "below it is not known"
			       : "what lies below that target cannot be seen "
				 "from here";
	if (!strcmp(a->target.store, "null"))
		return "nothing lies below the null store";
	if (a->writes && !a->target.backing_is_ours)
		return "the job writes, and what lies below the target is not "
		       "lunbench's own";
	return NULL;
}

static int measure_device(struct baseline_ask *a, struct baseline *b)
{
	struct baseline_row *row = &b->row[BASELINE_DEVICE];
	const char *why = no_device(a);
	char url[sizeof(a->target.backing) + 8];
	int status;

	if (why) {
		note(row, why);
		return STATUS_OK;
	}
	snprintf(row->of, sizeof(row->of), "%.255s", a->target.backing);
	announce(a, BASELINE_DEVICE, row->of);
	snprintf(url, sizeof(url), "block:%s", a->target.backing);
	status = run_on(a, url, row);
	row->applies = row->is_measured;
	return status;
}

int baseline_measure(struct baseline_ask *a, struct baseline *b)
{
	static int (*const steps[])(struct baseline_ask *,
				    struct baseline *) = {
		measure_sockets, measure_null, measure_device};
	int status = STATUS_OK;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]) && !status; i++)
		status = steps[i](a, b);
	return status;
}
