#include "vm/stay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "vm/stay_state.h"

#define LOCK_NS (20 * NS_PER_SEC)
/* For its last command and the power off, each. */
#define LAST_NS (15 * NS_PER_SEC)

static void drop(void *user, int fd, const char *data, size_t len)
{
	(void)user;
	(void)fd;
	(void)data;
	(void)len;
}

/* As a machine is put off: what it serves first, then its power. What does not
 * work has a deadline, and stay_undo(). */
static void power_off(const struct state *s, const char *const *last)
{
	static const char *const off[] = {
		"bash", "-c", "sync; echo o >/proc/sysrq-trigger", NULL};
	struct shell_opts o = {.command = last,
			       .input = -1,
			       .deadline_ns = LAST_NS,
			       .on_output = drop};
	struct journal_text t = {0};
	unsigned long long start_time;
	pid_t pid;
	int status, err = 0;

	if (stay_read_journal(s, &t, NULL))
		return;
	if (stay_recall_qemu(&t, &pid, &start_time) && journal_get(&t, "up")) {
		if (last)
			err = shell_run(s->folder, &o, &status, NULL);
		o.command = off;
		if (!err)
			err = shell_run(s->folder, &o, &status, NULL);
		/* The power may be off before that is said. */
		if (!err || err == -EPIPE)
			child_wait(pid, start_time, LAST_NS);
	}
	journal_text_release(&t);
}

int stay_down(const char *name, const char *const *last, struct err *e)
{
	struct state s;
	int err = state_lock(&s, &stay_kind, name, false, LOCK_NS, e);

	if (err == -ENOENT)
		return err_set(e, err, "no lab \"%s\" is up", name);
	if (err)
		return err;
	power_off(&s, last);
	err = stay_undo(&s, e);
	if (!err)
		err = state_remove(&s, e);
	state_unlock(&s);
	return err;
}

int stay_ask(const struct stay_status *s, const char *const *command,
	     const char *const *env, uint64_t deadline_ns, char **out,
	     struct err *e)
{
	const struct shell_opts o = {
		.command = command, .env = env, .deadline_ns = deadline_ns};
	struct shell_answer a = {0};
	int err = shell_ask(s->folder, &o, &a, e);

	*out = a.text ? a.text : strdup("");
	return err;
}

/* --- status --- */

static void judge(struct stay_status *st, const struct state *s, bool is_alive)
{
	struct err why = {0};

	st->is_running = is_alive && st->up[0];
	if (st->is_running && !state_is_busy(s))
		return;
	if (state_is_busy(s)) {
		snprintf(st->problem, sizeof(st->problem),
			 "another lunbench is making it or taking it down");
		return;
	}
	if (!st->up[0]) {
		snprintf(st->problem, sizeof(st->problem),
			 "it never came up whole; run: lunbench lab down "
			 "--name %s",
			 st->name);
		guest_console(s->folder, st->console);
		return;
	}
	guest_say_death(s->folder, st->memory_mib, st->console, &why);
	snprintf(st->problem, sizeof(st->problem),
		 "its guest is gone (%s); run: lunbench lab down --name %s",
		 why.text, st->name);
}

static void fill(struct stay_status *st, const struct state *s,
		 const struct journal_text *t)
{
	snprintf(st->name, sizeof(st->name), "%s", s->name);
	snprintf(st->folder, sizeof(st->folder), "%s", s->folder);
	snprintf(st->up, sizeof(st->up), "%s", stay_get(t, "up"));
	snprintf(st->accel, sizeof(st->accel), "%s", stay_get(t, "accel"));
	snprintf(st->kernel, sizeof(st->kernel), "%s", stay_get(t, "kernel"));
	sscanf(stay_get(t, "size"), "%u %u", &st->cpus, &st->memory_mib);
	stay_get_net(&st->net, t);
}

int stay_status(const char *name, struct stay_status *st, struct err *e)
{
	struct journal_text t = {0};
	unsigned long long start_time;
	struct state s;
	bool is_alive;
	int err;

	memset(st, 0, sizeof(*st));
	err = state_find(&s, &stay_kind, name, e);
	if (err == -ENOENT)
		return err_set(e, err, "no lab \"%s\" is up", name);
	if (!err)
		err = stay_read_journal(&s, &t, e);
	if (err && err != -ENOENT)
		return err;
	fill(st, &s, &t);
	is_alive = stay_recall_qemu(&t, &st->pid, &start_time);
	judge(st, &s, is_alive);
	journal_text_release(&t);
	return 0;
}

int stay_list(char ***names, size_t *nr, struct err *e)
{
	return state_list(&stay_kind, names, nr, e);
}
