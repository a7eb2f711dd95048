#include "commands/spelling.h"

#include <stdio.h>
#include <string.h>

#include "commands/commands.h"

enum { NAME_MAX_LEN = 40 };

static const struct argp_option builtin_options[] = {
	{"help", '?', NULL, 0, NULL, 0},
	{"usage", 0, NULL, 0, NULL, 0},
	{0},
};

/* A row without a name may be a heading; the end has nothing at all. */
static bool is_end(const struct argp_option *o)
{
	return !o || (!o->name && !o->key && !o->doc && !o->group);
}

static const struct argp_option *find_in(const struct argp_option *o,
					 const char *name)
{
	for (; !is_end(o); o++)
		if (o->name && !strcmp(o->name, name))
			return o;
	return NULL;
}

const struct argp_option *spelling_find(const struct argp_child *children,
					const char *name)
{
	const struct argp_option *o;

	for (; children->argp; children++) {
		o = find_in(children->argp->options, name);
		if (o)
			return o;
	}
	return NULL;
}

/* Edits between two short names (Levenshtein), one row at a time. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], i, j, diagonal, up, best;
	size_t len = strlen(b);

	if (len > NAME_MAX_LEN || strlen(a) > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (j = 1; j <= len; j++) {
			up = row[j];
			best = diagonal + (a[i] != b[j - 1]);
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = up;
			row[j] = best;
		}
	}
	return row[len];
}

static void nearer(const struct argp_option *o, const char *name,
		   const char **best, size_t *best_distance)
{
	size_t d;

	for (; !is_end(o); o++) {
		d = o->name ? distance(o->name, name) : NAME_MAX_LEN;
		if (d < *best_distance) {
			*best = o->name;
			*best_distance = d;
		}
	}
}

static void complain(const struct argp_child *children, const char *name)
{
	size_t limit = 1 + (strlen(name) + 1) / 3;
	const char *best = NULL;

	nearer(builtin_options, name, &best, &limit);
	for (; children->argp; children++)
		nearer(children->argp->options, name, &best, &limit);
	if (best)
		say("unknown option \"--%s\"; did you mean \"--%s\"?", name,
		    best);
	else
		say("unknown option \"--%s\"; --help tells them all", name);
}

static const struct argp_option *find_short(const struct argp_child *children,
					    char letter)
{
	const struct argp_option *o;

	for (; children->argp; children++)
		for (o = children->argp->options; !is_end(o); o++)
			if (o->key == letter)
				return o;
	return letter == '?' ? builtin_options : NULL;
}

static bool wants_value(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

static bool check_long(const struct argp_child *children, const char *arg,
		       const char *next, bool *takes_next)
{
	const char *equals = strchrnul(arg, '=');
	const struct argp_option *o;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)(equals - arg - 2), arg + 2);
	o = spelling_find(children, name);
	if (!o)
		o = find_in(builtin_options, name);
	if (!o)
		complain(children, name);
	else if (*equals && !o->arg)
		say("--%s: takes no value, but \"%s\" is given", name,
		    equals + 1);
	else if (!*equals && wants_value(o) && !next)
		say("--%s: needs a value, --%s=%s", name, name, o->arg);
	else {
		*takes_next = !*equals && wants_value(o);
		return true;
	}
	return false;
}

/* One letter, or several in a row; the last may have a value. */
static bool check_short(const struct argp_child *children, const char *arg,
			const char *next, bool *takes_next)
{
	const struct argp_option *o;

	for (arg++; *arg; arg++) {
		o = find_short(children, *arg);
		if (!o) {
			say("unknown option \"-%c\"; --help tells them all",
			    *arg);
			return false;
		}
		if (!wants_value(o))
			continue;
		if (!arg[1] && !next) {
			say("-%c: needs a value, -%c %s", *arg, *arg, o->arg);
			return false;
		}
		*takes_next = !arg[1];
		break;
	}
	return true;
}

bool spelling_check(const struct argp_child *children, int argc, char **argv)
{
	bool takes_next, is_right;
	const char *next;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		takes_next = false;
		next = i + 1 < argc ? argv[i + 1] : NULL;
		is_right = argv[i][1] == '-' ? check_long(children, argv[i],
							  next, &takes_next)
					     : check_short(children, argv[i],
							   next, &takes_next);
		if (!is_right)
			return false;
		/* The next word is its value, whatever it looks like. */
		i += takes_next;
	}
	return true;
}
