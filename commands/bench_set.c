#include "commands/bench_set.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/signals.h"
#include "report/result.h"
#include "target/array.h"

enum { ARRAYS_MAX = 32, RUNS_MAX = 256, ARGS_MAX = 256 };

enum where { WHERE_AUTO, WHERE_HOST, WHERE_LAB };

struct set {
	char *lists; /* owned; --array, cut at its commas */
	const char *array[ARRAYS_MAX];
	size_t nr_arrays;
	enum where where;
	const char *virtual_time; /* as written; NULL: real time */
	const char *memory, *timeout;
	const char *out, *members;
	uint64_t jobs, repeats;
	const char *rest[ARGS_MAX]; /* what `bench` gets as it is */
	size_t nr_rest;
	struct err error;
};

/* One array, once. */
struct one {
	const char *array;
	char folder[PATH_MAX];
};

/* --- the command line --- */

/* The value of --NAME=VALUE or --NAME VALUE; moves *i over it. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n))
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	if (argv[*i][n] || *i + 1 >= argc)
		return NULL;
	return argv[++*i];
}

static bool is_virtual_time(const char *arg)
{
	return !strcmp(arg, "--virtual-time") ||
	       !strncmp(arg, "--virtual-time=", strlen("--virtual-time="));
}

bool bench_set_is_wanted(int argc, char **argv)
{
	static const char *const ours[] = {"--where", "--jobs", "--repeats"};
	const char *value;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "--"))
			return false;
		if (is_virtual_time(argv[i]))
			return true;
		for (int k = 0; k < 3; k++)
			if (value_of(ours[k], argc, argv, &i))
				return true;
		value = value_of("--array", argc, argv, &i);
		if (value && strchr(value, ','))
			return true;
	}
	return false;
}

static int set_where(struct set *s, const char *text)
{
	static const char *const name[] = {"auto", "host", "lab"};

	for (int w = WHERE_AUTO; w <= WHERE_LAB; w++)
		if (!strcmp(text, name[w])) {
			s->where = w;
			return 0;
		}
	return err_set(&s->error, -EINVAL,
		       "--where: \"%s\" is none of auto, host, lab", text);
}

static int set_count(struct set *s, uint64_t *to, const char *option,
		     const char *text)
{
	int err = units_parse_uint(text, 1, 64, to, &s->error);

	return err ? err_prefix(&s->error, "%s", option) : 0;
}

static int set_arrays(struct set *s, const char *text)
{
	char *rest, *name;

	free(s->lists);
	s->nr_arrays = 0;
	s->lists = rest = strdup(text);
	while (rest && (name = strsep(&rest, ","))) {
		if (!*name || strchr(name, '/'))
			return err_set(
				&s->error, -EINVAL,
				"--array: \"%s\" names no array in \"%s\"",
				name, text);
		for (size_t i = 0; i < s->nr_arrays; i++)
			if (!strcmp(s->array[i], name))
				return err_set(&s->error, -EINVAL,
					       "--array: \"%s\" twice", name);
		if (s->nr_arrays == ARRAYS_MAX)
			return err_set(&s->error, -EINVAL,
				       "--array: more than %d", ARRAYS_MAX);
		s->array[s->nr_arrays++] = name;
	}
	return 0;
}

/* The value of --NAME at @i, which stays where it is. */
static const char *peek(const char *name, int argc, char **argv, int i)
{
	return value_of(name, argc, argv, &i);
}

