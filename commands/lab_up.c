#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/json_out.h"
#include "commands/lab.h"
#include "commands/lab_files.h"
#include "commands/lab_options.h"
#include "commands/lab_show.h"
#include "commands/lab_target.h"
#include "commands/signals.h"
#include "commands/spelling.h"
#include "commands/target_options.h"
#include "vm/stay.h"

/* `lab up`: a guest that stays and serves a target to this host. */

enum { WORDS_MAX = 40 };

enum {
	OPT_NAME = 'n',
	OPT_NET = 0x100,
	OPT_PORT,
	OPT_CHAP_USER,
	OPT_ADD,
	OPT_OUTPUT_FORMAT,
};

#define START_NS (600 * NS_PER_SEC)

struct up {
	struct lab_options options;
	struct lab_files files;
	struct stay_opts stay;
	struct tgt_opts target; /* to refuse early what cannot be */
	char *words[WORDS_MAX]; /* owned; the target's options again */
	size_t nr_words;
	const char *chap_user; /* borrowed from argv */
	char listen[32], allow[32];
	const char *command[WORDS_MAX + 16];
	bool is_json;
	struct tgt_status made;
};

static const struct argp_option up_options[] = {
	{"name", OPT_NAME, "NAME", 0, "which lab (default)", 0},
	TARGET_OPTION_ROWS,
	LAB_OPTION_ROWS,
	{"net", OPT_NET, "auto|tap|user", 0,
	 "how this host reaches it: a tap device, fast, for root; or QEMU's "
	 "user networking behind a port of 127.0.0.1",
	 0},
	{"port", OPT_PORT, "N", 0, "that port (a free one)", 0},
	{"timeout", LAB_TIMEOUT, "TIME", 0, "until it is up (10m)", 0},
	{"chap-user", OPT_CHAP_USER, "USER", 0,
	 "ask for CHAP; the secret is in LUNBENCH_TARGET_PASSWORD", 0},
	{"add", OPT_ADD, "FILE", 0, "a file for the guest's /work", 0},
	{"virtual-time", LAB_VIRTUAL_TIME, "MIPS",
	 OPTION_ARG_OPTIONAL | OPTION_HIDDEN, "", 0},
	{"output-format", OPT_OUTPUT_FORMAT, "text|json", 0, "", 0},
	{0},
};

/* --- options --- */

/* An option of the target is checked here, and given to the guest's `target up`
 * as it is. */
static int set_target_option(struct up *u, int key, const char *text)
{
	static const struct argp_option rows[] = {TARGET_OPTION_ROWS, {0}};
	const struct argp_option *o = rows;
	int err = target_option_set(&u->target, key, text, &u->options.error);

	if (err)
		return err;
	while (o->key != key)
		o++;
	if (u->nr_words == WORDS_MAX)
		return err_set(&u->options.error, -EINVAL,
			       "more than %d options of the target", WORDS_MAX);
	if (asprintf(&u->words[u->nr_words], "--%s%s%s", o->name,
		     text ? "=" : "", text ? text : "") < 0)
		return err_set(&u->options.error, -ENOMEM, "out of memory");
	u->nr_words++;
	return 0;
}

static int set_up_option(struct up *u, int key, const char *text)
{
	struct err *e = &u->options.error;
	uint64_t n = 0;
	int err;

	switch (key) {
	case OPT_NAME:
		u->stay.name = text;
		return 0;
	case OPT_NET:
		err = net_parse_kind(&u->stay.net, text, e);
		return err ? err_prefix(e, "--net") : 0;
	case OPT_PORT:
		err = units_parse_uint(text, 1, 65535, &n, e);
		u->stay.port = n;
		return err ? err_prefix(e, "--port") : 0;
	case OPT_CHAP_USER:
		u->chap_user = text;
		return 0;
	case OPT_ADD:
		return lab_files_add(&u->files, text, e);
	case OPT_OUTPUT_FORMAT:
		return json_out_set(&u->is_json, text, e);
	}
	err = lab_option_set(&u->options, key, text);
	return err == -ENOSYS ? set_target_option(u, key, text) : err;
}

static error_t parse_up(int key, char *text, struct argp_state *state)
{
	struct up *u = state->input;
	int err;

	if (key == ARGP_KEY_ARG) {
		err_set(&u->options.error, -EINVAL,
			"\"%s\": an argument that belongs to no option", text);
		return EINVAL;
	}
	err = set_up_option(u, key, text);
	return err == -ENOSYS ? ARGP_ERR_UNKNOWN : -err;
}

/* --- up --- */

