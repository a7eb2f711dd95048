#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "vm/outfit.h"
#include "vm/stay.h"
#include "vm/stay_state.h"

#define LOCK_NS (20 * NS_PER_SEC)
#define CONFIGURE_NS (30 * NS_PER_SEC)

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
	int err = stay_read_journal(&m->state, &t, e);

	if (err)
		return err == -ENOENT ? state_clear(&m->state, e) : err;
	if (stay_recall_qemu(&t, &pid, &start_time) && journal_get(&t, "up"))
		err = err_set(e, -EEXIST,
			      "lab \"%s\" is up already at %s: take it down "
			      "with: lunbench lab down --name %s",
			      m->state.name, stay_get(&t, "up"), m->state.name);
	journal_text_release(&t);
	if (err)
		return err;
	snprintf(text, sizeof(text),
		 "cleaned up what a \"%s\" that died had "
		 "left",
		 m->state.name);
	note(m->o, text);
	return stay_undo(&m->state, e);
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
	struct shell_answer a = {0};
	int err = 0;

	if (m->net.kind == NET_TAP)
		err = net_find_tap(&m->net, m->pid, e);
	if (!err)
		err = stay_write_net(&m->journal, &m->net, e);
	if (!err && m->net.kind == NET_TAP)
		err = net_set_up_host(&m->net, e);
	snprintf(address, sizeof(address), "%s/%u", m->net.guest, m->net.bits);
	snprintf(mtu, sizeof(mtu), "%u", m->net.mtu);
	if (!err)
		err = shell_ask(m->state.folder, &o, &a, e);
	free(a.text);
	return err;
}

static int run_command(struct making *m, struct err *e)
{
	struct shell_opts o = {.env = m->o->secrets, .stop = m->o->lab.stop};
	struct shell_answer a = {0};
	char what[512] = "";
	int err;

	o.command = m->o->command ? m->o->command(m->o->user, &m->net) : NULL;
	if (!o.command)
		return journal_write(&m->journal, e, "up", "%s",
				     m->net.connect);
	err = time_left(m, &o.deadline_ns, e);
	if (!err)
		err = shell_ask(m->state.folder, &o, &a, e);
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
	err = state_lock(&m.state, &stay_kind, o->name, true, LOCK_NS, e);
	if (err)
		goto out;
	err = make_way(&m, e);
	if (!err)
		err = check(&m, e);
	if (!err)
		err = make(&m, e);
	/* On failure nothing stays; the first reason is the one to tell. */
	if (err && err != -EEXIST && !stay_undo(&m.state, NULL))
		state_remove(&m.state, NULL);
	state_unlock(&m.state);
out:
	outfit_release(m.out);
	free(m.out);
	return err ? err : stay_status(o->name, st, e);
}
