#include "commands/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/commands.h"
#include "commands/target_options.h"

enum {
	KEY_WHERE = 0x2000,
	KEY_VIRTUAL_TIME,
	KEY_JOBS,
	KEY_REPEATS,
	KEY_LAB_MEMORY,
	KEY_LAB_TIMEOUT,
	KEY_RESUME,
	KEY_FAIL,
	KEY_REPLACE,
};

static const struct argp_option own_options[] = {
	TARGET_OPTION_ROWS,
	{"fail", KEY_FAIL, "TIME:MEMBER", 0,
	 "a member of the array fails at that time of the run (10s:2); may "
	 "be given again",
	 0},
	{"replace", KEY_REPLACE, "TIME:MEMBER", 0,
	 "a failed one is replaced by a blank disk, and rebuilt", 0},
	{NULL, 0, NULL, 0, "Over arrays (--array A,B,C):", 10},
	{"where", KEY_WHERE, "auto|host|lab", 0,
	 "auto: on this host, if it can make the arrays, else in the lab", 10},
	{"virtual-time", KEY_VIRTUAL_TIME, "MIPS", OPTION_ARG_OPTIONAL,
	 "in the lab, as lab exec --virtual-time", 10},
	{"jobs", KEY_JOBS, "N", 0, "that many runs at a time (1)", 10},
	{"repeats", KEY_REPEATS, "N", 0,
	 "each that often, on a target made anew (without --array: as the job "
	 "key)",
	 10},
	{"resume", KEY_RESUME, "DIR", 0,
	 "go on with the set in DIR: what is done stays", 10},
	{"lab-memory", KEY_LAB_MEMORY, "SIZE", 0,
	 "of each guest (1G, or what its RAM disks need)", 10},
	{"lab-timeout", KEY_LAB_TIMEOUT, "TIME", 0, "of each guest (1h)", 10},
	{0},
};

static int set_where(enum bench_where *to, const char *text, struct err *e)
{
	static const char *const name[] = {"auto", "host", "lab"};

	for (int w = WHERE_AUTO; w <= WHERE_LAB; w++)
		if (!strcmp(text, name[w])) {
			*to = w;
			return 0;
		}
	return err_set(e, -EINVAL, "--where: \"%s\" is none of auto, host, lab",
		       text);
}

static int set_count(uint64_t *to, const char *option, const char *text,
		     struct err *e)
{
	int err = units_parse_uint(text, 1, 64, to, e);

	return err ? err_prefix(e, "%s", option) : 0;
}

/* -ENOSYS if it is none of a set's. */
static int set_own(struct bench *b, int key, const char *arg, struct err *e)
{
	switch (key) {
	case TARGET_ARRAY:
		b->arrays = arg;
		return 0;
	case KEY_WHERE:
		return set_where(&b->where, arg, e);
	case KEY_VIRTUAL_TIME:
		b->is_virtual = true;
		b->mips = arg;
		return 0;
	case KEY_JOBS:
		return set_count(&b->jobs, "--jobs", arg, e);
	case KEY_REPEATS:
		return set_count(&b->repeats, "--repeats", arg, e);
	case KEY_RESUME:
		b->resume = arg;
		return 0;
	case KEY_LAB_MEMORY:
		b->memory = arg;
		return 0;
	case KEY_LAB_TIMEOUT:
		b->timeout = arg;
		return 0;
	default:
		return -ENOSYS;
	}
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct bench *b = state->input;
	struct err e = {0};
	int err;

	err = set_own(b, key, arg, &e);
	if (!err) {
		request_set_aside(&b->request, state, arg);
		return 0;
	}
	if (key == KEY_FAIL || key == KEY_REPLACE)
		err = array_steps_add(&b->steps, key == KEY_REPLACE, arg, &e);
	else if (err == -ENOSYS)
		err = target_option_set(&b->target, key, arg, &e);
	if (err == -ENOSYS)
		return ARGP_ERR_UNKNOWN;
	if (err)
		say_err(&e, STATUS_USAGE);
	return -err;
}

int bench_parse(struct bench *b, int argc, char **argv)
{
	const struct request_form form = {
		.takes = REQUEST_JOB | REQUEST_CONNECT | REQUEST_RUN |
			 REQUEST_CAPTURE,
		.args_doc = "[JOB|REVIEW]",
		.doc = "Brings the bundled target up, runs a job on its LUN "
		       "(basic when none is named), takes it down; with "
		       "several arrays or a review once for each.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = b,
	};

	*b = (struct bench){.argc = argc, .argv = argv};
	tgt_opts_init(&b->target);
	/* A name of its own: benches may run side by side, and after a kill -9
	 * `target down --all` finds it. */
	snprintf(b->target.name, sizeof(b->target.name), "bench-%d", getpid());
	return request_parse(&b->request, &form, argc, argv);
}

void bench_release(struct bench *b)
{
	request_release(&b->request);
}
