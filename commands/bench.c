#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/bench_set.h"
#include "commands/commands.h"
#include "commands/measure.h"
#include "commands/signals.h"
#include "commands/target_options.h"
#include "target/tgt.h"

enum { KEY_QUICK = 0x2000, KEY_SET };

static const struct argp_option own_options[] = {
	TARGET_OPTION_ROWS,
	{"quick", KEY_QUICK, NULL, 0,
	 "a second for each job: a smoke test, not a measurement", 0},
	{NULL, 0, NULL, 0, "Over several arrays (--array A,B,C):", 10},
	{"where", KEY_SET, "auto|host|lab", 0,
	 "auto: here, if this host has md and we are root, else in the lab",
	 10},
	{"virtual-time", KEY_SET, "MIPS", OPTION_ARG_OPTIONAL,
	 "in the lab, as lab exec --virtual-time", 10},
	{"jobs", KEY_SET, "N", 0, "that many arrays at a time (1)", 10},
	{"repeats", KEY_SET, "N", 0, "each that often (1)", 10},
	{"lab-memory", KEY_SET, "SIZE", 0, "of each guest (1G)", 10},
	{"lab-timeout", KEY_SET, "TIME", 0, "of each guest (1h)", 10},
	{0},
};

struct bench {
	struct request request;
	struct tgt_opts target;
	bool quick;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct bench *b = state->input;
	struct err e = {0};
	int err;

	if (key == KEY_QUICK) {
		b->quick = true;
		return 0;
	}
	/* bench_set() takes the others before they come here. */
	if (key == KEY_SET) {
		say("--lab-memory and --lab-timeout go with --where lab or "
		    "--virtual-time");
		return EINVAL;
	}
	err = target_option_set(&b->target, key, arg, &e);
	if (err == -ENOSYS)
		return ARGP_ERR_UNKNOWN;
	if (err)
		say_err(&e, STATUS_USAGE);
	return -err;
}

/* The default job, and what --quick changes in any. */
static int complete_request(struct bench *b)
{
	struct request *r = &b->request;

	if (!r->job && !r->nr_keys) {
		r->job = strdup("basic");
		if (!r->job)
			return -ENOMEM;
	}
	if (!b->quick)
		return 0;
	if (request_add_key(r, "runtime", "1") ||
	    request_add_key(r, "ramp_time", "0"))
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
	struct err e = {0};
	char note[256] = "";
	int rc, status;

	target_options_complete(&b->target);
	rc = tgt_up(&b->target, &target, note, &e);
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

int command_bench(int argc, char **argv)
{
	struct bench b = {0};
	struct prepared p = {0};
	struct output o = {0};
	const struct request_form form = {
		.takes = REQUEST_JOB | REQUEST_CONNECT | REQUEST_RUN,
		.args_doc = "[JOB]",
		.doc = "Brings the bundled target up, runs a job on its LUN "
		       "(basic when none is named), takes it down.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = &b,
	};
	int status;

	signals_init();
	if (bench_set_is_wanted(argc, argv))
		return bench_set(argc, argv);
	tgt_opts_init(&b.target);
	/* A name of its own: benches may run side by side, and after a kill -9
	 * `target down --all` finds it. */
	snprintf(b.target.name, sizeof(b.target.name), "bench-%d", getpid());
	status = request_parse(&b.request, &form, argc, argv);
	if (!status && complete_request(&b)) {
		say("out of memory");
		status = STATUS_TARGET;
	}
	if (!status)
		status = prepare_load(&p, &b.request);
	if (!status)
		status = output_open(&o, &b.request, p.job_name);
	if (!status)
		status = bench_on_target(&b, &p, &o);
	prepare_release(&p);
	request_release(&b.request);
	return status;
}