static int parse_one(struct set *s, int argc, char **argv, int *i)
{
	const char *v;

	if (is_virtual_time(argv[*i])) {
		s->virtual_time = argv[*i];
		return 0;
	}
	if ((v = value_of("--array", argc, argv, i)))
		return set_arrays(s, v);
	if ((v = value_of("--where", argc, argv, i)))
		return set_where(s, v);
	if ((v = value_of("--jobs", argc, argv, i)))
		return set_count(s, &s->jobs, "--jobs", v);
	if ((v = value_of("--repeats", argc, argv, i)))
		return set_count(s, &s->repeats, "--repeats", v);
	if ((v = value_of("--lab-memory", argc, argv, i))) {
		s->memory = v;
		return 0;
	}
	if ((v = value_of("--lab-timeout", argc, argv, i))) {
		s->timeout = v;
		return 0;
	}
	if ((v = value_of("--out", argc, argv, i))) {
		s->out = v;
		return 0;
	}
	if (!strncmp(argv[*i], "-o", 2) ||
	    value_of("--output-format", argc, argv, i))
		return err_set(&s->error, -EINVAL,
			       "\"%s\": several arrays have several results, "
			       "each a file below --out; leave it out",
			       argv[*i]);
	if (!s->members)
		s->members = peek("--members", argc, argv, *i);
	if (s->nr_rest == ARGS_MAX - 32)
		return err_set(&s->error, -E2BIG, "too many arguments");
	s->rest[s->nr_rest++] = argv[*i];
	return 0;
}

/* What no place could run is refused before anything is booted. */
static int check_arrays(struct set *s)
{
	struct array_opts o = {0};

	for (size_t i = 0; i < s->nr_arrays; i++) {
		if (!strcmp(s->array[i], "single") && !s->members)
			continue;
		snprintf(o.kind, sizeof(o.kind), "%s", s->array[i]);
		snprintf(o.members, sizeof(o.members), "%s",
			 s->members ? s->members : "");
		if (array_check(&o, &s->error))
			return s->error.code;
	}
	return 0;
}

static int parse(struct set *s, int argc, char **argv)
{
	int err = 0;

	for (int i = 1; i < argc && !err; i++)
		err = parse_one(s, argc, argv, &i);
	if (!err && !s->nr_arrays)
		err = set_arrays(s, "single");
	if (!err && s->virtual_time && s->where == WHERE_HOST)
		err = err_set(&s->error, -EINVAL,
			      "--virtual-time is the lab's, not the host's: "
			      "leave --where host out");
	if (!err)
		err = check_arrays(s);
	if (!err && s->nr_arrays * s->repeats > RUNS_MAX)
		err = err_set(&s->error, -EINVAL, "more than %d runs",
			      RUNS_MAX);
	return err;
}

/* --- where --- */

static bool host_has_md(char *why, size_t size)
{
	const char *modprobe[] = {"modprobe", "-n", "-q", "md_mod", NULL};
	struct child_result r = {0};
	bool found;

	if (geteuid()) {
		snprintf(why, size, "this user is not root");
		return false;
	}
	found = !access("/proc/mdstat", F_OK) ||
		(!child_run(modprobe, NULL, 10 * NS_PER_SEC, &r, NULL) &&
		 !r.status);
	child_result_release(&r);
	if (found && child_has_program("mdadm"))
		return true;
	snprintf(why, size, "this host has no md");
	return false;
}

static void choose_where(struct set *s)
{
	char why[64] = "";

	if (s->where != WHERE_AUTO)
		return;
	if (s->virtual_time)
		snprintf(why, sizeof(why), "virtual time");
	s->where = !why[0] && host_has_md(why, sizeof(why)) ? WHERE_HOST
							    : WHERE_LAB;
	if (s->where == WHERE_LAB)
		say("in the lab: %s", why);
	else
		say("on this host: it has md, and we are root");
}

/* --- running --- */

static size_t add(const char **argv, size_t n, const char *option,
		  const char *value)
{
	if (!value)
		return n;
	argv[n++] = option;
	argv[n++] = value;
	return n;
}

/* Waits for all of @pid (0: none) and tells them of each signal that we get, as
 * SIGINT: they are in process groups of their own, so a Ctrl-C reaches them
 * only through us, once. The first status that is not 0. */
