#include "vm/stay_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "vm/scratch.h"

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

const struct state_kind stay_kind = {"lab", "/.lab", is_ours};

const char *stay_get(const struct journal_text *t, const char *key)
{
	const char *value = journal_get(t, key);

	return value ? value : "";
}

void stay_get_net(struct net *n, const struct journal_text *t)
{
	unsigned int port = 0;

	memset(n, 0, sizeof(*n));
	net_parse_kind(&n->kind, stay_get(t, "net"), NULL);
	/* "PORT CONNECT GUEST PEER BITS MTU DEVICE" */
	sscanf(stay_get(t, "address"), "%u %15s %15s %15s %u %u %15s", &port,
	       n->connect, n->guest, n->peer, &n->bits, &n->mtu, n->device);
	n->port = port;
}

int stay_write_net(struct journal *j, const struct net *n, struct err *e)
{
	return journal_write(j, e, "address", "%u %s %s %s %u %u %s", n->port,
			     n->connect, n->guest, n->peer, n->bits, n->mtu,
			     n->device);
}

bool stay_recall_qemu(const struct journal_text *t, pid_t *pid,
		      unsigned long long *start_time)
{
	int number;

	*pid = 0;
	if (sscanf(stay_get(t, "qemu"), "%d %llu", &number, start_time) != 2)
		return false;
	*pid = number;
	return child_is_alive(number, *start_time);
}

int stay_read_journal(const struct state *s, struct journal_text *t,
		      struct err *e)
{
	char path[600];

	state_path(s, "journal", path, sizeof(path));
	return journal_read(t, path, e);
}

int stay_undo(struct state *s, struct err *e)
{
	struct journal_text t = {0};
	unsigned long long start_time;
	struct net net;
	pid_t pid;
	int err = stay_read_journal(s, &t, e);

	if (err && err != -ENOENT)
		return err;
	err = 0;
	if (stay_recall_qemu(&t, &pid, &start_time))
		err = child_kill(pid, start_time, KILL_NS, e);
	stay_get_net(&net, &t);
	net_take_down_host(&net);
	journal_text_release(&t);
	if (!err)
		err = state_clear(s, e);
	scratch_sweep();
	return err;
}
