#include "vm/stay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/journal.h"
#include "base/state.h"
#include "vm/outfit.h"

#define LOCK_NS (20 * NS_PER_SEC)
#define CONFIGURE_NS (30 * NS_PER_SEC)
/* For its last command and the power off, each. */
#define LAST_NS (15 * NS_PER_SEC)
#define KILL_NS (10 * NS_PER_SEC)

static bool is_ours(const char *file)
{
	static const char *const name[] = {"console", "status", "out",
					   "err",     "result", "qemu.log"};

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (!strcmp(file, name[i]))
			return true;
	return !strncmp(file, "shell", 5);
}

static const struct state_kind kind = {"lab", "/.lab", is_ours};

/* --- what is written down --- */

static const char *get(const struct journal_text *t, const char *key)
{
	const char *value = journal_get(t, key);

	return value ? value : "";
}

static void fill_net(struct net *n, const struct journal_text *t)
{
	unsigned int port = 0;

	memset(n, 0, sizeof(*n));
	net_parse_kind(&n->kind, get(t, "net"), NULL);
	/* "PORT CONNECT GUEST PEER BITS MTU DEVICE" */
	sscanf(get(t, "address"), "%u %15s %15s %15s %u %u %15s", &port,
	       n->connect, n->guest, n->peer, &n->bits, &n->mtu, n->device);
	n->port = port;
}

static int write_net(struct journal *j, const struct net *n, struct err *e)
{
	return journal_write(j, e, "address", "%u %s %s %s %u %u %s", n->port,
			     n->connect, n->guest, n->peer, n->bits, n->mtu,
			     n->device);
}

/* QEMU, if it was started and is still the process that it was. */
static bool recall_qemu(const struct journal_text *t, pid_t *pid,
			unsigned long long *start_time)
{
	int number;

	*pid = 0;
	if (sscanf(get(t, "qemu"), "%d %llu", &number, start_time) != 2)
		return false;
	*pid = number;
	return child_is_alive(number, *start_time);
}

static int read_journal(const struct state *s, struct journal_text *t,
			struct err *e)
{
	char path[600];

	state_path(s, "journal", path, sizeof(path));
	return journal_read(t, path, e);
}

/* --- down --- */

/* Ends QEMU and removes what the folder holds, by what the journal says. */
static int undo(struct state *s, struct err *e)
{
	struct journal_text t = {0};
	unsigned long long start_time;
	struct net net;
	pid_t pid;
	int err = read_journal(s, &t, e);

	if (err && err != -ENOENT)
		return err;
	err = 0;
	if (recall_qemu(&t, &pid, &start_time))
		err = child_kill(pid, start_time, KILL_NS, e);
	fill_net(&net, &t);
	net_take_down_host(&net);
	journal_text_release(&t);
	if (!err)
		err = state_clear(s, e);
	scratch_sweep();
	return err;
}

static void drop(void *user, int fd, const char *data, size_t len)
{
	(void)user;
	(void)fd;
	(void)data;
	(void)len;
}

/* As a machine is put off: what it serves first, then its power. What does not
 * work has a deadline, and undo(). */
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
	int status;

	if (read_journal(s, &t, NULL))
		return;
	if (recall_qemu(&t, &pid, &start_time) && journal_get(&t, "up")) {
		if (last)
			shell_run(s->folder, &o, &status, NULL);
		o.command = off;
		if (!shell_run(s->folder, &o, &status, NULL) || !status)
			child_wait(pid, start_time, LAST_NS);
	}
	journal_text_release(&t);
}

int stay_down(const char *name, const char *const *last, struct err *e)
{
	struct state s;
	int err = state_lock(&s, &kind, name, false, LOCK_NS, e);

	if (err == -ENOENT)
		return err_set(e, err, "no lab \"%s\" is up", name);
	if (err)
		return err;
	power_off(&s, last);
	err = undo(&s, e);
	if (!err)
		err = state_remove(&s, e);
	state_unlock(&s);
	return err;
}

