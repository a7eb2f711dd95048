#include "target/tgtd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"

enum { MAX_STARTS = 8 };

/* For the polite part of a stop, and for the kernel to take a killed one away
 * (it may have to write out what it had mapped). */
#define POLITE_NS (3 * NS_PER_SEC)
#define KILL_NS (10 * NS_PER_SEC)

int tgtd_control_port(const struct state *s)
{
	return (int)(state_hash(s) % 32767) + 1;
}

/* --- starting --- */

struct birth {
	struct tgtd *d;
	struct journal *j;
};

static int write_down(void *user, pid_t pid, uint64_t start_time, struct err *e)
{
	struct birth *b = user;

	b->d->pid = pid;
	b->d->start_time = start_time;
	return journal_write(b->j, e, "tgtd", "%d %llu", (int)pid,
			     (unsigned long long)start_time);
}

/*
 * tgtd has memory from malloc for the data of each command and frees it with
 * the command; the C library gives what is large back to the kernel. Then each
 * command's pages are faulted in and zeroed anew, which took more than half of
 * tgtd's time with writes of 256 KiB and above (docs/TUNING.md). A threshold of
 * 32 MiB is the largest that glibc takes; what is kept is 128 commands of 1
 * MiB.
 */
#define KEEP_LARGE "MALLOC_MMAP_THRESHOLD_=33554432"
#define KEEP_FREED "MALLOC_TRIM_THRESHOLD_=134217728"

static int spawn(struct tgtd *d, const struct listen_address *a,
		 const struct tgtd_settings *set, struct journal *j,
		 struct err *e)
{
	char control[16], portal[96], where[80], socket[600], threads[16];
	const char *argv[] = {"tgtd", "-f", "-C", control, "--iscsi",
			      portal, NULL, NULL, NULL};
	const char *env[] = {socket, NULL, NULL, NULL};
	struct birth birth = {d, j};
	pid_t pid;

	snprintf(control, sizeof(control), "%d", d->adm.control_port);
	listen_format(a, d->port, where, sizeof(where));
	snprintf(portal, sizeof(portal), "portal=%s", where);
	tgtadm_socket_variable(&d->adm, socket, sizeof(socket));
	if (set->keeps_memory) {
		env[1] = KEEP_LARGE;
		env[2] = KEEP_FREED;
	}
	snprintf(threads, sizeof(threads), "%u", set->io_threads);
	if (set->io_threads) {
		argv[6] = "-t";
		argv[7] = threads;
	}
	return child_start(argv, env, d->adm.log_path, false, write_down,
			   &birth, &pid, e);
}

/* By the kernel's word first, then by tgtd's. */
static int prove(const struct tgtd *d, const struct listen_address *a,
		 struct err *e)
{
	char want[96], where[80], *said;
	int err = listen_prove(d->pid, a, d->port, e);

	if (err)
		return err;
	err = tgtadm_ask(&d->adm,
			 TGTADM_ARGS("--mode", "portal", "--op", "show"), &said,
			 e);
	if (err)
		return err;
	listen_format(a, d->port, where, sizeof(where));
	snprintf(want, sizeof(want), "Portal: %s,1\n", where);
	if (strcmp(said, want))
		err = err_set(e, -EADDRINUSE,
			      "tgtd should serve %s alone but says \"%.*s\"",
			      where, (int)strcspn(said, "\n"), said);
	free(said);
	return err;
}

static int start_once(struct tgtd *d, const struct listen_address *a,
		      const struct tgtd_settings *set, struct journal *j,
		      struct err *e)
{
	int err = listen_pick_port(a, &d->port, e);

	if (!err)
		err = journal_write(j, e, "port", "%u", d->port);
	if (!err)
		err = spawn(d, a, set, j, e);
	if (err)
		return err;
	err = tgtadm_wait(&d->adm, d->pid, d->start_time, e);
	if (!err)
		err = prove(d, a, e);
	if (err) /* at once: it may be open to every interface */
		tgtd_stop(d, false, NULL);
	return err;
}

int tgtd_start(struct tgtd *d, const struct state *s,
	       const struct listen_address *a, const struct tgtd_settings *set,
	       struct journal *j, uint64_t end_ns, struct err *e)
{
	int err;

	memset(d, 0, sizeof(*d));
	err = tgtadm_init(&d->adm, s->folder, tgtd_control_port(s), end_ns, e);
	if (!err)
		err = journal_write(j, e, "control", "%d", d->adm.control_port);
	for (int n = 0; !err && n < MAX_STARTS; n++) {
		d->port = set->port;
		err = start_once(d, a, set, j, e);
		if (!err)
			return 0;
		if (err == -EADDRINUSE && !set->port)
			err = 0; /* lost the race for a free one */
	}
	return err ? err : -EADDRINUSE;
}

/* --- an earlier one --- */

bool tgtd_recall(struct tgtd *d, const struct state *s,
		 const struct journal_text *t, uint64_t end_ns)
{
	const char *process = journal_get(t, "tgtd");
	const char *control = journal_get(t, "control");
	const char *port = journal_get(t, "port");
	unsigned long long start;
	int pid;

	memset(d, 0, sizeof(*d));
	if (!process || !control || !port ||
	    sscanf(process, "%d %llu", &pid, &start) != 2 || pid <= 1)
		return false;
	d->pid = pid;
	d->start_time = start;
	d->port = atoi(port);
	return !tgtadm_init(&d->adm, s->folder, atoi(control), end_ns, NULL);
}

bool tgtd_is_alive(const struct tgtd *d)
{
	return child_is_alive(d->pid, d->start_time);
}

/* --- stopping --- */

static void ask_to_end(struct tgtd *d)
{
	uint64_t now = clock_now_ns();
	struct err why = {0};

	if (d->adm.end_ns > now + POLITE_NS)
		d->adm.end_ns = now + POLITE_NS;
	/* A command in flight keeps a target active for its time. */
	while (tgtadm_call(&d->adm,
			   TGTADM_ARGS("--lld", "iscsi", "--mode", "target",
				       "--op", "delete", "--force", "--tid",
				       "1"),
			   &why) == -EBUSY &&
	       clock_now_ns() < d->adm.end_ns)
		if (child_wait(d->pid, d->start_time, 20 * NS_PER_MSEC))
			return;
	if (!tgtadm_call(&d->adm,
			 TGTADM_ARGS("--mode", "system", "--op", "delete"),
			 &why))
		child_wait(d->pid, d->start_time, POLITE_NS);
}

int tgtd_stop(struct tgtd *d, bool politely, struct err *e)
{
	if (politely && tgtd_is_alive(d))
		ask_to_end(d);
	return child_kill(d->pid, d->start_time, KILL_NS, e);
}
