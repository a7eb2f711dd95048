#include "commands/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/bench_set.h"
#include "commands/bench_where.h"
#include "commands/capture.h"
#include "commands/commands.h"
#include "commands/measure.h"
#include "commands/signals.h"
#include "commands/sync_line.h"
#include "commands/target_options.h"

/* The default job, repeats of a plain run. */
static int complete_request(struct bench *b)
{
	struct request *r = &b->request;
	char repeats[32];

	if (!r->job && !r->nr_keys) {
		r->job = strdup("basic");
		if (!r->job)
			return -ENOMEM;
	}
	snprintf(repeats, sizeof(repeats), "%d", (int)b->repeats);
	if (b->repeats && request_add_key(r, "repeats", repeats))
		return -ENOMEM;
	return 0;
}

static int point_at(struct request *r, const char *url)
{
	struct err e = {0};

	if (url_parse(&r->url, url, true, NULL, &e))
		return say_err(&e, STATUS_TARGET);
	/* CHAP secrets of the environment are for other targets. */
	url_wipe(&r->url);
	r->has_url = true;
	return STATUS_OK;
}

static int run_on_target(struct bench *b, struct prepared *p, struct output *o,
			 const struct tgt_status *target)
{
	int status = point_at(&b->request, target->url);

	if (!status)
		status = prepare_plan(p, &b->request);
	if (!status)
		status = prepare_guard(p, &b->request);
	/* A signal that came in the meantime wants no run at all. */
	if (!status && signals_seen)
		status = STATUS_INTERRUPTED;
	if (!status)
		status = measure(p, &b->request, o);
	return status;
}

static int bench_on_target(struct bench *b, struct prepared *p,
			   struct output *o)
{
	struct tgt_status target = {0};
	struct sync_line line;
	struct err e = {0};
	char note[256] = "";
	int rc, status;

	p->array_steps = &b->steps;
	sync_line_attach(&line, &b->target.array, b->request.quiet);
	rc = tgt_up(&b->target, &target, note, &e);
	sync_line_end(&line);
	if (note[0])
		say("%s", note);
	if (rc)
		return say_err(&e, signals_seen	   ? STATUS_INTERRUPTED
				   : rc == -EINVAL ? STATUS_USAGE
						   : STATUS_TARGET);
	status = run_on_target(b, p, o, &target);
	if (tgt_down(b->target.name, &e)) {
		say_err(&e, STATUS_TARGET);
		say("run: lunbench target down --name %s", b->target.name);
		status = status ? status : STATUS_TARGET;
	}
	return status;
}

/* A run on a target of its own, right here. */
static int bench_here(struct bench *b)
{
	struct prepared p = {0};
	struct output o = {0};
	int status = STATUS_OK;

	if (complete_request(b)) {
		say("out of memory");
		status = STATUS_TARGET;
	}
	if (!status)
		status = prepare_load(&p, &b->request);
	if (!status)
		status = output_open(&o, &b->request, p.job_name);
	if (!status)
		status = capture_open(&b->request);
	if (!status)
		status = bench_on_target(b, &p, &o);
	prepare_release(&p);
	return status;
}

/* One array is as plain a run, unless this host cannot make it. */
static int choose_array(struct bench *b, bool *in_lab)
{
	struct array_opts o = b->target.array;
	struct err e = {0};
	int status;

	*in_lab = false;
	if (b->arrays && strlen(b->arrays) >= sizeof(o.kind)) {
		say("--array: \"%.40s...\" is too long", b->arrays);
		return STATUS_USAGE;
	}
	snprintf(o.kind, sizeof(o.kind), "%s", b->arrays ? b->arrays : "");
	if (o.kind[0] && strcmp(o.kind, "single") && !o.members[0])
		snprintf(o.members, sizeof(o.members), "%s", BENCH_MEMBERS);
	target_options_complete(&o);
	if (o.kind[0] && array_check(&o, &e))
		return say_err(&e, STATUS_USAGE);
	if (array_steps_check(&b->steps, &o, &e))
		return say_err(&e, STATUS_USAGE);
	status = o.kind[0] ? bench_where_choose(b, o.kind, o.members, in_lab)
			   : STATUS_OK;
	if (*in_lab)
		b->where = WHERE_LAB;
	else
		b->target.array = o;
	return status;
}

/* The runs of a set would each replace the other's. */
static bool no_capture(const struct bench *b)
{
	if (!b->request.pcap_file)
		return true;
	say("--pcap goes with one run, on this host: not with a set, nor "
	    "with the lab");
	return false;
}

static int run(struct bench *b)
{
	bool in_lab;
	int status;

	if (bench_is_set(b))
		return no_capture(b) ? bench_set(b) : STATUS_USAGE;
	if (b->memory || b->timeout) {
		say("--lab-memory and --lab-timeout go with --where lab or "
		    "--virtual-time");
		return STATUS_USAGE;
	}
	status = choose_array(b, &in_lab);
	if (status)
		return status;
	if (!in_lab)
		return bench_here(b);
	return no_capture(b) ? bench_set(b) : STATUS_USAGE;
}

int command_bench(int argc, char **argv)
{
	struct bench b;
	int status;

	signals_init();
	status = bench_parse(&b, argc, argv);
	if (!status)
		status = run(&b);
	bench_release(&b);
	return status;
}
