#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/lab.h"
#include "commands/spelling.h"
#include "vm/agent.h"
#include "vm/stay.h"

/* `lab shell`: in a guest that stays; and `lab agent`, its end in there. */

enum { OPT_NAME = 'n', OPT_TERMINAL = 't' };

struct request {
	const char *name;
	bool is_terminal;
	const char *const *command;
};

static const struct argp_option shell_options[] = {
	{"name", OPT_NAME, "NAME", 0, "in which lab (default)", 0},
	{"terminal", OPT_TERMINAL, NULL, 0,
	 "give COMMAND a terminal, as a shell has one", 0},
	{0},
};

static error_t parse_shell(int key, char *text, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case OPT_NAME:
		r->name = text;
		return 0;
	case OPT_TERMINAL:
		r->is_terminal = true;
		return 0;
	case ARGP_KEY_ARG:
		r->command = (const char *const *)state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* --- signals and the terminal --- */

static volatile sig_atomic_t last_signal, is_resized;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		is_resized = 1;
	else
		last_signal = number;
}

/* They are the command's. */
static void catch_signals(void)
{
	static const int number[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP,
				     SIGWINCH};
	struct sigaction a = {.sa_handler = on_signal}, old;

	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		sigaction(number[i], NULL, &old);
		if (old.sa_handler != SIG_IGN) /* nohup */
			sigaction(number[i], &a, NULL);
	}
}

/* Each key goes to the guest, Ctrl-C too. */
static int make_raw(struct termios *was)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, was))
		return -errno;
	raw = *was;
	cfmakeraw(&raw);
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) ? -errno : 0;
}

static int write_error; /* of the first output that could not be written */

/* Straight to the descriptor: what it says is seen when it says it. */
static void pass_on(void *user, int fd, const char *data, size_t len)
{
	ssize_t n;

	(void)user;
	while (len && !write_error) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EBADF)
			return; /* closed from the start: not wanted */
		if (n < 0) {
			/* As if the command itself had written there. */
			write_error = errno;
			last_signal = SIGPIPE;
			return;
		}
		data += n;
		len -= n;
	}
}

/* --- shell --- */

static int run_shell(const struct request *r, const struct stay_status *s,
		     struct err *e, int *status)
{
	char term[128];
	const char *env[] = {term, NULL};
	struct shell_opts o = {.command = r->command,
			       .input = STDIN_FILENO,
			       .is_terminal = r->is_terminal,
			       .signal = &last_signal,
			       .is_resized = &is_resized,
			       .on_output = pass_on};
	struct termios was;
	int err;

	snprintf(term, sizeof(term), "TERM=%s",
		 getenv("TERM") ? getenv("TERM") : "dumb");
	if (r->is_terminal)
		o.env = env;
	catch_signals();
	if (r->is_terminal && make_raw(&was))
		return err_set(e, -EINVAL,
			       "--terminal: standard input is none");
	err = shell_run(s->folder, &o, status, e);
	if (r->is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &was);
	return err;
}

static int shell(struct request *r)
{
	struct stay_status s;
	struct err e = {0};
	int status = 0;

	if (!r->command && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		r->is_terminal = true;
	if (stay_status(r->name, &s, &e))
		return lab_fail(&e, NULL);
	if (!s.is_running) {
		err_set(&e, -EPIPE, "lab \"%s\": %s", s.name, s.problem);
		return lab_fail(&e, s.console);
	}
	if (r->is_terminal)
		say("lab \"%s\"; Ctrl-] leaves it", s.name);
	if (!run_shell(r, &s, &e, &status)) {
		if (!write_error || write_error == EPIPE)
			return status;
		say("cannot pass on what the command says: %s",
		    strerror(write_error));
		return STATUS_TARGET;
	}
	if (e.code == -EPIPE && !stay_status(r->name, &s, NULL))
		return lab_fail(&e, s.console);
	return lab_fail(&e, NULL);
}

int command_lab_shell(int argc, char **argv)
{
	struct argp argp = {
		.options = shell_options,
		.parser = parse_shell,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "A shell in the guest of `lab up', or one command with "
		       "its output and status. Ctrl-C reaches the command; a "
		       "second one leaves it."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	struct request r = {.name = "default"};

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r))
		return STATUS_USAGE;
	return shell(&r);
}

/* --- agent --- */

int command_lab_agent(int argc, char **argv)
{
	const char *names[SHELL_PORTS + 1] = {NULL};
	char name[SHELL_PORTS][16];
	struct err e = {0};

	(void)argv;
	/* As process 1's child, and nowhere else. */
	if (argc != 1 || !getenv("LUNBENCH_LAB")) {
		say("lab agent: it belongs to the guests of lab up");
		return STATUS_USAGE;
	}
	for (int i = 0; i < SHELL_PORTS; i++) {
		snprintf(name[i], sizeof(name[i]), "shell%d", i);
		names[i] = name[i];
	}
	agent_run(names, &e);
	return say_err(&e, STATUS_TARGET);
}
