#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/shipped.h"
#include "commands/signals.h"
#include "commands/spelling.h"
#include "vm/lab.h"

/* The lab: build, exec. */

enum {
	OPT_CPUS = 0x100,
	OPT_MEMORY,
	OPT_VIRTUAL_TIME,
	OPT_DISKS,
	OPT_TIMEOUT,
	OPT_ACCEL,
	OPT_ADD,
	OPT_OUT,
	OPT_QUIET = 'q',
};

enum {
	DEFAULT_MIPS = 500,
	DEFAULT_MEMORY_MIB = 1024,
	DISKS_MAX = 24,
	FILES_MAX = 512,
};

struct exec {
	struct lab_opts lab;
	uint64_t disks[DISKS_MAX];
	struct appliance_file files[FILES_MAX];
	char *names[FILES_MAX]; /* owned; what files[] borrows */
	bool quiet;
	struct err error;
};

static const struct argp_option exec_options[] = {
	{"cpus", OPT_CPUS, "N", 0, "processors of the guest (this host's)", 0},
	{"memory", OPT_MEMORY, "SIZE", 0, "its memory (1G)", 0},
	{"virtual-time", OPT_VIRTUAL_TIME, "MIPS", OPTION_ARG_OPTIONAL,
	 "a clock that counts instructions, so that the same inputs give the "
	 "same result: one processor of 1000, 500 (the default), 250, ... MIPS",
	 0},
	{"disks", OPT_DISKS, "NxSIZE", 0,
	 "scratch disks on this host's disk, /dev/vda and on", 0},
	{"timeout", OPT_TIMEOUT, "TIME", 0, "for the command (1h)", 0},
	{"accel", OPT_ACCEL, "auto|kvm|tcg", 0,
	 "how it runs: auto takes KVM where a probe guest has run under it", 0},
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

/* --- options --- */

static int set_number(unsigned int *to, const char *option, const char *text,
		      uint64_t min, uint64_t max, struct err *e)
{
	uint64_t n;
	int err = units_parse_uint(text, min, max, &n, e);

	if (err)
		return err_prefix(e, "%s", option);
	*to = n;
	return 0;
}

static int set_bytes(uint64_t *to, const char *option, const char *text,
		     struct err *e)
{
	struct size_value v = {0};
	int err = units_parse_size(text, 1024, &v, e);

	if (err)
		return err_prefix(e, "%s", option);
	if (v.is_percent || !v.bytes)
		return err_set(e, -EINVAL,
			       "%s: \"%s\" is no size: write 1G or 512M",
			       option, text);
	*to = v.bytes;
	return 0;
}

static int set_memory(struct exec *x, const char *text)
{
	uint64_t bytes = 0;
	int err = set_bytes(&bytes, "--memory", text, &x->error);

	if (err)
		return err;
	if (bytes >> 20 > UINT_MAX)
		return err_set(&x->error, -EINVAL,
			       "--memory: \"%s\" is too much", text);
	x->lab.memory_mib = bytes >> 20;
	return 0;
}

/* "4x1G": four of them; "1G": one. May be given again. */
static int set_disks(struct exec *x, const char *text)
{
	const char *times = strchr(text, 'x');
	char count[16];
	uint64_t n = 1, bytes = 0;
	int err = 0;

	/* 0x10000 is a size. */
	if (times && strncmp(text, "0x", 2)) {
		snprintf(count, sizeof(count), "%.*s", (int)(times - text),
			 text);
		err = units_parse_uint(count, 1, DISKS_MAX, &n, &x->error);
		if (err)
			return err_prefix(&x->error, "--disks \"%s\"", text);
		text = times + 1;
	}
	err = set_bytes(&bytes, "--disks", text, &x->error);
	if (err)
		return err;
	if (n + x->lab.nr_disks > DISKS_MAX)
		return err_set(&x->error, -EINVAL, "--disks: %d at most",
			       DISKS_MAX);
	if (bytes % 512)
		return err_set(&x->error, -EINVAL,
			       "--disks: \"%s\" is no multiple of 512 bytes",
			       text);
	while (n--)
		x->disks[x->lab.nr_disks++] = bytes;
	return 0;
}

static int set_accel(struct exec *x, const char *text)
{
	static const char *const name[] = {"auto", "tcg", "kvm"};

	for (int i = LAB_AUTO; i <= LAB_KVM; i++)
		if (!strcmp(text, name[i])) {
			x->lab.accel = i;
			return 0;
		}
	return err_set(&x->error, -EINVAL,
		       "--accel: \"%s\" is none of auto, kvm, tcg", text);
}

static int set_timeout(struct exec *x, const char *text)
{
	int err = units_parse_time(text, NS_PER_SEC, &x->lab.deadline_ns,
				   &x->error);

	if (err)
		return err_prefix(&x->error, "--timeout");
	if (!x->lab.deadline_ns)
		return err_set(&x->error, -EINVAL,
			       "--timeout: \"%s\" is no time: write 90 or 10m",
			       text);
	return 0;
}

/* --- files --- */

/* Relative names stay so: they lie where the command stands. */
static int add_file(struct exec *x, const char *from, const char *name)
{
	size_t n = x->lab.nr_files;
	char *owned;

	while (!strncmp(name, "./", 2))
		name += 2;
	if (n == FILES_MAX)
		return err_set(&x->error, -EINVAL,
			       "more than %d files for the guest", FILES_MAX);
	if (!strncmp(name, "../", 3) || strstr(name, "/../"))
		return err_set(&x->error, -EINVAL,
			       "\"%s\": the guest has no such place; give the "
			       "file without \"..\"",
			       from);
	if (asprintf(&owned, "%s%c%s", from, 0, name) < 0)
		return err_set(&x->error, -ENOMEM, "no memory for \"%s\"",
			       from);
	x->names[n] = owned;
	x->files[n].from = owned;
	x->files[n].name = owned + strlen(from) + 1;
	x->lab.nr_files++;
	return 0;
}

static bool is_plain_file(const char *name)
{
	struct stat st;

	return !stat(name, &st) && S_ISREG(st.st_mode);
}

static int add_asked(struct exec *x, const char *name)
{
	if (!is_plain_file(name))
		return err_set(&x->error, -ENOENT,
			       "--add: \"%s\" is no plain file here", name);
	return add_file(x, name, name);
}

/* What the command names and we have, but not its program: the guest has its
 * own, and lunbench is there as this very binary. */
static int take_command(struct exec *x, char **argv)
{
	const char *base = strrchr(argv[0], '/');
	int err = 0;

	if (!strcmp(base ? base + 1 : argv[0], "lunbench"))
		argv[0] = "lunbench";
	for (char **a = argv + 1; *a && !err; a++)
		if (is_plain_file(*a))
			err = add_file(x, *a, *a);
	x->lab.command = (const char *const *)argv;
	return err;
}

/* The jobs that come with lunbench, where it looks for them: beside itself. */
static int add_shipped(struct exec *x)
{
	char **paths, name[PATH_MAX];
	size_t nr;
	int err = shipped_list(&paths, &nr, &x->error);

	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "/lab/workloads%s",
			 strrchr(paths[i], '/'));
		if (!err)
			err = add_file(x, paths[i], name);
		free(paths[i]);
	}
	free(paths);
	return err;
}

