#include "commands/array_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

/* --- what is asked --- */

static const char *option_name(const struct array_step *s)
{
	return s->is_replace ? "--replace" : "--fail";
}

int array_steps_add(struct array_steps *s, bool is_replace, const char *text,
		    struct err *e)
{
	struct array_step step = {.is_replace = is_replace};
	const char *colon = strchr(text, ':');
	char time[64];
	size_t i;

	if (!colon || !colon[1] || colon == text ||
	    strlen(colon + 1) >= sizeof(step.member) ||
	    (size_t)(colon - text) >= sizeof(time))
		return err_set(e, -EINVAL,
			       "%s: \"%.60s\": write TIME:MEMBER, as in 10s:2",
			       option_name(&step), text);
	snprintf(time, sizeof(time), "%.*s", (int)(colon - text), text);
	snprintf(step.member, sizeof(step.member), "%s", colon + 1);
	if (units_parse_time(time, NS_PER_SEC, &step.at_ns, e))
		return err_prefix(e, "%s", option_name(&step));
	if (s->nr == ARRAY_STEPS_MAX)
		return err_set(e, -EINVAL, "%s: more than %d steps",
			       option_name(&step), ARRAY_STEPS_MAX);
	/* Steps of one time stay in the order of the command line. */
	for (i = s->nr++; i && s->step[i - 1].at_ns > step.at_ns; i--)
		s->step[i] = s->step[i - 1];
	s->step[i] = step;
	return 0;
}

int array_steps_check(const struct array_steps *s, const struct array_opts *o,
		      struct err *e)
{
	for (size_t i = 0; i < s->nr; i++)
		if (array_check_member(o, s->step[i].member, e))
			return err_prefix(e, "%s", option_name(&s->step[i]));
	return 0;
}

/* --- while it runs --- */

static void note(void *user, const char *text)
{
	run_note(user, EVENT_ARRAY, text);
}

static void do_step(struct array_watch *w, const struct array_step *s,
		    struct run_aside *a)
{
	struct err e = {0};

	if (!(s->is_replace ? tgt_replace : tgt_fail)(w->target, s->member, &e))
		return;
	err_prefix(&e, "%s", option_name(s));
	run_note(a, EVENT_ERROR, e.text);
	if (!w->failed.code)
		w->failed = e;
}

static uint64_t next_step_ns(const struct array_watch *w)
{
	return w->steps && w->nr_done < w->steps->nr
		       ? w->steps->step[w->nr_done].at_ns
		       : UINT64_MAX;
}

static uint64_t on_aside(void *user, struct run_aside *a)
{
	struct array_watch *w = user;
	bool is_news = md_watch_has_news(&w->md);

	if (!is_news && a->at_ns < w->look_ns && a->at_ns < next_step_ns(w))
		return next_step_ns(w);
	md_watch_look(&w->md, clock_now_ns(), note, a);
	w->look_ns = a->at_ns + w->interval_ns;
	while (next_step_ns(w) <= a->at_ns) {
		do_step(w, &w->steps->step[w->nr_done++], a);
		md_watch_look(&w->md, clock_now_ns(), note, a);
	}
	return next_step_ns(w);
}

void array_watch_attach(struct array_watch *w, const struct tgt_status *target,
			const struct array_steps *steps, struct run_opts *o)
{
	memset(w, 0, sizeof(*w));
	if (!target->md[0] || !target->nr_members)
		return;
	w->target = target->name;
	w->steps = steps;
	w->interval_ns = o->interval_ns ? o->interval_ns : NS_PER_SEC;
	md_watch_open(&w->md, target->md, target->member, target->nr_members);
	o->on_aside = on_aside;
	o->aside_user = w;
}

bool array_watch_end(struct array_watch *w, struct err *e)
{
	const struct array_step *s;
	char at[32];

	if (w->target)
		md_watch_close(&w->md);
	if (w->failed.code) {
		*e = w->failed;
		return false;
	}
	if (next_step_ns(w) == UINT64_MAX)
		return true;
	s = &w->steps->step[w->nr_done];
	err_set(e, -ETIME, "%s %s:%s was not done: the run ended before",
		option_name(s), units_time(at, sizeof(at), (double)s->at_ns),
		s->member);
	return false;
}