/* `target up` in the guest: on its one address, for this host's only. */
static const char *const *target_command(void *user, const struct net *n)
{
	struct up *u = user;
	const char **c = u->command;

	snprintf(u->listen, sizeof(u->listen), "--listen=%s", n->guest);
	snprintf(u->allow, sizeof(u->allow), "--allow=%s", n->peer);
	*c++ = "lunbench";
	*c++ = "target";
	*c++ = "up";
	*c++ = "--output-format=json";
	*c++ = "--port=3260";
	*c++ = u->listen;
	*c++ = u->allow;
	if (u->chap_user) {
		*c++ = "--chap-user";
		*c++ = u->chap_user;
	}
	for (size_t i = 0; i < u->nr_words; i++)
		*c++ = u->words[i];
	*c = NULL;
	return u->command;
}

static int on_target(void *user, const struct net *n, const char *said,
		     char what[512], struct err *e)
{
	struct up *u = user;
	int err = lab_target_parse(&u->made, n, said, e);

	if (err)
		return err_prefix(e, "the target in the guest");
	snprintf(what, 512, "%s", u->made.url);
	return 0;
}

static void on_note(void *user, const char *note)
{
	size_t len = strlen(note);

	(void)user;
	/* What lunbench said in the guest has its name already. */
	if (!strncmp(note, "lunbench: ", 10))
		fprintf(stderr, "%s%s", note,
			len && note[len - 1] == '\n' ? "" : "\n");
	else
		say("%s", note);
}

static int print_lab(const struct stay_status *s, struct tgt_status *t,
		     bool is_json)
{
	if (is_json)
		return json_out_print(lab_show_json(s, t));
	lab_show_print(s, t);
	printf("  take it down with: lunbench lab down --name %s\n", s->name);
	return STATUS_OK;
}

/* The secret goes to the guest in an environment, and nowhere else. */
static int take_secret(const struct up *u, char *text, size_t size,
		       struct err *e)
{
	const char *secret = getenv("LUNBENCH_TARGET_PASSWORD");

	if (!u->chap_user)
		return 0;
	if (!secret || !*secret)
		return err_set(e, -EINVAL,
			       "--chap-user \"%s\": set its secret in "
			       "LUNBENCH_TARGET_PASSWORD",
			       u->chap_user);
	if ((size_t)snprintf(text, size, "LUNBENCH_TARGET_PASSWORD=%s",
			     secret) >= size)
		return err_set(e, -EINVAL,
			       "LUNBENCH_TARGET_PASSWORD is too long");
	return 0;
}

static int check_array(struct up *u, struct err *e)
{
	target_options_complete(&u->target.array);
	return u->target.array.kind[0] ? array_check(&u->target.array, e) : 0;
}

static int run_up(struct up *u)
{
	struct stay_opts *o = &u->stay;
	char console[2048], secret[320] = "";
	const char *const secrets[] = {secret, NULL};
	struct stay_status s;
	struct err e = {0};
	int err = check_array(u, &e);

	if (!err)
		err = take_secret(u, secret, sizeof(secret), &e);
	if (!err)
		err = lab_files_shipped(&u->files, &e);
	if (err)
		return lab_fail(&e, NULL);
	o->lab = u->options.lab;
	o->lab.files = u->files.list;
	o->lab.nr_files = u->files.nr;
	o->lab.stop = &signals_seen;
	o->lab.on_note = on_note;
	o->command = target_command;
	o->secrets = secret[0] ? secrets : NULL;
	o->on_up = on_target;
	o->user = u;
	err = stay_up(o, &s, console, &e);
	explicit_bzero(secret, sizeof(secret));
	return err ? lab_fail(&e, console)
		   : print_lab(&s, &u->made, u->is_json);
}

int command_lab_up(int argc, char **argv)
{
	struct argp argp = {
		.options = up_options,
		.parser = parse_up,
		.doc = "Starts a guest that stays, in real time, with the "
		       "bundled target in it, and prints the URL by which "
		       "this host, and only it, reaches its LUN."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct up *u = calloc(1, sizeof(*u));
	int status = STATUS_USAGE;

	if (!u) {
		say("out of memory");
		return STATUS_TARGET;
	}
	lab_options_init(&u->options);
	u->options.lab.deadline_ns = START_NS;
	tgt_opts_init(&u->target);
	u->stay.name = "default";
	if (spelling_check(all, argc, argv)) {
		if (argp_parse(&argp, argc, argv, 0, NULL, u))
			say_err(&u->options.error, 0);
		else
			status = run_up(u);
	}
	for (size_t i = 0; i < u->nr_words; i++)
		free(u->words[i]);
	lab_files_release(&u->files);
	free(u);
	return status;
}
