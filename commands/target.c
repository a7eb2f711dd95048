#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "commands/commands.h"
#include "commands/json_out.h"
#include "commands/spelling.h"
#include "commands/sync_line.h"
#include "commands/target_json.h"
#include "commands/target_options.h"
#include "commands/target_secret.h"
#include "commands/target_text.h"
#include "target/tgt.h"

/* The bundled target alone: up, down, status. */

struct request {
	struct tgt_opts up;
	const char *chap_file; /* borrowed from argv */
	const char *name;      /* down, status: NULL when not given */
	const char *member;    /* fail, replace: the argument */
	bool takes_member;
	bool all;
	bool is_json;
	struct err error; /* of the command line */
};

enum option_key {
	OPT_NAME = 'n',
	OPT_BACKING = 0x100,
	OPT_LISTEN,
	OPT_PORT,
	OPT_ALLOW,
	OPT_CHAP_USER,
	OPT_CHAP_FILE,
	OPT_OVERWRITE,
	OPT_ALL,
	OPT_OUTPUT_FORMAT,
};

/* --- options --- */

static const struct argp_option up_options[] = {
	{"name", OPT_NAME, "NAME", 0, "which target (default)", 0},
	TARGET_OPTION_ROWS,
	{"backing", OPT_BACKING, "FILE|DEVICE", 0,
	 "what holds the LUN, instead of an image of lunbench's own; never "
	 "removed; a missing FILE is made if --size is given",
	 0},
	{"overwrite", OPT_OVERWRITE, NULL, 0,
	 "use a backing that holds a file system or the like", 0},
	{"listen", OPT_LISTEN, "ADDR", 0,
	 "address to listen on (127.0.0.1); others need --allow", 0},
	{"port", OPT_PORT, "N", 0, "TCP port (a free one)", 0},
	{"allow", OPT_ALLOW, "ADDR[/BITS]", 0,
	 "initiators that may log in (loopback only)", 0},
	{"chap-user", OPT_CHAP_USER, "USER", 0,
	 "ask for CHAP; the secret is in LUNBENCH_TARGET_PASSWORD or in the "
	 "file",
	 0},
	{"chap-file", OPT_CHAP_FILE, "FILE", 0,
	 "lines user=... and password=...", 0},
	{"output-format", OPT_OUTPUT_FORMAT, "text|json", 0, "", 0},
	{0},
};

static const struct argp_option down_options[] = {
	{"name", OPT_NAME, "NAME", 0, "which target (default)", 0},
	{"all", OPT_ALL, NULL, 0, "all that have state, up or dead", 0},
	{0},
};

static const struct argp_option status_options[] = {
	{"name", OPT_NAME, "NAME", 0, "only this target", 0},
	{"output-format", OPT_OUTPUT_FORMAT, "text|json", 0, "", 0},
	{0},
};

static const struct argp_option member_options[] = {
	{"name", OPT_NAME, "NAME", 0, "of which target (default)", 0},
	{0},
};

static int set_text(char *to, size_t size, const char *value, struct err *e)
{
	if (strlen(value) >= size)
		return err_set(e, -EINVAL, "\"%.40s...\" is too long", value);
	snprintf(to, size, "%s", value);
	return 0;
}

static int set_number(unsigned int *to, const char *option, const char *value,
		      uint64_t min, uint64_t max, struct err *e)
{
	uint64_t n;
	int err = units_parse_uint(value, min, max, &n, e);

	if (err)
		return err_prefix(e, "%s", option);
	*to = n;
	return 0;
}