/* --- asking --- */

enum { ANSWER_MAX = 1 << 20 };

struct answer {
	char *text; /* owned */
	size_t len;
	char errors[4096];
	size_t errors_len;
};

static void keep(void *user, int fd, const char *data, size_t len)
{
	struct answer *a = user;
	char *more;

	if (fd == 2) {
		if (len > sizeof(a->errors) - 1 - a->errors_len)
			len = sizeof(a->errors) - 1 - a->errors_len;
		memcpy(a->errors + a->errors_len, data, len);
		a->errors_len += len;
		return;
	}
	more = a->len + len > ANSWER_MAX ? NULL
					 : realloc(a->text, a->len + len + 1);
	if (!more)
		return;
	a->text = more;
	memcpy(more + a->len, data, len);
	a->len += len;
	more[a->len] = '\0';
}

static int ask(const char *folder, const struct shell_opts *asked,
	       struct answer *a, struct err *e)
{
	static const char own[] = "lunbench: ";
	struct shell_opts o = *asked;
	char line[300], *said = line;
	int status, err;

	o.input = -1;
	o.on_output = keep;
	o.user = a;
	err = shell_run(folder, &o, &status, e);
	if (err || !status)
		return err;
	child_last_line(a->errors, line, sizeof(line));
	if (!strncmp(line, own, strlen(own)))
		said += strlen(own);
	/* STATUS_USAGE of the lunbench inside: the question was wrong. */
	return err_set(e, status == 2 ? -EINVAL : -EIO, "in the guest: %s",
		       said);
}

int stay_ask(const struct stay_status *s, const char *const *command,
	     const char *const *env, uint64_t deadline_ns, char **out,
	     struct err *e)
{
	const struct shell_opts o = {
		.command = command, .env = env, .deadline_ns = deadline_ns};
	struct answer a = {0};
	int err = ask(s->folder, &o, &a, e);

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
	snprintf(st->up, sizeof(st->up), "%s", get(t, "up"));
	snprintf(st->accel, sizeof(st->accel), "%s", get(t, "accel"));
	snprintf(st->kernel, sizeof(st->kernel), "%s", get(t, "kernel"));
	sscanf(get(t, "size"), "%u %u", &st->cpus, &st->memory_mib);
	fill_net(&st->net, t);
}

int stay_status(const char *name, struct stay_status *st, struct err *e)
{
	struct journal_text t = {0};
	unsigned long long start_time;
	struct state s;
	bool is_alive;
	int err;

	memset(st, 0, sizeof(*st));
	err = state_find(&s, &kind, name, e);
	if (err == -ENOENT)
		return err_set(e, err, "no lab \"%s\" is up", name);
	if (!err)
		err = read_journal(&s, &t, e);
	if (err && err != -ENOENT)
		return err;
	fill(st, &s, &t);
	is_alive = recall_qemu(&t, &st->pid, &start_time);
	judge(st, &s, is_alive);
	journal_text_release(&t);
	return 0;
}

int stay_list(char ***names, size_t *nr, struct err *e)
{
	return state_list(&kind, names, nr, e);
}

/* --- up --- */

struct making {
	const struct stay_opts *o;
	struct state state;
	struct journal journal;
	struct net net;
	struct outfit *out;
	char *console; /* borrowed */
	uint64_t end_ns;
	pid_t pid;
};

static void note(const struct stay_opts *o, const char *text)
{
	if (o->lab.on_note && text[0])
		o->lab.on_note(o->lab.user, text);
}

static int check(const struct making *m, struct err *e)
{
	struct sockaddr_un a;
	size_t room = sizeof(a.sun_path) - sizeof("/shell0");
	int err = 0;

	if (m->o->lab.mips)
		return err_set(e, -EINVAL,
			       "a lab that stays runs in real time, like the "
			       "host that talks to it: virtual time is for lab "
			       "exec and bench");
	err = lab_check_host(e);
	if (!err)
		err = outfit_check(&m->o->lab, e);
	if (!err && strlen(m->state.folder) > room)
		err = err_set(e, -ENAMETOOLONG,
			      "\"%s\" is too long for the path of a socket: "
			      "set LUNBENCH_STATE_DIR to a shorter one, or "
			      "take a shorter name",
			      m->state.folder);
	return err;
}