static int wait_for(pid_t *pid, size_t nr)
{
	const struct timespec pause = {.tv_nsec = 50 * NS_PER_MSEC};
	int status = 0, told = 0, how;
	size_t left = nr;

	for (size_t i = 0; i < nr; i++)
		left -= !pid[i];
	while (left) {
		bool is_new = signals_seen > told;

		for (size_t i = 0; i < nr; i++) {
			if (!pid[i])
				continue;
			if (is_new)
				kill(pid[i], SIGINT);
			if (waitpid(pid[i], &how, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
			how = WIFEXITED(how) ? WEXITSTATUS(how)
					     : STATUS_INTERRUPTED;
			status = status ? status : how;
		}
		told += is_new;
		if (left)
			nanosleep(&pause, NULL);
	}
	return status;
}

/* A child in a group of its own that is asked to end when we are gone. */
static pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(STATUS_INTERRUPTED);
	return 0;
}

static void exec_into(const char *const argv[], const char *out,
		      const char *errors)
{
	int in_fd = open("/dev/null", O_RDONLY);
	int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int err_fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (in_fd >= 0 && out_fd >= 0 && err_fd >= 0 && dup2(in_fd, 0) >= 0 &&
	    dup2(out_fd, 1) >= 0 && dup2(err_fd, 2) >= 0)
		execv(argv[0], (char *const *)argv);
	_exit(STATUS_TARGET);
}

/* What it said on stderr, each line with its array. */
static void pass_on(const struct one *o, const char *errors)
{
	const char *mine = "lunbench: ";
	char *text = NULL, *rest, *line;
	size_t len;

	if (file_read(errors, 1 << 20, &text, &len, NULL))
		return;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, mine, strlen(mine)))
			line += strlen(mine);
		if (*line)
			say("%s: %s", o->array, line);
	}
	free(text);
}

/* The lunbench that benches one array; its output in the folder. */
static int run_one(const struct set *s, const struct one *o)
{
	const char *argv[ARGS_MAX + 1];
	char out[PATH_MAX + 8], errors[PATH_MAX + 8];
	size_t n = 0;
	int status;
	pid_t pid;

	argv[n++] = "/proc/self/exe";
	if (s->where == WHERE_LAB) {
		argv[n++] = "lab";
		argv[n++] = "exec";
		if (s->virtual_time)
			argv[n++] = s->virtual_time;
		else if (s->jobs > 1)
			n = add(argv, n, "--cpus", "1");
		n = add(argv, n, "--memory", s->memory);
		n = add(argv, n, "--timeout", s->timeout);
		n = add(argv, n, "--out", o->folder);
		argv[n++] = "--";
		argv[n++] = "lunbench";
	}
	argv[n++] = "bench";
	for (size_t i = 0; i < s->nr_rest; i++)
		argv[n++] = s->rest[i];
	n = add(argv, n, "--array", o->array);
	n = add(argv, n, "--out", s->where == WHERE_LAB ? "." : o->folder);
	argv[n] = NULL;
	snprintf(out, sizeof(out), "%s/log", o->folder);
	snprintf(errors, sizeof(errors), "%s/errors", o->folder);
	pid = fork_child();
	if (!pid)
		exec_into(argv, out, errors);
	if (pid < 0) {
		say("%s: cannot fork: too many processes", o->array);
		return STATUS_TARGET;
	}
	status = wait_for(&pid, 1);
	if (status)
		pass_on(o, errors);
	unlink(errors);
	return status;
}

/* Takes every jobs-th of them, so that as many run at a time. */
static pid_t start_worker(const struct set *s, const struct one *ones,
			  size_t nr, size_t first)
{
	int status = 0, one;
	pid_t pid = fork_child();

	if (pid)
		return pid;
	for (size_t i = first; i < nr && !signals_seen; i += s->jobs) {
		one = run_one(s, &ones[i]);
		if (!one)
			fprintf(stderr, "lunbench: %s is done\n",
				ones[i].array);
		status = status ? status : one;
	}
	_exit(signals_seen ? STATUS_INTERRUPTED : status);
}

static int run_all(const struct set *s, const struct one *ones, size_t nr)
{
	pid_t pid[64];
	int failed = 0, status;

	for (size_t w = 0; w < s->jobs; w++) {
		pid[w] = start_worker(s, ones, nr, w);
		if (pid[w] < 0) {
			say("cannot fork: too many processes");
			failed = STATUS_TARGET;
			pid[w] = 0;
		}
	}
	status = wait_for(pid, s->jobs);
	if (status == STATUS_INTERRUPTED)
		say("interrupted; what is done is in \"%s\"", s->out);
	return status ? status : failed;
}