static int set_option(struct request *r, int key, const char *value)
{
	struct tgt_opts *o = &r->up;
	struct err *e = &r->error;
	unsigned int port = 0;
	int err;

	switch (key) {
	case OPT_NAME:
		r->name = value;
		return set_text(o->name, sizeof(o->name), value, e);
	case OPT_BACKING:
		return set_text(o->backing, sizeof(o->backing), value, e);
	case OPT_LISTEN:
		return set_text(o->listen, sizeof(o->listen), value, e);
	case OPT_PORT:
		err = set_number(&port, "--port", value, 1, 65535, e);
		o->port = port;
		return err;
	case OPT_ALLOW:
		return set_text(o->initiator_address,
				sizeof(o->initiator_address), value, e);
	case OPT_CHAP_USER:
		return set_text(o->user, sizeof(o->user), value, e);
	case OPT_OUTPUT_FORMAT:
		return json_out_set(&r->is_json, value, e);
	}
	return target_option_set(o, key, value, e);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct request *r = state->input;
	int err;

	switch (key) {
	case OPT_OVERWRITE:
		r->up.overwrite = true;
		return 0;
	case OPT_ALL:
		r->all = true;
		return 0;
	case OPT_CHAP_FILE:
		r->chap_file = value;
		return 0;
	case ARGP_KEY_ARG:
		if (r->takes_member && !r->member) {
			r->member = value;
			return 0;
		}
		err_set(&r->error, -EINVAL,
			"\"%s\": an argument that belongs to no option", value);
		return EINVAL;
	}
	err = set_option(r, key, value);
	return err == -ENOSYS ? ARGP_ERR_UNKNOWN : -err;
}

/* --- the verbs --- */

static int status_of(int err)
{
	return err == -EINVAL || err == -ENAMETOOLONG || err == -ENOTEMPTY
		       ? STATUS_USAGE
		       : STATUS_TARGET;
}

/* Ctrl-C in the middle would leave half a target. Its signals wait until it is
 * whole, at most the deadline of the start; then it is taken down. The first
 * sync of an array asks for them (sync_line.h). */
static int up_unless_interrupted(const struct tgt_opts *o, struct tgt_status *t,
				 char *note, struct err *e)
{
	const struct timespec now = {0};
	sigset_t ends, old;
	int err, signal_nr;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &old);
	err = tgt_up(o, t, note, e);
	signal_nr = sigtimedwait(&ends, NULL, &now);
	if (!err && signal_nr > 0) {
		err = tgt_down(o->name, e);
		if (!err)
			err = err_set(e, -EINTR, "interrupted");
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err;
}

static int up(struct request *r)
{
	struct tgt_status t;
	struct sync_line line;
	struct err e = {0};
	char note[256] = "";
	int err = target_secret_find(&r->up, r->chap_file, &r->error);

	if (err)
		return say_err(&r->error, STATUS_USAGE);
	target_options_complete(&r->up.array);
	sync_line_attach(&line, &r->up.array, false);
	err = up_unless_interrupted(&r->up, &t, note, &e);
	sync_line_end(&line);
	explicit_bzero(r->up.password, sizeof(r->up.password));
	if (note[0])
		say("%s", note);
	if (err == -EINTR)
		return say_err(&e, STATUS_INTERRUPTED);
	if (err)
		return say_err(&e, status_of(err));
	if (r->is_json)
		return json_out_print(target_to_json(&t));
	target_print(&t);
	printf("  take it down with: lunbench target down --name %s\n", t.name);
	return STATUS_OK;
}

static int down_one(const char *name)
{
	struct err e = {0};
	int err = tgt_down(name, &e);

	if (err)
		return say_err(&e, status_of(err));
	printf("%s is down\n", name);
	return STATUS_OK;
}

static int down_all(void)
{
	int status = STATUS_OK, one;
	struct err e = {0};
	char **names;
	size_t nr;

	if (tgt_list(&names, &nr, &e))
		status = say_err(&e, STATUS_TARGET);
	if (!status && !nr)
		puts("no targets");
	for (size_t i = 0; i < nr; i++) {
		one = down_one(names[i]);
		status = one ? one : status;
		free(names[i]);
	}
	free(names);
	return status;
}

static int down(struct request *r)
{
	if (r->all && r->name) {
		say("--all and --name: give one of them");
		return STATUS_USAGE;
	}
	return r->all ? down_all() : down_one(r->up.name);
}

/* 0 if it is up and well. */
static int show_one(const char *name, json_t *list)
{
	struct tgt_status t;
	struct err e = {0};
	int err = tgt_status(name, &t, &e);

	if (err)
		return say_err(&e, status_of(err));
	if (list)
		json_array_append_new(list, target_to_json(&t));
	else
		target_print(&t);
	return t.problem[0] ? STATUS_TARGET : STATUS_OK;
}