/* -EEXIST if it is up; else what is left of an earlier one goes. */
static int make_way(struct making *m, struct err *e)
{
	struct journal_text t = {0};
	unsigned long long start_time;
	char text[128];
	pid_t pid;
	int err = read_journal(&m->state, &t, e);

	if (err)
		return err == -ENOENT ? state_clear(&m->state, e) : err;
	if (recall_qemu(&t, &pid, &start_time) && journal_get(&t, "up"))
		err = err_set(e, -EEXIST,
			      "lab \"%s\" is up already at %s: take it down "
			      "with: lunbench lab down --name %s",
			      m->state.name, get(&t, "up"), m->state.name);
	journal_text_release(&t);
	if (err)
		return err;
	snprintf(text, sizeof(text),
		 "cleaned up what a \"%s\" that died had "
		 "left",
		 m->state.name);
	note(m->o, text);
	return undo(&m->state, e);
}

/* What the guest runs: the agents of its shells. */
static int outfit(struct making *m, struct err *e)
{
	char name[96], why[256], accel[64];
	const char *agent[] = {
		"bash", "-c",
		"echo \"$0\" >/proc/sys/kernel/hostname; exec lunbench lab "
		"agent",
		name, NULL};
	struct lab_opts lab = m->o->lab;
	int err;

	snprintf(name, sizeof(name), "lab-%s", m->state.name);
	lab.command = agent;
	err = net_choose(&m->net, m->o->net, m->o->port, why, e);
	if (!err && why[0]) {
		char text[320];

		snprintf(text, sizeof(text),
			 "%s: QEMU's user networking, which is slower", why);
		note(m->o, text);
	}
	if (!err)
		err = outfit_make(m->out, &lab, true, e);
	if (err)
		return err;
	outfit_describe(m->out, accel, sizeof(accel));
	err = journal_write(&m->journal, e, "accel", "%s", accel);
	if (!err)
		err = journal_write(&m->journal, e, "kernel", "%s",
				    m->out->appliance.kernel.release);
	if (!err)
		err = journal_write(&m->journal, e, "size", "%u %u", lab.cpus,
				    lab.memory_mib);
	if (!err)
		err = journal_write(&m->journal, e, "net", "%s",
				    net_kind_name(m->net.kind));
	return err;
}

static int before_qemu(void *user, pid_t pid, uint64_t start_time,
		       struct err *e)
{
	struct making *m = user;

	return journal_write(&m->journal, e, "qemu", "%d %llu", (int)pid,
			     (unsigned long long)start_time);
}

/* What is left of the time for the start; -ETIMEDOUT. */
static int time_left(const struct making *m, uint64_t *ns, struct err *e)
{
	uint64_t now = clock_now_ns();

	*ns = m->end_ns > now ? m->end_ns - now : 0;
	if (*ns)
		return 0;
	return err_set(e, -ETIMEDOUT,
		       "the lab was not up within %.0f s: give it longer with "
		       "--timeout",
		       m->o->lab.deadline_ns / 1e9);
}

static int boot(struct making *m, struct err *e)
{
	struct guest_opts g = {.folder = m->state.folder,
			       .kernel = m->out->kernel,
			       .initrd = m->out->initrd,
			       .accel = m->out->accel,
			       .cpus = m->o->lab.cpus,
			       .memory_mib = m->o->lab.memory_mib,
			       .disks = m->out->disks,
			       .net = &m->net,
			       .nr_shells = SHELL_PORTS,
			       .boot_deadline_ns = LAB_BOOT_NS,
			       .stop = m->o->lab.stop};
	struct guest_result r;
	uint64_t left;
	int err = time_left(m, &left, e);

	if (err)
		return err;
	if (left < g.boot_deadline_ns)
		g.boot_deadline_ns = left;
	err = guest_start(&g, before_qemu, m, &m->pid, &r, e);
	if (err)
		memcpy(m->console, r.console, sizeof(r.console));
	return err;
}

