#include <argp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"

struct command {
	const char *name;
	const char *args;
	const char *summary;
	int (*run)(int argc, char **argv);
};

/* A new subcommand: its file, its line here, its chapter in docs/lunbench.1. */
static const struct command commands[] = {
	{"run", "[JOB] URL", "measure a LUN; write a result, print a table",
	 command_run},
	{"plan", "[JOB] URL", "what would run, on what, for how long",
	 command_plan},
	{"discover", "HOST[:PORT]",
	 "portals, targets, LUNs and their abilities", command_discover},
	{"bench", "[JOB]", "the bundled target up, a run on it, down",
	 command_bench},
	{"baseline", "URL", "what a LUN's figures can be held against",
	 command_baseline},
	{"check", "URL", "does a LUN give back what was written to it?",
	 command_check},
	{"compare", "A B...", "results against results, or published figures",
	 command_compare},
	{"report", "SET|FILE...",
	 "results as text, page or picture, or for tools", command_report},
	{"target", "up | down | status | ...",
	 "the bundled target, on loopback", command_target},
	{"lab", "exec | up | ...", "a guest that has md and root", command_lab},
	{"workloads", "[JOB]",
	 "the shipped jobs; what one stands for; all keys", command_workloads},
	{"selftest", "", "what the meter costs, and that it is right",
	 command_selftest},
	{0},
};

static void usage(FILE *out)
{
	const struct command *c;

	fputs("Usage: lunbench COMMAND [OPTIONS]\n"
	      "Measures iSCSI LUNs at block level, with fio's job files.\n\n",
	      out);
	for (c = commands; c->name; c++)
		fprintf(out, "  %-10s %-17s %s\n", c->name, c->args,
			c->summary);
	fputs("\nlunbench COMMAND --help tells its options; man lunbench tells "
	      "the rest.\n"
	      "  --version  print the version\n"
	      "  --help     print this\n\n"
	      "Exit status: 0 fine, 1 a gate failed, 2 usage, 3 the target or "
	      "the I/O failed,\n130 interrupted.\n",
	      out);
}

static const struct command *find(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int unknown(const char *name)
{
	char list[256] = "";
	const struct command *c;

	for (c = commands; c->name; c++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%s%s", c == commands ? "" : ", ", c->name);
	say("\"%s\": no such command; there are: %s", name, list);
	return STATUS_USAGE;
}

/* Where a standard descriptor is closed, the next file to be opened would get
 * its number: a disk under test could take our messages. These here can only
 * be used in the wrong direction, so that a write still fails. */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* What a full disk swallowed is no success. A closed pipe has a reader who has
 * seen enough, and a closed stdout was never wanted. */
static int finish_stdout(int status)
{
	int mode = fcntl(STDOUT_FILENO, F_GETFL);
	bool failed = ferror(stdout);
	struct stat st;

	failed = fflush(stdout) || failed;
	if (!failed || status != STATUS_OK || mode < 0 ||
	    (mode & O_ACCMODE) == O_RDONLY || fstat(STDOUT_FILENO, &st) ||
	    S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return status;
	say("standard output could not be written; is its disk full?");
	return STATUS_TARGET;
}

static int run(int argc, char **argv)
{
	const struct command *c;
	char name[64];

	if (argc < 2) {
		usage(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("lunbench " LUNBENCH_VERSION);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return STATUS_OK;
	}
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	snprintf(name, sizeof(name), "lunbench %s", c->name);
	argv[1] = name;
	return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	argp_err_exit_status = STATUS_USAGE;
	occupy_standard_files();
	return finish_stdout(run(argc, argv));
}
