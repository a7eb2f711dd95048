#include "initiator/discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi_command.h"
#include "initiator/iscsi_inquiry.h"
#include "initiator/iscsi_link.h"
#include "initiator/pages.h"
#include "initiator/sense.h"

/*
 * One discovery session, then one session for each target, in which several
 * LUNs are asked at once. Every session goes to the address that we came in
 * by: the portals that a target names can be 0.0.0.0, or of a network that we
 * are not in.
 */
enum {
	AT_ONCE = 16,	   /* LUNs being asked on one session */
	LUNS_FIRST = 2048, /* bytes for REPORT LUNS; re-issued when short */
	LUNS_MAX = 8 + 8 * 16384,
	LUNS_TRIES = 4,
};

struct search;

struct asker { /* asks one LUN after another */
	struct inquiry inquiry;
	struct search *search;
	struct found_lun *lun; /* borrowed; NULL: has nothing to ask */
};

struct search {
	struct discovery *d;
	const struct url *url;
	const struct initiator_opts *opts;
	struct loop *loop; /* owned */
	struct link *link; /* owned */
	void (*on_progress)(void *user, const char *target, size_t done,
			    size_t total);
	void *user;

	struct targets_query targets;
	struct found_target *target; /* in work */
	struct command report_luns;
	uint32_t luns_bytes; /* asked for */
	unsigned int luns_tries;
	struct asker asker[AT_ONCE];
	size_t next, nr_done; /* of target->luns */

	bool is_done;	/* with this session */
	bool is_moving; /* something was answered since the last look */
	struct err why; /* why this session was of no use; code 0: it was */
};

static void stop(struct search *s, int code, const char *text)
{
	if (code && !s->why.code)
		err_set(&s->why, code, "%s", text);
	s->is_done = true;
}

