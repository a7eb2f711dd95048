#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/lab.h"
#include "commands/lab_files.h"
#include "commands/lab_options.h"
#include "commands/signals.h"
#include "commands/spelling.h"
#include "vm/lab.h"

/* `lab exec`: one command in a guest of its own. */

enum { OPT_ADD = 0x100, OPT_OUT, OPT_QUIET = 'q' };

struct exec {
	struct lab_options options;
	struct lab_files files;
	bool quiet;
};

static const struct argp_option exec_options[] = {
	LAB_OPTION_ROWS,
	{"virtual-time", LAB_VIRTUAL_TIME, "MIPS", OPTION_ARG_OPTIONAL,
	 "a clock that counts instructions, so that the same inputs give the "
	 "same result: one processor of 1000, 500 (the default), 250, ... MIPS",
	 0},
	{"timeout", LAB_TIMEOUT, "TIME", 0, "for the command (1h)", 0},
	{"add", OPT_ADD, "FILE", 0,
	 "a file that the command needs; those that it names are taken "
	 "without asking",
	 0},
	{"out", OPT_OUT, "DIR", 0,
	 "where the files that it made go (the current folder)", 0},
	{"quiet", OPT_QUIET, NULL, 0, "nothing but the command's own output",
	 0},
	{0},
};

static error_t parse_exec(int key, char *text, struct argp_state *state)
{
	struct exec *x = state->input;
	struct err *e = &x->options.error;
	char **command;
	int err;

	switch (key) {
	case ARGP_KEY_ARG:
		/* The command: its options are none of ours. */
		command = state->argv + state->next - 1;
		state->next = state->argc;
		x->options.lab.command = (const char *const *)command;
		return -lab_files_of_command(&x->files, command, e);
	case ARGP_KEY_NO_ARGS:
		err_set(e, -EINVAL,
			"no command: write lunbench lab exec -- COMMAND");
		return EINVAL;
	case OPT_ADD:
		return -lab_files_add(&x->files, text, e);
	case OPT_OUT:
		x->options.lab.out = text;
		return 0;
	case OPT_QUIET:
		x->quiet = true;
		return 0;
	}
	err = lab_option_set(&x->options, key, text);
	return err == -ENOSYS ? ARGP_ERR_UNKNOWN : -err;
}

static void pass_on(void *user, int fd, const char *data, size_t len)
{
	FILE *f = fd == 1 ? stdout : stderr;

	(void)user;
	fwrite(data, 1, len, f);
	fflush(f);
}

static void on_note(void *user, const char *note)
{
	const struct exec *x = user;

	if (!x->quiet)
		say("%s", note);
}

static int run_exec(struct exec *x)
{
	struct lab_opts *o = &x->options.lab;
	struct err e = {0};
	struct lab_result r;

	o->files = x->files.list;
	o->nr_files = x->files.nr;
	o->on_output = pass_on;
	o->on_note = on_note;
	o->user = x;
	o->stop = &signals_seen;
	if (lab_exec(o, &r, &e))
		return lab_fail(&e, r.console);
	if (!x->quiet)
		say("lab: %s%s, kernel %s: up after %.1f s, ran %.1f s; %zu "
		    "file%s in \"%s\"",
		    r.accel, o->mips ? ", virtual time" : "", r.kernel,
		    r.boot_ns / 1e9, r.run_ns / 1e9, r.nr_files,
		    r.nr_files == 1 ? "" : "s", o->out);
	return r.status;
}

int command_lab_exec(int argc, char **argv)
{
	struct argp argp = {
		.options = exec_options,
		.parser = parse_exec,
		.args_doc = "-- COMMAND [ARG...]",
		.doc = "Runs COMMAND in a guest that has md and root, brings "
		       "back its output, its status and the files that it "
		       "made."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct exec *x = calloc(1, sizeof(*x));
	int status = STATUS_USAGE;

	if (!x) {
		say("out of memory");
		return STATUS_TARGET;
	}
	lab_options_init(&x->options);
	x->options.lab.out = ".";
	/* In order: what follows COMMAND is its own. */
	if (spelling_check(all, argc, argv)) {
		if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, x) ||
		    lab_files_shipped(&x->files, &x->options.error))
			say_err(&x->options.error, 0);
		else
			status = run_exec(x);
	}
	lab_files_release(&x->files);
	free(x);
	return status;
}
