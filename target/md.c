#include "target/md.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "target/md_state.h"

#define CALL_NS (120 * NS_PER_SEC)
#define POLL_NS (50 * NS_PER_MSEC)
/* A sync that does not move for so long is hung. */
#define STALL_NS (60 * NS_PER_SEC)

int md_load(struct err *e)
{
	const char *modprobe[] = {"modprobe", "md_mod", NULL};

	if (geteuid())
		return err_set(e, -EPERM,
			       "an array needs root: run this in the lab, "
			       "lunbench lab exec -- lunbench ...");
	if (!child_has_program("mdadm"))
		return err_set(e, -ENOENT,
			       "mdadm is not installed; apt-get install mdadm");
	if (access("/proc/mdstat", F_OK))
		child_check(modprobe, NULL, CALL_NS, NULL, NULL);
	if (!access("/proc/mdstat", F_OK))
		return 0;
	return err_set(e, -ENOTSUP,
		       "this host's kernel has no md: run this in the lab, "
		       "lunbench lab exec -- lunbench ...");
}

static int free_md(char *device, size_t size, struct err *e)
{
	char path[64];

	for (int i = 100; i < 512; i++) {
		snprintf(path, sizeof(path), "/sys/block/md%d", i);
		snprintf(device, size, "/dev/md%d", i);
		if (access(path, F_OK) && access(device, F_OK))
			return 0;
	}
	return err_set(e, -EBUSY, "all md devices from 100 to 511 are in use");
}

/* The array's own name: by it, and not by the device's number, which another
 * may have taken, it is found again. mdadm's manner of writing it. */
static void make_uuid(const struct state *s, char uuid[40])
{
	unsigned long long h = state_hash(s);

	snprintf(uuid, 40, "%08x:%08x:4c756e42:656e6368",
		 (unsigned int)(h >> 32), (unsigned int)h);
}

static bool is_md(const char *device, const char *uuid)
{
	const char *argv[] = {"mdadm", "--detail", "--export", device, NULL};
	char *out = NULL, want[64];
	bool found;

	if (child_check(argv, NULL, CALL_NS, &out, NULL))
		return false;
	snprintf(want, sizeof(want), "MD_UUID=%s", uuid);
	found = strstr(out, want);
	free(out);
	return found;
}

/* --- its first sync --- */

/* Idle alone is not enough: md may not have begun yet. */
static bool is_synced(const char *device)
{
	char action[32], degraded[16], start[32];

	md_attribute(device, "sync_action", action, sizeof(action));
	md_attribute(device, "degraded", degraded, sizeof(degraded));
	md_attribute(device, "resync_start", start, sizeof(start));
	return !action[0] || (!strcmp(action, "idle") &&
			      !strcmp(degraded, "0") && !strcmp(start, "none"));
}

/* It writes all members: nothing is measured before its end. */
static int wait_for_sync(const char *device, const struct md_opts *o,
			 struct err *e)
{
	const struct timespec pause = {0, POLL_NS};
	uint64_t start_ns = clock_now_ns(), moved_ns = start_ns, now, left_ns;
	char progress[64] = "", last[64] = "";
	double done;

