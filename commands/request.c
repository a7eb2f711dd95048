#include "commands/request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/capture.h"
#include "commands/commands.h"
#include "commands/job_keys.h"
#include "commands/shipped.h"
#include "commands/spelling.h"
#include "initiator/pcap.h"

enum { /* argp keys of options without a letter */
       KEY_TIMEOUT = 0x100,
       KEY_CONNECT_TIMEOUT,
       KEY_WAIT,
       KEY_SEED,
       KEY_EXPECT_SERIAL,
       KEY_QUICK,
       KEY_UNTIL_CI,
       KEY_NO_PREPARE,
       KEY_HEADER_DIGEST,
       KEY_DATA_DIGEST,
       KEY_IMMEDIATE_DATA,
       KEY_INITIAL_R2T,
       KEY_WIRE,
       KEY_INITIATOR_NAME,
       KEY_WORKERS,
       KEY_ON_DISCONNECT,
       KEY_REOPEN_TIMEOUT,
       KEY_INTERVAL,
       KEY_OUTPUT_FORMAT,
       KEY_OUT,
       KEY_QUIET,
       KEY_PROGRESS,
       KEY_JOB = 0x1000, /* + index in options_table() */
};

static const struct argp_option connect_options[] = {
	{"timeout", KEY_TIMEOUT, "S", 0,
	 "deadline of connect and login (default 10) and of each command "
	 "(default 30)",
	 0},
	{"connect-timeout", KEY_CONNECT_TIMEOUT, "S", 0,
	 "deadline of connect and login alone", 0},
	{"initiator-name", KEY_INITIATOR_NAME, "IQN", 0,
	 "log in by this name (default: one of its own for each session)", 0},
	{"header-digest", KEY_HEADER_DIGEST, "yes|no", 0,
	 "CRC32C over PDU headers (default: as the target likes)", 0},
	{"data-digest", KEY_DATA_DIGEST, "yes|no", 0,
	 "CRC32C over data (needs libiscsi 1.20)", 0},
	{"immediate-data", KEY_IMMEDIATE_DATA, "yes|no", 0,
	 "offer ImmediateData", 0},
	{"initial-r2t", KEY_INITIAL_R2T, "yes|no", 0, "offer InitialR2T", 0},
	{"wire", KEY_WIRE, "batch|plain", 0,
	 "socket calls: many PDUs at once (default), or as libiscsi makes them",
	 0},
	{0},
};

static const struct argp_option run_options[] = {
	{"workers", KEY_WORKERS, "N", 0,
	 "threads that the sessions are spread over (default 1)", 0},
	{"on-disconnect", KEY_ON_DISCONNECT, "reopen|fail", 0,
	 "what to do when a session is lost (default reopen)", 0},
	{"reopen-timeout", KEY_REOPEN_TIMEOUT, "S", 0,
	 "how long a session may be away before the run fails (default 30)", 0},
	{"interval", KEY_INTERVAL, "S", 0,
	 "interval of the series in the result (default 1)", 0},
	{"output-format", KEY_OUTPUT_FORMAT, "text|json", 0,
	 "json: the result document on stdout, all else on stderr", 0},
	{NULL, 'o', "FILE", 0, "write the result to FILE", 0},
	{"out", KEY_OUT, "DIR", 0,
	 "write the result to DIR/JOB-TIME.json (default: results)", 0},
	{"quiet", KEY_QUIET, NULL, 0, "no plan, no live line", 0},
	{"progress", KEY_PROGRESS, "S", 0,
	 "interval of the live line (default 0.5; 10 where it is no terminal)",
	 0},
	{0},
};

