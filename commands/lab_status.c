#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/json_out.h"
#include "commands/lab.h"
#include "commands/lab_show.h"
#include "commands/lab_target.h"
#include "commands/spelling.h"
#include "vm/stay.h"

/* `lab down`, `lab status`: of labs that stay. */

enum { OPT_NAME = 'n', OPT_ALL = 0x100, OPT_OUTPUT_FORMAT };

struct named {
	const char *name; /* NULL when not given */
	bool all, is_json;
	struct err error;
};

static const struct argp_option down_options[] = {
	{"name", OPT_NAME, "NAME", 0, "which lab (default)", 0},
	{"all", OPT_ALL, NULL, 0, "all that have state, up or dead", 0},
	{0},
};

static const struct argp_option status_options[] = {
	{"name", OPT_NAME, "NAME", 0, "only this lab", 0},
	{"output-format", OPT_OUTPUT_FORMAT, "text|json", 0, "", 0},
	{0},
};

static error_t parse_named(int key, char *text, struct argp_state *state)
{
	struct named *n = state->input;

	switch (key) {
	case OPT_NAME:
		n->name = text;
		return 0;
	case OPT_ALL:
		n->all = true;
		return 0;
	case OPT_OUTPUT_FORMAT:
		return -json_out_set(&n->is_json, text, &n->error);
	case ARGP_KEY_ARG:
		err_set(&n->error, -EINVAL,
			"\"%s\": an argument that belongs to no option", text);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool parse(struct named *n, const struct argp *argp, int argc,
		  char **argv)
{
	const struct argp_child all[] = {{argp, 0, NULL, 0}, {0}};

	if (!spelling_check(all, argc, argv))
		return false;
	if (!argp_parse(argp, argc, argv, 0, NULL, n))
		return true;
	say_err(&n->error, 0);
	return false;
}

/* @names: one, or NULL for all. The worst status of them. */
static int for_each(const char *name, const char *none,
		    int (*one)(const char *name, void *user), void *user)
{
	int status = STATUS_OK, got;
	struct err e = {0};
	char **names;
	size_t nr;

	if (name)
		return one(name, user);
	if (stay_list(&names, &nr, &e))
		status = say_err(&e, STATUS_TARGET);
	else if (!nr && none)
		puts(none);
	for (size_t i = 0; i < nr; i++) {
		got = one(names[i], user);
		status = got ? got : status;
		free(names[i]);
	}
	free(names);
	return status;
}

static int down_one(const char *name, void *user)
{
	static const char *const last[] = {"lunbench", "target", "down",
					   "--all", NULL};
	struct err e = {0};

	(void)user;
	if (stay_down(name, last, &e))
		return lab_fail(&e, NULL);
	printf("%s is down\n", name);
	return STATUS_OK;
}

int command_lab_down(int argc, char **argv)
{
	const struct argp argp = {
		down_options,
		parse_named,
		"",
		"Takes a lab down and removes what was made for it, whatever "
		"became of it meanwhile.",
		NULL,
		NULL,
		NULL};
	struct named n = {0};

	if (!parse(&n, &argp, argc, argv))
		return STATUS_USAGE;
	if (n.all && n.name) {
		say("--all and --name: give one of them");
		return STATUS_USAGE;
	}
	if (!n.all && !n.name)
		n.name = "default";
	return for_each(n.name, "no labs", down_one, NULL);
}

static void print_problem(const struct stay_status *s)
{
	printf("%s  %s\n  problem   %s\n", s->name,
	       s->up[0] ? s->up : "(not up)", s->problem);
	if (s->console[0])
		printf("  the guest's last lines:\n%s%s", s->console,
		       s->console[strlen(s->console) - 1] == '\n' ? "" : "\n");
}

/* 0 if it is up and well. */
static int show_one(const char *name, void *user)
{
	struct tgt_status t = {0};
	json_t *list = user;
	struct stay_status s;
	struct err e = {0};
	bool answers;

	if (stay_status(name, &s, &e))
		return lab_fail(&e, NULL);
	answers = s.is_running && !s.problem[0] && !lab_target_ask(&s, &t, &e);
	if (s.is_running && !s.problem[0] && !answers)
		snprintf(s.problem, sizeof(s.problem), "%s", e.text);
	if (list) {
		json_array_append_new(list,
				      lab_show_json(&s, answers ? &t : NULL));
	} else if (answers) {
		lab_show_print(&s, &t);
	} else {
		print_problem(&s);
	}
	return s.problem[0] || t.problem[0] ? STATUS_TARGET : STATUS_OK;
}

int command_lab_status(int argc, char **argv)
{
	const struct argp argp = {
		status_options,
		parse_named,
		"",
		"Says which labs are up, and how their targets are. Exit "
		"status 3 if something is wrong.",
		NULL,
		NULL,
		NULL};
	struct named n = {0};
	json_t *list;
	int status;

	if (!parse(&n, &argp, argc, argv))
		return STATUS_USAGE;
	list = n.is_json ? json_array() : NULL;
	status = for_each(n.name, list ? NULL : "no labs", show_one, list);
	if (list && (json_array_size(list) || !n.name) &&
	    json_out_print(json_pack("{s:o}", "labs", list)))
		status = STATUS_TARGET;
	return status;
}