/* --- the table --- */

static void print_row(const char *array, const char *job, const char *op,
		      const json_t *dir)
{
	double iops = json_number_value(json_object_get(dir, "iops"));
	double bw = json_number_value(json_object_get(dir, "bw_bytes"));
	const json_t *lat = json_object_get(dir, "clat_ns");
	const json_t *p = json_object_get(lat, "percentile");
	char rate[32], mean[32], p99[32] = "-";

	if (!json_integer_value(json_object_get(dir, "total_ios")))
		return;
	units_rate(rate, sizeof(rate), bw);
	units_time(mean, sizeof(mean),
		   json_number_value(json_object_get(lat, "mean")));
	if (json_object_get(p, "99.000000"))
		units_time(p99, sizeof(p99),
			   json_number_value(json_object_get(p, "99.000000")));
	printf("%-14s %-16s %-6s %12s %10.1f %12s %12s\n", array, job, op, rate,
	       iops, mean, p99);
}

static int print_file(const char *array, const char *path)
{
	static const char *const ops[] = {"read", "write", "trim"};
	struct err e = {0};
	json_t *result = result_read(path, &e), *job;
	size_t i;

	if (!result)
		return say_err(&e, STATUS_TARGET);
	json_array_foreach(json_object_get(result, "jobs"), i,
			   job) for (int op = 0; op < 3; op++)
		print_row(array,
			  json_string_value(json_object_get(job, "jobname")),
			  ops[op], json_object_get(job, ops[op]));
	json_decref(result);
	return 0;
}

static int print_table(const struct set *s, const struct one *ones, size_t nr)
{
	char pattern[PATH_MAX + 16];
	int status = 0;
	glob_t g;

	printf("%-14s %-16s %-6s %12s %10s %12s %12s\n", "array", "job", "op",
	       "rate", "IOPS", "mean", "p99");
	for (size_t i = 0; i < nr; i++) {
		snprintf(pattern, sizeof(pattern), "%s/*.json", ones[i].folder);
		if (glob(pattern, 0, NULL, &g)) {
			say("%s: no result in \"%s\"", ones[i].array,
			    ones[i].folder);
			status = STATUS_TARGET;
			continue;
		}
		/* The last one, if the folder had some before. */
		if (print_file(ones[i].array, g.gl_pathv[g.gl_pathc - 1]))
			status = STATUS_TARGET;
		globfree(&g);
	}
	printf("results: %s/\n", s->out);
	return status;
}

/* --- all of it --- */

static int make_ones(struct set *s, struct one *ones, size_t *nr)
{
	int err = 0;

	*nr = 0;
	for (size_t i = 0; i < s->nr_arrays; i++)
		for (uint64_t k = 0; k < s->repeats && !err; k++) {
			struct one *o = &ones[(*nr)++];

			o->array = s->array[i];
			if (s->repeats > 1)
				snprintf(o->folder, sizeof(o->folder),
					 "%s/%s-%d", s->out, o->array,
					 (int)k + 1);
			else
				snprintf(o->folder, sizeof(o->folder), "%s/%s",
					 s->out, o->array);
			err = file_make_dirs(o->folder, 0777, &s->error);
		}
	return err;
}

int bench_set(int argc, char **argv)
{
	struct set s = {.out = "results", .jobs = 1, .repeats = 1};
	struct one *ones = calloc(RUNS_MAX, sizeof(*ones));
	int status, table;
	size_t nr = 0;

	if (!ones) {
		say("out of memory");
		return STATUS_TARGET;
	}
	if (parse(&s, argc, argv)) {
		status = say_err(&s.error, STATUS_USAGE);
	} else if (make_ones(&s, ones, &nr)) {
		status = say_err(&s.error, STATUS_TARGET);
	} else {
		choose_where(&s);
		status = run_all(&s, ones, nr);
		table = status ? status : print_table(&s, ones, nr);
		status = status ? status : table;
	}
	free(s.lists);
	free(ones);
	return status;
}