static int connect_net(struct making *m, struct err *e)
{
	char address[32], mtu[16];
	const char *guest[] = {"bash",
			       "-c",
			       "ip addr add \"$0\" dev eth0 && "
			       "ip link set dev eth0 mtu \"$1\" up",
			       address,
			       mtu,
			       NULL};
	const struct shell_opts o = {.command = guest,
				     .deadline_ns = CONFIGURE_NS,
				     .stop = m->o->lab.stop};
	struct answer a = {0};
	int err = 0;

	if (m->net.kind == NET_TAP)
		err = net_find_tap(&m->net, m->pid, e);
	if (!err)
		err = write_net(&m->journal, &m->net, e);
	if (!err && m->net.kind == NET_TAP)
		err = net_set_up_host(&m->net, e);
	snprintf(address, sizeof(address), "%s/%u", m->net.guest, m->net.bits);
	snprintf(mtu, sizeof(mtu), "%u", m->net.mtu);
	if (!err)
		err = ask(m->state.folder, &o, &a, e);
	free(a.text);
	return err;
}

static int run_command(struct making *m, struct err *e)
{
	struct shell_opts o = {.env = m->o->secrets, .stop = m->o->lab.stop};
	struct answer a = {0};
	char what[512] = "";
	int err;

	o.command = m->o->command ? m->o->command(m->o->user, &m->net) : NULL;
	if (!o.command)
		return journal_write(&m->journal, e, "up", "%s",
				     m->net.connect);
	err = time_left(m, &o.deadline_ns, e);
	if (!err)
		err = ask(m->state.folder, &o, &a, e);
	note(m->o, err ? "" : a.errors);
	if (!err)
		err = m->o->on_up(m->o->user, &m->net, a.text ? a.text : "",
				  what, e);
	if (!err)
		err = journal_write(&m->journal, e, "up", "%s", what);
	free(a.text);
	return err;
}

static int make(struct making *m, struct err *e)
{
	char path[600];
	int err;

	state_path(&m->state, "journal", path, sizeof(path));
	err = journal_create(&m->journal, path, e);
	if (err)
		return err;
	err = outfit(m, e);
	if (!err)
		err = boot(m, e);
	/* QEMU has read and opened all of it. */
	outfit_release(m->out);
	if (!err)
		err = connect_net(m, e);
	if (!err)
		err = run_command(m, e);
	if (err && m->pid > 0 && !m->console[0])
		guest_console(m->state.folder, m->console);
	journal_close(&m->journal);
	return err;
}

int stay_up(const struct stay_opts *o, struct stay_status *st,
	    char console[2048], struct err *e)
{
	struct making m = {.o = o, .console = console};
	int err;

	memset(st, 0, sizeof(*st));
	console[0] = '\0';
	m.end_ns = clock_now_ns() + o->lab.deadline_ns;
	m.out = calloc(1, sizeof(*m.out));
	if (!m.out)
		return err_set(e, -ENOMEM, "no memory for the lab");
	m.out->scratch.lock_fd = -1;
	err = state_lock(&m.state, &kind, o->name, true, LOCK_NS, e);
	if (err)
		goto out;
	err = make_way(&m, e);
	if (!err)
		err = check(&m, e);
	if (!err)
		err = make(&m, e);
	/* On failure nothing stays; the first reason is the one to tell. */
	if (err && err != -EEXIST && !undo(&m.state, NULL))
		state_remove(&m.state, NULL);
	state_unlock(&m.state);
out:
	outfit_release(m.out);
	free(m.out);
	return err ? err : stay_status(o->name, st, e);
}