	while (!is_synced(device)) {
		md_attribute(device, "sync_completed", progress,
			     sizeof(progress));
		now = clock_now_ns();
		if (strcmp(progress, last))
			moved_ns = now;
		if (now - moved_ns >= STALL_NS)
			return err_set(e, -ETIMEDOUT,
				       "the first sync of \"%s\" has not moved "
				       "for %d s (sectors: %s)",
				       device, (int)(STALL_NS / NS_PER_SEC),
				       progress);
		memcpy(last, progress, sizeof(last));
		done = md_progress(progress);
		left_ns = done > 0.01 ? (now - start_ns) * (1 / done - 1)
				      : UINT64_MAX;
		if (o->on_sync &&
		    !o->on_sync(o->user, done < 0 ? 0 : done, left_ns))
			return err_set(e, -EINTR,
				       "interrupted in the array's first sync");
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* --- making it --- */

struct create {
	const char *argv[DISKS_MAX + 24];
	size_t n;
	char level[24], nr[24], chunk[24], layout[48], uuid[64];
};

static void create_line(struct create *c, const struct md_opts *o,
			const struct disks *d, const char *device,
			const char *uuid, bool clean)
{
	snprintf(c->level, sizeof(c->level), "--level=%s", o->level);
	snprintf(c->nr, sizeof(c->nr), "--raid-devices=%zu", d->nr);
	snprintf(c->uuid, sizeof(c->uuid), "--uuid=%s", uuid);
	c->argv[c->n++] = "mdadm";
	c->argv[c->n++] = "--create";
	c->argv[c->n++] = device;
	c->argv[c->n++] = "--run";
	c->argv[c->n++] = "--quiet";
	c->argv[c->n++] = "--metadata=1.2";
	c->argv[c->n++] = "--homehost=any";
	c->argv[c->n++] = "--name=lunbench";
	c->argv[c->n++] = c->uuid;
	c->argv[c->n++] = c->level;
	c->argv[c->n++] = c->nr;
	if (o->is_redundant) /* its writes would be in what is measured */
		c->argv[c->n++] = "--bitmap=none";
	if (clean)
		c->argv[c->n++] = "--assume-clean";
	if (o->chunk_bytes) {
		snprintf(c->chunk, sizeof(c->chunk), "--chunk=%lluK",
			 (unsigned long long)o->chunk_bytes >> 10);
		c->argv[c->n++] = c->chunk;
	}
	if (o->layout[0]) {
		snprintf(c->layout, sizeof(c->layout), "--layout=%s",
			 o->layout);
		c->argv[c->n++] = c->layout;
	}
	for (size_t i = 0; i < d->nr; i++)
		c->argv[c->n++] = d->disk[i].path;
}

static int set_number(const char *device, const char *name, unsigned int value,
		      struct err *e)
{
	char text[24];

	snprintf(text, sizeof(text), "%u", value);
	return value ? md_set_attribute(device, name, text, e) : 0;
}

static int create(struct disk *md, const struct md_opts *o,
		  const struct disks *d, const struct state *s,
		  struct journal *j, bool clean, struct err *e)
{
	struct create c = {0};
	char uuid[40];
	int err = 0;

	make_uuid(s, uuid);
	for (size_t i = 0; i < d->nr && !err; i++)
		if (d->disk[i].is_given)
			err = journal_write(j, e, "wipe", "%s",
					    d->disk[i].path);
	if (!err)
		err = free_md(md->path, sizeof(md->path), e);
	if (!err)
		err = journal_write(j, e, "md", "%s %s", md->path, uuid);
	if (err)
		return err;
	create_line(&c, o, d, md->path, uuid, clean);
	return child_check(c.argv, NULL, CALL_NS, NULL, e);
}

int md_make(struct disk *md, const struct md_opts *o, const struct disks *d,
	    const struct state *s, struct journal *j, uint64_t *end_ns,
	    struct err *e)
{
	bool clean = o->is_redundant;
	uint64_t start_ns;
	int err;

	for (size_t i = 0; i < d->nr; i++)
		clean = clean && d->disk[i].is_zero;
	err = create(md, o, d, s, j, clean, e);
	/* Before the first sync, which it speeds up, too. */
	if (!err)
		err = set_number(md->path, "sync_speed_min", o->sync_kib, e);
	start_ns = clock_now_ns();
	if (!err && o->is_redundant && !clean)
		err = wait_for_sync(md->path, o, e);
	*end_ns += clock_now_ns() - start_ns;
	if (!err)
		err = set_number(md->path, "stripe_cache_size", o->stripe_cache,
				 e);
	return err ? err : disk_measure(md, e);
}

int md_stop(const char *value, struct err *e)
{
	char device[64], uuid[40];
	const char *stop[] = {"mdadm", "--stop", "--quiet", device, NULL};
	int err;

	if (sscanf(value, "%63s %39s", device, uuid) != 2 ||
	    !is_md(device, uuid))
		return 0;
	err = child_check(stop, NULL, CALL_NS, NULL, e);
	/* The node stays where no udev takes it away. */
	if (!err)
		unlink(device);
	return err;
}
