#include "commands/lab.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/signals.h"
#include "commands/spelling.h"
#include "vm/lab.h"

/* The lab: its verbs, and build. The others: lab_exec.c, lab_up.c, lab_shell.c.
 */

static int status_of(const struct err *e)
{
	switch (e->code) {
	case -EINVAL:
	case -ENAMETOOLONG:
		return STATUS_USAGE;
	case -EINTR:
		return STATUS_INTERRUPTED;
	default:
		return STATUS_TARGET;
	}
}

int lab_fail(const struct err *e, const char *console)
{
	say_err(e, 0);
	if (console && console[0])
		fprintf(stderr, "The guest's last lines:\n%s%s", console,
			console[strlen(console) - 1] == '\n' ? "" : "\n");
	return status_of(e);
}

/* --- build --- */

static error_t parse_none(int key, char *text, struct argp_state *state)
{
	(void)state;
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	say("\"%s\": not asked for; usage: lunbench lab build", text);
	return EINVAL;
}

int command_lab_build(int argc, char **argv)
{
	struct argp argp = {
		.parser = parse_none,
		.doc = "Gets the guest's kernel and builds its root, where "
		       "they are not there or not current."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct lab_appliance a;
	struct err e = {0};

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return STATUS_USAGE;
	if (lab_build(&a, &e))
		return lab_fail(&e, NULL);
	if (a.note[0])
		say("%s", a.note);
	printf("kernel     %s\nappliance  %s (%.1f MB), %s, in %.2f s\n",
	       a.kernel, a.image, a.bytes / 1e6, a.note[0] ? "new" : "current",
	       a.took_ns / 1e9);
	return STATUS_OK;
}

/* --- the verbs --- */

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{"build", command_lab_build},	{"exec", command_lab_exec},
	{"up", command_lab_up},		{"down", command_lab_down},
	{"status", command_lab_status}, {"shell", command_lab_shell},
	{"agent", command_lab_agent}, /* for guests: theirs of shell */
};

static int usage(FILE *out, int status)
{
	fputs("Usage: lunbench lab build\n"
	      "   or: lunbench lab exec [OPTIONS] -- COMMAND\n"
	      "   or: lunbench lab up [OPTIONS]\n"
	      "   or: lunbench lab down [--name NAME | --all]\n"
	      "   or: lunbench lab status [--name NAME]\n"
	      "   or: lunbench lab shell [--name NAME] [-- COMMAND]\n"
	      "A QEMU guest that has md and root: for one command, in real or "
	      "in virtual\ntime (exec), or one that stays and serves a target "
	      "to this host (up).\n\n"
	      "lunbench lab exec --help and lunbench lab up --help tell their "
	      "options.\n",
	      out);
	return status;
}

int command_lab(int argc, char **argv)
{
	char name[64];

	signals_init();
	if (argc < 2)
		return usage(stderr, STATUS_USAGE);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		snprintf(name, sizeof(name), "lunbench lab %s", argv[1]);
		argv[1] = name;
		return verbs[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))
		return usage(stdout, STATUS_OK);
	say("lab: \"%s\" is not build, exec, up, down, status or shell",
	    argv[1]);
	return STATUS_USAGE;
}