static void *grow(void *array, size_t n, size_t size)
{
	/* doubling: at 1, 2, 4, 8, ... elements */
	if (n & (n - 1))
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

/* --- targets --- */

static struct found_target *add_target(struct discovery *d, const char *name)
{
	struct found_target *t = d->targets;

	for (size_t i = 0; i < d->nr_targets; i++)
		if (strcmp(t[i].name, name) == 0)
			return &t[i];
	t = grow(t, d->nr_targets, sizeof(*t));
	if (!t)
		return NULL;
	d->targets = t;
	t += d->nr_targets++;
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	/* A name may not hold such (RFC 3722); what does cannot be entered. */
	err_make_printable(t->name);
	return t;
}

static int add_portal(struct found_target *t, const char *portal)
{
	char **p = grow(t->portals, t->nr_portals, sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->portals = p;
	p[t->nr_portals] = strdup(portal);
	if (!p[t->nr_portals])
		return -ENOMEM;
	err_make_printable(p[t->nr_portals]);
	t->nr_portals++;
	return 0;
}

static void on_target(struct targets_query *q, const char *name,
		      const char *portal)
{
	struct search *s =
		(void *)((char *)q - offsetof(struct search, targets));
	struct found_target *t;

	if (!name) {
		stop(s, 0, NULL);
		return;
	}
	if (s->url->target[0] && strcmp(name, s->url->target) != 0)
		return;
	t = add_target(s->d, name);
	if (!t || (portal && add_portal(t, portal)))
		stop(s, -ENOMEM, "no memory for another target");
}

/* --- LUNs --- */

static void ask_next(struct asker *a)
{
	struct search *s = a->search;
	struct found_target *t = s->target;

	while (s->next < t->nr_luns && t->luns[s->next].problem[0])
		s->next++, s->nr_done++; /* has no number that we could ask */
	a->lun = s->next < t->nr_luns ? &t->luns[s->next++] : NULL;
	if (!a->lun) {
		if (s->nr_done == t->nr_luns)
			stop(s, 0, NULL);
		return;
	}
	memset(&a->inquiry.lun, 0, sizeof(a->inquiry.lun));
	a->inquiry.number = a->lun->lun;
	a->inquiry.pages_bytes = 0;
	inquiry_start(&a->inquiry);
}

static void on_learned(struct inquiry *q, const struct err *e)
{
	struct asker *a = (void *)((char *)q - offsetof(struct asker, inquiry));
	struct search *s = a->search;

	a->lun->device_type = q->device_type;
	/* a controller is no problem, it is only not a disk */
	if (!e)
		a->lun->info = q->lun;
	else if (!q->device_type || q->device_type == 0x1f)
		snprintf(a->lun->problem, sizeof(a->lun->problem), "%s",
			 e->text);
	s->nr_done++;
	s->is_moving = true;
	if (s->on_progress)
		s->on_progress(s->user, s->target->name, s->nr_done,
			       s->target->nr_luns);
	ask_next(a);
}

static void ask_all(struct search *s)
{
	s->next = s->nr_done = 0;
	for (size_t i = 0; i < AT_ONCE; i++) {
		struct asker *a = &s->asker[i];

		a->search = s;
		a->inquiry.link = s->link;
		a->inquiry.loop = s->loop;
		a->inquiry.on_done = on_learned;
		ask_next(a);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct found_lun *x = a, *y = b;

	return (x->lun > y->lun) - (x->lun < y->lun);
}

static int take_luns(struct found_target *t, const uint8_t *d, size_t n)
{
	n = (n - 8) / 8;
	t->luns = calloc(n ? n : 1, sizeof(*t->luns));
	if (!t->luns)
		return -ENOMEM;
	t->nr_luns = n;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *entry = d + 8 + 8 * i;
		int number = pages_lun_number(entry);

		t->luns[i].lun =
			number >= 0 ? number : entry[0] << 8 | entry[1];
		t->luns[i].device_type = 0x1f;
		if (number < 0)
			snprintf(t->luns[i].problem, sizeof(t->luns[i].problem),
				 "its addressing method (SAM-5 4.7) gives it "
				 "no number from 0 to 16383");
	}
	qsort(t->luns, n, sizeof(*t->luns), by_number);
	return 0;
}

static void send_report_luns(struct search *s)
{
	uint32_t n = s->luns_bytes;
	uint8_t cdb[12] = {0xa0, 0, 0, 0, 0, 0, n >> 24, n >> 16, n >> 8, n};

	if (command_send(&s->report_luns, s->link, 0, cdb, sizeof(cdb), n))
		stop(s, -ENOMEM, "cannot send REPORT LUNS");
}

/* @again: with more room, or past a unit attention. */
static bool must_report_again(struct search *s, int result, const uint8_t *data,
			      size_t size)
{
	size_t all = result ? 0 : pages_luns_bytes(data, size);

	if (s->luns_tries++ >= LUNS_TRIES)
		return false;
	if (all > s->luns_bytes && s->luns_bytes < LUNS_MAX) {
		s->luns_bytes = all < LUNS_MAX ? all : LUNS_MAX;
		return true;
	}
	return result == -EAGAIN;
}

static void on_report_luns(struct command *c, int result,
			   const struct io_detail *d, const uint8_t *data,
			   size_t size)
{
	struct search *s =
		(void *)((char *)c - offsetof(struct search, report_luns));
	size_t all = result ? 0 : pages_luns_bytes(data, size);
	char text[200];

	s->is_moving = true;
	if (must_report_again(s, result, data, size)) {
		send_report_luns(s);
	} else if (result) {
		sense_describe(d, text, sizeof(text));
		stop(s, result, text);
		err_prefix(&s->why, "REPORT LUNS");
	} else if (!all) {
		stop(s, -EPROTO, "REPORT LUNS data too short");
	} else if (take_luns(s->target, data, all < size ? all : size)) {
		stop(s, -ENOMEM, "no memory for the LUNs");
	} else {
		ask_all(s);
	}
}

/* --- sessions --- */

static void on_up(void *user)
{
	struct search *s = user;

	s->is_moving = true;
	if (!s->target) {
		s->targets.on_target = on_target;
		if (targets_send(&s->targets, s->link))
			stop(s, -ENOMEM, "cannot send SendTargets");
		return;
	}
	s->report_luns.on_reply = on_report_luns;
	s->luns_bytes = LUNS_FIRST;
	s->luns_tries = 0;
	send_report_luns(s);
}

static void on_down(void *user, const struct err *e)
{
	stop(user, e->code, e->text);
}

static const struct link_events link_events = {
	.on_up = on_up,
	.on_down = on_down,
};

/* Until it is done, or nothing moved for a step's time. */
static void turn_until_done(struct search *s)
{
	uint64_t limit = s->opts->connect_timeout_ns, end, now;
	char text[sizeof(s->why.text)];

	end = loop_now_ns(s->loop) + limit;
	while (!s->is_done) {
		now = loop_now_ns(s->loop);
		if (s->is_moving)
			end = now + limit;
		s->is_moving = false;
		if (now < end && !loop_turn(s->loop, end - now))
			continue;
		snprintf(text, sizeof(text), "%.400s: no answer in %.3g s",
			 link_stage(s->link), limit / 1e9);
		stop(s, -ETIMEDOUT, text);
	}
}

static void logout(struct search *s)
{
	bool was_up = link_is_up(s->link);

	if (!was_up)
		return;
	s->is_done = false;
	link_logout(s->link); /* ends in on_down, in a second at most */
	while (!s->is_done && !loop_turn(s->loop, s->opts->connect_timeout_ns))
		;
}

/* 0, or -errno and why in s->why. @target NULL: the discovery session. */
static int run_session(struct search *s, struct found_target *target)
{
	struct link_setup setup = {.loop = s->loop,
				   .url = s->url,
				   .opts = s->opts,
				   .target = target ? target->name : NULL,
				   .events = &link_events,
				   .user = s};
	int ret;

	memset(&s->why, 0, sizeof(s->why));
	memset(&s->report_luns, 0, sizeof(s->report_luns));
	memset(s->asker, 0, sizeof(s->asker));
	s->target = target;
	s->is_done = false;
	if (link_open(&s->link, &setup, &s->why))
		return s->why.code;
	turn_until_done(s);
	ret = s->why.code;
	logout(s);
	link_free(s->link);
	s->link = NULL;
	command_release(&s->report_luns);
	for (size_t i = 0; i < AT_ONCE; i++)
		if (s->asker[i].search)
			inquiry_release(&s->asker[i].inquiry);
	return ret;
}

/* What was not asked any more when the session broke off. */
static void note_unasked(struct search *s, struct found_target *t)
{
	for (size_t i = 0; i < t->nr_luns; i++) {
		struct found_lun *l = &t->luns[i];

		if (!l->problem[0] && !l->info.blocks && l->device_type == 0x1f)
			snprintf(l->problem, sizeof(l->problem), "%.255s",
				 s->why.text);
	}
}

static int run_targets(struct search *s)
{
	size_t i;

	/* a target that its access list hides can still be entered by name */
	if (s->url->target[0] && !s->d->nr_targets &&
	    !add_target(s->d, s->url->target))
		return -ENOMEM;
	for (i = 0; i < s->d->nr_targets; i++) {
		struct found_target *t = &s->d->targets[i];

		if (run_session(s, t) == 0)
			continue;
		snprintf(t->problem, sizeof(t->problem), "%.255s", s->why.text);
		note_unasked(s, t);
	}
	return 0;
}

int discover(struct discovery *d, const struct url *url,
	     const struct initiator_opts *opts,
	     void (*on_progress)(void *user, const char *target, size_t done,
				 size_t total),
	     void *user, struct err *e)
{
	struct search *s = calloc(1, sizeof(*s));
	int ret;

	memset(d, 0, sizeof(*d));
	if (!s)
		return err_set(e, -ENOMEM, "no memory for a discovery");
	s->d = d;
	s->url = url;
	s->opts = opts;
	s->on_progress = on_progress;
	s->user = user;
	ret = loop_new(&s->loop, false, e);
	if (ret)
		goto out;
	ret = run_session(s, NULL);
	if (ret) {
		*e = s->why;
		goto out;
	}
	ret = run_targets(s);
	if (ret)
		err_set(e, ret, "no memory for another target");
out:
	loop_free(s->loop);
	free(s);
	return ret;
}

void discovery_release(struct discovery *d)
{
	for (size_t i = 0; i < d->nr_targets; i++) {
		struct found_target *t = &d->targets[i];

		for (size_t p = 0; p < t->nr_portals; p++)
			free(t->portals[p]);
		free(t->portals);
		free(t->luns);
	}
	free(d->targets);
	memset(d, 0, sizeof(*d));
}