/* --- exec --- */

static int set_option(struct exec *x, int key, const char *text)
{
	switch (key) {
	case OPT_CPUS:
		return set_number(&x->lab.cpus, "--cpus", text, 1, 64,
				  &x->error);
	case OPT_MEMORY:
		return set_memory(x, text);
	case OPT_VIRTUAL_TIME:
		x->lab.mips = DEFAULT_MIPS;
		if (!text)
			return 0;
		return set_number(&x->lab.mips, "--virtual-time", text, 1, 1000,
				  &x->error);
	case OPT_DISKS:
		return set_disks(x, text);
	case OPT_TIMEOUT:
		return set_timeout(x, text);
	case OPT_ACCEL:
		return set_accel(x, text);
	case OPT_ADD:
		return add_asked(x, text);
	case OPT_OUT:
		x->lab.out = text;
		return 0;
	case OPT_QUIET:
		x->quiet = true;
		return 0;
	default:
		return -ENOSYS;
	}
}

static error_t parse_exec(int key, char *text, struct argp_state *state)
{
	struct exec *x = state->input;
	int err;

	if (key == ARGP_KEY_ARG) {
		/* The command: its options are none of ours. */
		err = take_command(x, state->argv + state->next - 1);
		state->next = state->argc;
		return -err;
	}
	if (key == ARGP_KEY_NO_ARGS) {
		err_set(&x->error, -EINVAL,
			"no command: write lunbench lab exec -- COMMAND");
		return EINVAL;
	}
	err = set_option(x, key, text);
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

static int fail(const struct err *e, const char *console)
{
	say_err(e, 0);
	if (console && console[0])
		fprintf(stderr, "The guest's last lines:\n%s%s", console,
			console[strlen(console) - 1] == '\n' ? "" : "\n");
	return status_of(e);
}

static int run_exec(struct exec *x)
{
	struct lab_result r;

	x->lab.on_output = pass_on;
	x->lab.on_note = on_note;
	x->lab.user = x;
	x->lab.stop = &signals_seen;
	if (lab_exec(&x->lab, &r, &x->error))
		return fail(&x->error, r.console);
	if (!x->quiet)
		say("lab: %s%s, kernel %s: up after %.1f s, ran %.1f s; %zu "
		    "file%s in \"%s\"",
		    r.accel, x->lab.mips ? ", virtual time" : "", r.kernel,
		    r.boot_ns / 1e9, r.run_ns / 1e9, r.nr_files,
		    r.nr_files == 1 ? "" : "s", x->lab.out);
	return r.status;
}

static int command_exec(int argc, char **argv)
{
	struct argp argp = {
		.options = exec_options,
		.parser = parse_exec,
		.args_doc = "-- COMMAND [ARG...]",
		.doc = "Runs COMMAND in a guest that has md and root, brings "
		       "back its output, its status and the files that it "
		       "made."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct exec *x = calloc(1, sizeof(*x));
	int status = STATUS_USAGE;

	if (!x) {
		say("out of memory");
		return STATUS_TARGET;
	}
	x->lab.cpus = cpus < 1 ? 1 : cpus > 8 ? 8 : cpus;
	x->lab.memory_mib = DEFAULT_MEMORY_MIB;
	x->lab.deadline_ns = 3600 * NS_PER_SEC;
	x->lab.disks_bytes = x->disks;
	x->lab.files = x->files;
	x->lab.out = ".";
	/* In order: what follows COMMAND is its own. */
	if (spelling_check(all, argc, argv)) {
		if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, x) ||
		    add_shipped(x))
			say_err(&x->error, 0);
		else
			status = run_exec(x);
	}
	for (size_t i = 0; i < x->lab.nr_files; i++)
		free(x->names[i]);
	free(x);
	return status;
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

static int command_build(int argc, char **argv)
{
	static const struct argp_option none[] = {{0}};
	struct argp argp = {
		.options = none,
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
		return fail(&e, NULL);
	if (a.note[0])
		say("%s", a.note);
	printf("kernel     %s\nappliance  %s (%.1f MB), %s, in %.2f s\n",
	       a.kernel, a.image, a.bytes / 1e6, a.note[0] ? "new" : "current",
	       a.took_ns / 1e9);
	return STATUS_OK;
}

int command_lab(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {{"build", command_build}, {"exec", command_exec}};
	char name[64];

	signals_init();
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs);
	     i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		snprintf(name, sizeof(name), "lunbench lab %s", argv[1]);
		argv[1] = name;
		return verbs[i].run(argc - 1, argv + 1);
	}
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		puts("Usage: lunbench lab build | exec [OPTIONS] -- COMMAND\n"
		     "A QEMU guest that has md and root, in real or in virtual "
		     "time. See lunbench lab exec --help.");
		return STATUS_OK;
	}
	if (argc > 1)
		say("lab: \"%s\" is neither build nor exec", argv[1]);
	else
		say("lab: say build, or exec -- COMMAND");
	return STATUS_USAGE;
}