static int show_all(json_t *list)
{
	int status = STATUS_OK, one;
	struct err e = {0};
	char **names;
	size_t nr;

	if (tgt_list(&names, &nr, &e))
		status = say_err(&e, STATUS_TARGET);
	if (!status && !nr && !list)
		puts("no targets");
	for (size_t i = 0; i < nr; i++) {
		one = show_one(names[i], list);
		status = one ? one : status;
		free(names[i]);
	}
	free(names);
	return status;
}

static int show(struct request *r)
{
	json_t *list = r->is_json ? json_array() : NULL;
	int status = r->name ? show_one(r->name, list) : show_all(list);

	if (list && (json_array_size(list) || !r->name) &&
	    json_out_print(json_pack("{s:o}", "targets", list)))
		status = STATUS_TARGET;
	return status;
}

static int change(struct request *r, const char *what,
		  int (*to)(const char *name, const char *member,
			    struct err *e))
{
	struct err e = {0};
	int err;

	if (!r->member) {
		say("target %s: say which member, by number or device", what);
		return STATUS_USAGE;
	}
	err = to(r->up.name, r->member, &e);
	return err ? say_err(&e, status_of(err)) : STATUS_OK;
}

static int fail_member(struct request *r)
{
	return change(r, "fail", tgt_fail);
}

static int replace_member(struct request *r)
{
	return change(r, "replace", tgt_replace);
}

/* --- the command --- */

static const struct verb {
	const char *name;
	int (*run)(struct request *r);
	bool takes_member;
	const struct argp argp;
} verbs[] = {
	{"up",
	 up,
	 false,
	 {up_options, parse_option, "",
	  "Starts a private tgtd with one LUN, on loopback only, and prints "
	  "its "
	  "URL. Needs no root.",
	  NULL, NULL, NULL}},
	{"down",
	 down,
	 false,
	 {down_options, parse_option, "",
	  "Takes a target down and removes what was made for it, whatever "
	  "became of it meanwhile.",
	  NULL, NULL, NULL}},
	{"status",
	 show,
	 false,
	 {status_options, parse_option, "",
	  "Says what is up. Exit status 3 if something is wrong with it.", NULL,
	  NULL, NULL}},
	{"fail",
	 fail_member,
	 true,
	 {member_options, parse_option, "MEMBER",
	  "Makes a member of the target's array faulty, as if it had stopped "
	  "answering. MEMBER: its number from 0, or its device.",
	  NULL, NULL, NULL}},
	{"replace",
	 replace_member,
	 true,
	 {member_options, parse_option, "MEMBER",
	  "Takes a faulty member out and puts it in again as a blank disk, "
	  "which md rebuilds.",
	  NULL, NULL, NULL}},
};

static int usage(FILE *out, int status)
{
	fputs("Usage: lunbench target up [OPTIONS]\n"
	      "   or: lunbench target down [--name NAME | --all]\n"
	      "   or: lunbench target status [--name NAME]\n"
	      "   or: lunbench target fail | replace MEMBER [--name NAME]\n"
	      "The bundled target: a private tgtd with one LUN.\n\n"
	      "lunbench target up --help tells its options.\n",
	      out);
	return status;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	const struct argp_child all[] = {{&v->argp, 0, NULL, 0}, {0}};
	struct request r = {.takes_member = v->takes_member};
	char name[64];
	error_t err;

	if (!spelling_check(all, argc, argv))
		return STATUS_USAGE;
	tgt_opts_init(&r.up);
	snprintf(name, sizeof(name), "lunbench target %s", v->name);
	argv[0] = name;
	err = argp_parse(&v->argp, argc, argv, 0, NULL, &r);
	if (err)
		return say_err(&r.error, STATUS_USAGE);
	return v->run(&r);
}

int command_target(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, STATUS_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))
		return usage(stdout, STATUS_OK);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run_verb(&verbs[i], argc - 1, argv + 1);
	say("target: \"%s\" is not up, down, status, fail or replace", argv[1]);
	return STATUS_USAGE;
}