static const struct argp_option plan_options[] = {
	{"wait", KEY_WAIT, "S", 0,
	 "retry the first connect that long, for a target that is still "
	 "starting",
	 0},
	{"expect-serial", KEY_EXPECT_SERIAL, "SN", 0,
	 "refuse a LUN whose serial number or NAA name is another", 0},
	{"seed", KEY_SEED, "N", 0,
	 "seed of every random stream (default: the job's randseed)", 0},
	{"quick", KEY_QUICK, NULL, 0,
	 "end each measurement after a second: does it work, not how fast", 0},
	{"no-prepare", KEY_NO_PREPARE, NULL, 0,
	 "leave out the jobs that only make the LUN ready (prepare=1)", 0},
	{"until-ci", KEY_UNTIL_CI, "PERCENT", 0,
	 "repeat until every mean is known that well: until=ci:PERCENT", 0},
	{"verbose", 'v', NULL, 0, "print every client of the plan", 0},
	{0},
};

/* What the parsers of one call share. */
struct parse {
	struct request *r;
	const struct request_form *form;
	const struct argp_child *children; /* borrowed; the groups of options */
	struct job_keys keys;
	int after_bare_key;	  /* index in argv; 0: none */
	bool has_connect_timeout; /* --connect-timeout wins over --timeout */
	size_t nr_until_ci;
};

