#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "workloads/option_types.h"

/* The values of the keys that fio has not. */

/* --- clients: "4", "1,4,8", "1,4-60:4" --- */

struct steps {
	unsigned int list[STEPS_MAX];
	size_t nr;
};

static int parse_count(const struct option_input *in, const char *text,
		       uint64_t *n, struct err *e)
{
	/* "4k clients" would be a slip, not a size. */
	if (!*text || text[strspn(text, "0123456789")])
		return err_set(e, -EINVAL,
			       "\"%.40s\" is no number of clients; give N, or "
			       "a list such as 1,4,8 or 1,4-60:4",
			       text);
	return option_parse_ranged(in, text, n, e);
}

static int add_step(struct steps *s, uint64_t n, struct err *e)
{
	unsigned int last = s->nr ? s->list[s->nr - 1] : 0;

	if (s->nr && n == last)
		return err_set(e, -EINVAL,
			       "%" PRIu64 " clients are in it twice; each step "
			       "is made once (see repeats)",
			       n);
	if (n < last)
		return err_set(e, -EINVAL,
			       "%" PRIu64 " comes after %u; the steps must "
			       "ascend",
			       n, last);
	if (s->nr == STEPS_MAX)
		return err_set(e, -E2BIG,
			       "it has more than %d steps; take a larger "
			       "stride, as in 1-1000:10",
			       STEPS_MAX);
	s->list[s->nr++] = (unsigned int)n;
	return 0;
}

/* "4-60:4": 4, 8, ... up to 60; without ":4" each number. */
static int parse_range(const struct option_input *in, char *text,
		       struct steps *s, struct err *e)
{
	char *dash = strchr(text, '-'), *colon;
	uint64_t from, to, stride = 1;
	int ret;

	if (!dash) {
		ret = parse_count(in, text, &from, e);
		return ret ? ret : add_step(s, from, e);
	}
	*dash = '\0';
	colon = strchr(dash + 1, ':');
	if (colon)
		*colon = '\0';
	ret = parse_count(in, text, &from, e);
	if (!ret)
		ret = parse_count(in, dash + 1, &to, e);
	if (!ret && colon)
		ret = parse_count(in, colon + 1, &stride, e);
	if (!ret && to < from)
		ret = err_set(e, -EINVAL,
			      "the range %" PRIu64 "-%" PRIu64 " goes down; "
			      "write the smaller number first",
			      from, to);
	for (; !ret && from <= to; from += stride)
		ret = add_step(s, from, e);
	return ret;
}

int option_parse_clients(const struct option_input *in, struct err *e)
{
	struct job_opts *o = in->opts;
	struct steps s = {.nr = 0};
	unsigned int *steps = NULL;
	char *buf = strdup(in->value), *rest = buf, *part;
	int ret = 0;

	if (!buf)
		return err_set(e, -ENOMEM, "out of memory");
	while (!ret && (part = strsep(&rest, ",")))
		ret = parse_range(in, part, &s, e);
	free(buf);
	if (!ret && s.nr > 1) {
		steps = malloc(s.nr * sizeof(*steps));
		if (!steps)
			ret = err_set(e, -ENOMEM, "out of memory");
	}
	if (ret)
		return ret;
	free(o->steps);
	o->steps = steps;
	o->nr_steps = steps ? s.nr : 0;
	if (steps)
		memcpy(steps, s.list, s.nr * sizeof(*steps));
	o->clients = s.list[s.nr - 1];
	return 0;
}

/* --- one word of several: the table's "a|b|c" names them --- */

static int parse_word(const struct option_input *in, unsigned int *index,
		      struct err *e)
{
	size_t len = strlen(in->value);
	const char *p = in->desc->arg;

	for (*index = 0;; ++*index) {
		size_t word = strcspn(p, "|");

		if (word == len && !strncmp(p, in->value, len))
			return 0;
		if (!p[word])
			return err_set(e, -EINVAL, "\"%.80s\" is none of %s",
				       in->value, in->desc->arg);
		p += word + 1;
	}
}

int option_parse_repeat_order(const struct option_input *in, struct err *e)
{
	unsigned int n;
	int ret = parse_word(in, &n, e);

	if (!ret)
		in->opts->repeats_together = n == 1;
	return ret;
}

int option_parse_misfit(const struct option_input *in, struct err *e)
{
	unsigned int n;
	int ret = parse_word(in, &n, e);

	if (!ret)
		in->opts->misfit = (enum misfit)n;
	return ret;
}

int option_parse_view(const struct option_input *in, struct err *e)
{
	unsigned int n;
	int ret = parse_word(in, &n, e);

	if (!ret)
		in->opts->view = (enum view)n;
	return ret;
}

const char *view_name(enum view v)
{
	static const char *const names[] = {
		[VIEW_NONE] = NULL,
		[VIEW_BARS] = "bars",
		[VIEW_CDM] = "cdm",
		[VIEW_COPY] = "copy",
	};

	return names[v];
}

/* --- until --- */

int option_parse_until(const struct option_input *in, struct err *e)
{
	struct until *u = &in->opts->until;
	char *end;
	double percent;

	if (!strcmp(in->value, "steady")) {
		*u = (struct until){.kind = UNTIL_STEADY};
		return 0;
	}
	if (strncmp(in->value, "ci:", 3) != 0)
		return err_set(
			e, -EINVAL,
			"\"%.80s\" is neither ci:PERCENT, such as ci:2%%, "
			"nor steady",
			in->value);
	/* strtod takes "inf", "nan", hex floats and leading blanks, too. */
	percent = strtod(in->value + 3, &end);
	if (end == in->value + 3 ||
	    strspn(in->value + 3, "0123456789.") !=
		    (size_t)(end - in->value - 3) ||
	    (strcmp(end, "%") != 0 && *end))
		return err_set(e, -EINVAL,
			       "\"%.80s\" is not a percentage such as 2%%",
			       in->value + 3);
	if (percent <= 0 || percent >= 100)
		return err_set(e, -ERANGE,
			       "%g %% is no width to wait for; give more than "
			       "0 and less than 100",
			       percent);
	*u = (struct until){.kind = UNTIL_CI, .percent = percent};
	return 0;
}

void until_format(const struct until *u, char *text, size_t size)
{
	switch (u->kind) {
	case UNTIL_NONE:
		snprintf(text, size, "%s", "");
		break;
	case UNTIL_CI:
		snprintf(text, size, "ci:%g%%", u->percent);
		break;
	case UNTIL_STEADY:
		snprintf(text, size, "steady");
		break;
	}
}

/* --- departs --- */

int option_parse_departs(const struct option_input *in, struct err *e)
{
	struct job_opts *o = in->opts;
	char **grown;

	if (!*in->value)
		return err_set(e, -EINVAL, "the text is empty");
	grown = reallocarray(o->departs, o->nr_departs + 1, sizeof(*grown));
	if (!grown)
		return err_set(e, -ENOMEM, "out of memory");
	o->departs = grown;
	grown[o->nr_departs] = strdup(in->value);
	if (!grown[o->nr_departs])
		return err_set(e, -ENOMEM, "out of memory");
	o->nr_departs++;
	return 0;
}