int request_add_key(struct request *r, const char *key, const char *value)
{
	struct setting *s = reallocarray(r->keys, r->nr_keys + 1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	r->keys = s;
	s += r->nr_keys++;
	s->key = strdup(key);
	s->value = value ? strdup(value) : NULL;
	s->place = strdup("command line");
	return s->key && s->place && (s->value || !value) ? 0 : -ENOMEM;
}

/* An option's value is a word of its own or a part of the option's. */
void request_set_aside(struct request *r, const struct argp_state *state,
		       const char *arg)
{
	r->set_aside[state->next - 1] = true;
	if (arg && arg == state->argv[state->next - 1] && state->next > 1)
		r->set_aside[state->next - 2] = true;
}

error_t request_time(const char *option, const char *text, uint64_t *ns)
{
	struct err e = {0};

	if (units_parse_time(text, NS_PER_SEC, ns, &e)) {
		err_prefix(&e, "--%s", option);
		say_err(&e, STATUS_USAGE);
		return EINVAL;
	}
	if (!*ns) {
		say("--%s: \"%s\" is no time to wait; give at least 1ms",
		    option, text);
		return EINVAL;
	}
	return 0;
}

static error_t parse_uint(const char *option, const char *text, uint64_t min,
			  uint64_t max, uint64_t *out)
{
	struct err e = {0};

	if (!units_parse_uint(text, min, max, out, &e))
		return 0;
	err_prefix(&e, "--%s", option);
	say_err(&e, STATUS_USAGE);
	return EINVAL;
}

static error_t check_not_empty(const char *option, const char *path)
{
	if (*path)
		return 0;
	say("%s: \"\" names no place for the result", option);
	return EINVAL;
}

static error_t parse_tristate(const char *option, const char *text,
			      enum tristate *t)
{
	if (!strcasecmp(text, "yes"))
		*t = ASK_YES;
	else if (!strcasecmp(text, "no"))
		*t = ASK_NO;
	else {
		say("--%s: \"%s\" is neither yes nor no", option, text);
		return EINVAL;
	}
	return 0;
}

static error_t parse_name(struct request *r, const char *name)
{
	char *to = r->run.initiator.initiator_name;

	/* RFC 7143 section 4.2.7.1 */
	if (!*name || strlen(name) > 223) {
		say("--initiator-name: \"%.80s\" has %zu bytes; an iSCSI name "
		    "has 1 to 223",
		    name, strlen(name));
		return EINVAL;
	}
	snprintf(to, sizeof(r->run.initiator.initiator_name), "%s", name);
	return 0;
}

static error_t parse_choice(const char *option, const char *text,
			    const char *first, const char *second,
			    bool *is_second)
{
	*is_second = !strcmp(text, second);
	if (*is_second || !strcmp(text, first))
		return 0;
	say("--%s: \"%s\" is neither %s nor %s", option, text, first, second);
	return EINVAL;
}

static error_t parse_connect(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	struct request *r = p->r;
	struct initiator_opts *o = &r->run.initiator;

	switch (key) {
	case KEY_TIMEOUT:
		if (request_time("timeout", arg, &o->command_timeout_ns))
			return EINVAL;
		if (!p->has_connect_timeout)
			o->connect_timeout_ns = o->command_timeout_ns;
		return 0;
	case KEY_CONNECT_TIMEOUT:
		p->has_connect_timeout = true;
		return request_time("connect-timeout", arg,
				    &o->connect_timeout_ns);
	case KEY_INITIATOR_NAME:
		return parse_name(r, arg);
	case KEY_HEADER_DIGEST:
		return parse_tristate("header-digest", arg, &o->header_digest);
	case KEY_DATA_DIGEST:
		return parse_tristate("data-digest", arg, &o->data_digest);
	case KEY_IMMEDIATE_DATA:
		return parse_tristate("immediate-data", arg,
				      &o->immediate_data);
	case KEY_INITIAL_R2T:
		return parse_tristate("initial-r2t", arg, &o->initial_r2t);
	case KEY_WIRE:
		return parse_choice("wire", arg, "batch", "plain",
				    &o->plain_wire);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_capture(int key, char *arg, struct argp_state *state)
{
	return capture_parse(key, arg, ((struct parse *)state->input)->r);
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct request *r = ((struct parse *)state->input)->r;
	uint64_t n = 0;
	bool second = false;
	error_t rc = 0;

	switch (key) {
	case KEY_WORKERS:
		rc = parse_uint("workers", arg, 1, 256, &n);
		r->run.workers = n;
		return rc;
	case KEY_ON_DISCONNECT:
		rc = parse_choice("on-disconnect", arg, "reopen", "fail",
				  &second);
		r->run.on_disconnect =
			second ? DISCONNECT_FAIL : DISCONNECT_REOPEN;
		return rc;
	case KEY_REOPEN_TIMEOUT:
		return request_time("reopen-timeout", arg,
				    &r->run.reopen_timeout_ns);
	case KEY_INTERVAL:
		return request_time("interval", arg, &r->run.interval_ns);
	case KEY_OUTPUT_FORMAT:
		request_set_aside(r, state, arg);
		return parse_choice("output-format", arg, "text", "json",
				    &r->json);
	case 'o':
		r->file = arg;
		request_set_aside(r, state, arg);
		return check_not_empty("-o", arg);
	case KEY_OUT:
		r->folder = arg;
		request_set_aside(r, state, arg);
		return check_not_empty("--out", arg);
	case KEY_QUIET:
		r->quiet = true;
		request_set_aside(r, state, arg);
		return 0;
	case KEY_PROGRESS:
		request_set_aside(r, state, arg);
		return request_time("progress", arg, &r->run.progress_ns);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Two rules, and only the last of them would have been asked. */
static error_t check_until(const struct parse *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->r->nr_keys; i++)
		nr += !strcmp(p->r->keys[i].key, "until");
	if (!p->nr_until_ci || nr == p->nr_until_ci)
		return 0;
	say("--until-ci is --until=ci:PERCENT, and only one rule can end the "
	    "repeats: leave it or the other out");
	return EINVAL;
}

static error_t parse_plan(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	struct request *r = p->r;
	char text[96];

	switch (key) {
	case KEY_WAIT:
		return request_time("wait", arg, &r->wait_ns);
	case KEY_EXPECT_SERIAL:
		r->expect_serial = arg;
		return 0;
	case KEY_SEED:
		return parse_uint("seed", arg, 1, UINT64_MAX, &r->seed);
	case KEY_QUICK:
		r->quick = true;
		return 0;
	case KEY_NO_PREPARE:
		r->no_prepare = true;
		return 0;
	case KEY_UNTIL_CI:
		snprintf(text, sizeof(text), "ci:%.80s", arg);
		p->nr_until_ci++;
		return request_add_key(r, "until", text) ? ENOMEM : 0;
	case ARGP_KEY_END:
		return check_until(p);
	case 'v':
		request_set_aside(r, state, arg);
		r->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* As in a job file: names and texts go to terminals. */
static bool has_control(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return true;
	return false;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	const struct option_desc *d = job_keys_find(&p->keys, key);

	if (!d)
		return ARGP_ERR_UNKNOWN;
	if (d->kind != OPTION_WORKS && !arg)
		p->after_bare_key = state->next;
	if (arg && has_control(arg)) {
		say("--%s: \"%s\" has a control character in it", d->name, arg);
		return EINVAL;
	}
	return request_add_key(p->r, d->name, arg) ? ENOMEM : 0;
}

/* --- arguments --- */

static bool is_url(const char *arg)
{
	static const char *const prefixes[] = {
		"iscsi:", "block:", "null:", "sim:", "fault:", NULL};
	struct stat st;
	size_t i;

	if (strstr(arg, "://"))
		return true;
	for (i = 0; prefixes[i]; i++)
		if (!strncmp(arg, prefixes[i], strlen(prefixes[i])))
			return true;
	return !stat(arg, &st) && S_ISBLK(st.st_mode);
}

/* HOST[:PORT] as a URL; a bare IPv6 address gets its brackets. */
static void portal_url(const char *arg, char *url, size_t size)
{
	const char *colon = strchr(arg, ':');
	bool is_bare_v6 = colon && strchr(colon + 1, ':') && arg[0] != '[';

	snprintf(url, size, is_bare_v6 ? "iscsi://[%s]" : "iscsi://%s", arg);
}

/* `ps` shows argv to every user of the machine. */
static void hide_secret(char *arg, const char *display)
{
	size_t len = strlen(arg);

	if (!strcmp(arg, display))
		return;
	memset(arg, 0, len);
	if (strlen(display) <= len)
		memcpy(arg, display, strlen(display));
}

static error_t take_url(struct parse *p, char *arg)
{
	char text[1200], warning[256] = "";
	struct err e = {0};

	if (p->r->has_url) {
		say("\"%s\": there is a URL already, \"%s\"; one LUN a run",
		    arg, p->r->url.display);
		return EINVAL;
	}
	if ((p->form->takes & REQUEST_PORTAL) && !is_url(arg))
		portal_url(arg, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", arg);
	if (url_parse(&p->r->url, text, p->form->takes & REQUEST_URL, warning,
		      &e)) {
		say_err(&e, STATUS_USAGE);
		return EINVAL;
	}
	p->r->has_url = true;
	if (strstr(text, "://") && strchr(text, '@'))
		hide_secret(arg, p->r->url.display);
	explicit_bzero(text, sizeof(text));
	if (warning[0])
		say("%s", warning);
	return 0;
}

/* The libaio of "--ioengine libaio": such keys are options with an optional
 * value (see job_keys.c), which getopt sees only behind a "=". */
static bool is_value_of_key(const struct parse *p, const char *arg,
			    const struct argp_state *state)
{
	char path[PATH_MAX];

	/* argp calls with next behind @arg, in the order of the line. */
	return p->after_bare_key && state->next - 1 == p->after_bare_key &&
	       shipped_resolve(arg, path, sizeof(path), NULL);
}

static error_t take_argument(struct parse *p, char *arg,
			     const struct argp_state *state)
{
	unsigned int takes = p->form->takes;

	if ((takes & REQUEST_PORTAL) || ((takes & REQUEST_URL) && is_url(arg)))
		return take_url(p, arg);
	if (!(takes & REQUEST_JOB)) {
		say("\"%s\": not asked for; usage: %s", arg, p->form->args_doc);
		return EINVAL;
	}
	if (is_value_of_key(p, arg, state))
		return 0;
	if (p->r->job) {
		say("\"%s\": neither a URL (iscsi://HOST/IQN/LUN, block:PATH, "
		    "null:SIZE) nor the job, which is \"%s\" already",
		    arg, p->r->job);
		return EINVAL;
	}
	p->r->set_aside[state->next - 1] = true;
	p->r->job = strdup(arg);
	return p->r->job ? 0 : ENOMEM;
}

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	size_t i;

	switch (key) {
	case ARGP_KEY_INIT:
		for (i = 0; p->children[i].argp; i++)
			state->child_inputs[i] = p;
		if (p->form->own) /* always the first child */
			state->child_inputs[0] = p->form->own_input;
		return 0;
	case ARGP_KEY_ARG:
		return take_argument(p, arg, state);
	case ARGP_KEY_END:
		if (p->r->has_url ||
		    !(p->form->takes & (REQUEST_URL | REQUEST_PORTAL)))
			return 0;
		say("no URL given; usage: %s %s", state->name,
		    p->form->args_doc);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- the whole --- */

static int request_init(struct request *r, int argc)
{
	memset(r, 0, sizeof(*r));
	run_opts_init(&r->run);
	r->set_aside = calloc(argc + 1, sizeof(*r->set_aside));
	return r->set_aside ? 0 : -ENOMEM;
}

static int out_of_memory(void)
{
	say("out of memory");
	return STATUS_TARGET;
}

int request_parse(struct request *r, const struct request_form *form, int argc,
		  char **argv)
{
	struct argp own = {.options = form->own, .parser = form->parse_own};
	struct argp plan = {.options = plan_options, .parser = parse_plan};
	struct argp run = {.options = run_options, .parser = parse_run};
	struct argp connect = {.options = connect_options,
			       .parser = parse_connect};
	struct argp capture = {.options = capture_options,
			       .parser = parse_capture};
	struct argp keys = {.parser = parse_key};
	struct argp_child children[7] = {0};
	struct parse p = {.r = r, .form = form, .children = children};
	struct argp root = {.parser = parse_root,
			    .args_doc = form->args_doc,
			    .doc = form->doc,
			    .children = children};
	size_t n = 0;
	error_t rc;

	if (request_init(r, argc))
		return out_of_memory();
	if (form->own)
		children[n++] = (struct argp_child){&own, 0, NULL, 0};
	if (form->takes & REQUEST_RUN)
		children[n++] = (struct argp_child){
			&run, 0, "How to run, and what to do with the result",
			1};
	if (form->takes & REQUEST_JOB)
		children[n++] =
			(struct argp_child){&plan, 0, "What to run it on", 1};
	if (form->takes & REQUEST_CONNECT)
		children[n++] = (struct argp_child){&connect, 0,
						    "How to reach the LUN", 2};
	if (form->takes & REQUEST_CAPTURE)
		children[n++] = (struct argp_child){&capture, 0, NULL, 2};
	if (form->takes & REQUEST_JOB) {
		if (job_keys_init(&p.keys, children)) {
			job_keys_release(&p.keys);
			return out_of_memory();
		}
		keys.options = p.keys.options;
		children[n++] = (struct argp_child){
			&keys, 0, "Job keys, as in a fio job file", 3};
	}
	if (!spelling_check(children, argc, argv)) {
		job_keys_release(&p.keys);
		return STATUS_USAGE;
	}
	rc = argp_parse(&root, argc, argv, ARGP_IN_ORDER, NULL, &p);
	job_keys_release(&p.keys);
	if (rc == ENOMEM)
		return out_of_memory();
	return rc ? STATUS_USAGE : STATUS_OK;
}

void request_release(struct request *r)
{
	size_t i;

	for (i = 0; i < r->nr_keys; i++) {
		free(r->keys[i].key);
		free(r->keys[i].value);
		free(r->keys[i].place);
	}
	free(r->keys);
	free(r->job);
	free(r->set_aside);
	pcap_close(r->run.initiator.capture);
	url_wipe(&r->url);
	memset(r, 0, sizeof(*r));
}
