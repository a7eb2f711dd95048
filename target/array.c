#include "target/array.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "target/md_state.h"

#define CALL_NS (120 * NS_PER_SEC)
#define POLL_NS (50 * NS_PER_MSEC)

struct kind {
	const char *name;
	const char *level; /* mdadm's; NULL: no md */
	size_t least, most;
	bool is_redundant; /* md syncs it first, unless told not to */
	bool takes_any_size;
};

/* A new kind: a line here, one in docs/lunbench.1. */
static const struct kind kinds[] = {
	{"single", NULL, 1, 1, false, false},
	{"jbod", NULL, 1, DISKS_MAX, false, true},
	{"span", "linear", 2, DISKS_MAX, false, true},
	{"raid0", "0", 2, DISKS_MAX, false, false},
	{"raid1", "1", 2, DISKS_MAX, true, false},
	{"raid5", "5", 3, DISKS_MAX, true, false},
	{"raid6", "6", 4, DISKS_MAX, true, false},
	{"raid10", "10", 2, DISKS_MAX, true, false},
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* "raid5+crypt" */
static const struct kind *find_kind(const char *text, bool *crypt)
{
	size_t len = strcspn(text, "+");

	*crypt = !strcmp(text + len, "+crypt");
	if (text[len] && !*crypt)
		return NULL;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (strlen(kinds[i].name) == len &&
		    !strncmp(kinds[i].name, text, len))
			return &kinds[i];
	return NULL;
}

int array_check(const struct array_opts *o, struct err *e)
{
	const struct kind *k;
	char names[128] = "";
	size_t n = 0;
	bool crypt;

	k = find_kind(o->kind, &crypt);
	for (size_t i = 0; i < NR_KINDS; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s",
			      n ? ", " : "", kinds[i].name);
	if (!k)
		return err_set(e, -EINVAL,
			       "\"%s\" is no array; there are: %s, each also "
			       "as KIND+crypt",
			       o->kind, names);
	if (!o->members[0])
		return err_set(
			e, -EINVAL,
			"%s: say of what with --members, as in 4x256M@hdd",
			o->kind);
	if ((o->chunk_bytes || o->layout[0]) && !k->level)
		return err_set(e, -EINVAL, "%s has no chunk and no layout",
			       o->kind);
	if (o->stripe_cache && strcmp(k->name, "raid5") &&
	    strcmp(k->name, "raid6"))
		return err_set(e, -EINVAL, "%s has no stripe cache", o->kind);
	return 0;
}

/* --- md --- */

static int check_sizes(const struct kind *k, const struct disks *d,
		       struct err *e)
{
	for (size_t i = 1; i < d->nr && !k->takes_any_size; i++)
		if (d->disk[i].size_bytes != d->disk[0].size_bytes)
			return err_set(
				e, -EINVAL,
				"members of different size: \"%s\" has "
				"%llu bytes, \"%s\" %llu; only span and "
				"jbod take that",
				d->disk[0].path,
				(unsigned long long)d->disk[0].size_bytes,
				d->disk[i].path,
				(unsigned long long)d->disk[i].size_bytes);
	return 0;
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

struct create {
	const char *argv[DISKS_MAX + 24];
	size_t n;
	char level[24], nr[24], chunk[24], layout[48], uuid[64];
};

static void create_line(struct create *c, const struct kind *k,
			const struct array_opts *o, const struct disks *d,
			const char *device, const char *uuid, bool clean)
{
	snprintf(c->level, sizeof(c->level), "--level=%s", k->level);
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
	if (k->is_redundant) /* its writes would be in what is measured */
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

/* The first sync writes all members: nothing is measured before its end. */
static int wait_for_sync(const char *device, uint64_t end_ns, struct err *e)
{
	const struct timespec pause = {0, POLL_NS};
	char action[32], done[64] = "";

	for (;;) {
		md_attribute(device, "sync_action", action, sizeof(action));
		if (!action[0] || !strcmp(action, "idle"))
			return 0;
		md_attribute(device, "sync_completed", done, sizeof(done));
		if (clock_now_ns() >= end_ns)
			return err_set(e, -ETIMEDOUT,
				       "the first sync of \"%s\" is not done "
				       "(sectors: %s)",
				       device, done);
		nanosleep(&pause, NULL);
	}
}

static int set_stripe_cache(const char *device, unsigned int pages,
			    struct err *e)
{
	char path[128], text[24];
	int fd, err = 0;

	if (!pages)
		return 0;
	snprintf(path, sizeof(path), "/sys/block/%s/md/stripe_cache_size",
		 strrchr(device, '/') + 1);
	snprintf(text, sizeof(text), "%u", pages);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = err_set(e, -errno, "cannot set \"%s\" to %s: %s", path,
			      text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int measure_device(struct disk *d, struct err *e)
{
	int fd = open(d->path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &d->size_bytes))
		err = err_set(e, -errno, "cannot ask \"%s\" for its size: %s",
			      d->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int load_md(struct err *e)
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

static int make_md(struct disk *md, const struct kind *k,
		   const struct array_opts *o, const struct disks *d,
		   const struct state *s, struct journal *j, uint64_t end_ns,
		   struct err *e)
{
	struct create c = {0};
	bool clean = k->is_redundant;
	char uuid[40];
	int err = 0;

	make_uuid(s, uuid);
	for (size_t i = 0; i < d->nr && !err; i++) {
		clean = clean && d->disk[i].is_zero;
		if (d->disk[i].is_given)
			err = journal_write(j, e, "wipe", "%s",
					    d->disk[i].path);
	}
	if (!err)
		err = free_md(md->path, sizeof(md->path), e);
	if (!err)
		err = journal_write(j, e, "md", "%s %s", md->path, uuid);
	if (err)
		return err;
	create_line(&c, k, o, d, md->path, uuid, clean);
	err = child_check(c.argv, NULL, CALL_NS, NULL, e);
	if (!err && k->is_redundant && !clean)
		err = wait_for_sync(md->path, end_ns, e);
	if (!err)
		err = set_stripe_cache(md->path, o->stripe_cache, e);
	return err ? err : measure_device(md, e);
}

static int stop_md(const char *value, struct err *e)
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

/* --- crypt --- */

/* The key protects nothing: it is made for one target and lost with it. */
static int write_key(const char *path, struct err *e)
{
	unsigned char key[32];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return err_set(e, -EIO, "no random bytes for a key");
	return file_write_atomic(path, key, sizeof(key), e);
}

static int make_crypt(struct disk *d, size_t number, const struct state *s,
		      struct journal *j, struct err *e)
{
	char name[64], key[600];
	/* A fixed, small effort for the key: it is random already. Sectors of
	 * 512 bytes, or LUNs of such blocks would not fit. */
	const char *format[] = {"cryptsetup",
				"luksFormat",
				"--batch-mode",
				"--type",
				"luks2",
				"--pbkdf",
				"pbkdf2",
				"--pbkdf-force-iterations",
				"1000",
				"--sector-size",
				"512",
				"--key-file",
				key,
				d->path,
				NULL};
	const char *open_it[] = {"cryptsetup", "open",	     "--type",
				 "luks2",      "--key-file", key,
				 d->path,      name,	     NULL};
	int err;

	if (!child_has_program("cryptsetup"))
		return err_set(e, -ENOENT,
			       "cryptsetup is not installed; apt-get install "
			       "cryptsetup-bin");
	snprintf(name, sizeof(name), "lb%08x-crypt%zu",
		 (unsigned int)(state_hash(s) & 0xffffffff), number);
	state_path(s, "key", key, sizeof(key));
	err = write_key(key, e);
	if (!err && d->is_given)
		err = journal_write(j, e, "wipe", "%s", d->path);
	if (!err)
		err = child_check(format, NULL, CALL_NS, NULL, e);
	if (!err)
		err = journal_write(j, e, "crypt", "%s", name);
	if (!err)
		err = child_check(open_it, NULL, CALL_NS, NULL, e);
	unlink(key);
	if (err)
		return err;
	snprintf(d->path, sizeof(d->path), "/dev/mapper/%s", name);
	return measure_device(d, e);
}

static int close_crypt(const char *name, struct err *e)
{
	const char *close_it[] = {"cryptsetup", "close", name, NULL};
	char path[128];

	snprintf(path, sizeof(path), "/dev/mapper/%s", name);
	if (access(path, F_OK))
		return 0;
	return child_check(close_it, NULL, CALL_NS, NULL, e);
}

/* --- all of it --- */

int array_prepare(struct array *a, const struct array_opts *o, bool overwrite,
		  const struct state *s, struct journal *j, uint64_t end_ns,
		  struct err *e)
{
	const struct kind *k;
	struct disks d;
	bool crypt;
	int err = array_check(o, e);

	memset(a, 0, sizeof(*a));
	if (err)
		return err;
	k = find_kind(o->kind, &crypt);
	if (k->level)
		err = load_md(e);
	if (!err)
		err = disks_prepare(&d, o->members, k->least, k->most,
				    overwrite, s, j, end_ns, e);
	if (!err)
		err = check_sizes(k, &d, e);
	if (err)
		return err;
	if (k->level) {
		a->nr_luns = 1;
		err = make_md(&a->lun[0], k, o, &d, s, j, end_ns, e);
	} else {
		a->nr_luns = d.nr;
		memcpy(a->lun, d.disk, sizeof(a->lun));
	}
	for (size_t i = 0; i < a->nr_luns && crypt && !err; i++)
		err = make_crypt(&a->lun[i], i, s, j, e);
	return err;
}

/* What we wrote on devices that are not ours. */
static int wipe(const char *device, struct err *e)
{
	const char *argv[] = {"wipefs", "--all", "--quiet", device, NULL};

	return access(device, F_OK) ? 0
				    : child_check(argv, NULL, CALL_NS, NULL, e);
}

int array_remove(const struct journal_text *t, struct err *e)
{
	const char *value;
	int err = 0;

	for (size_t n = 0; !err && (value = journal_get_nth(t, "crypt", n));
	     n++)
		err = close_crypt(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "md", n)); n++)
		err = stop_md(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "wipe", n)); n++)
		err = wipe(value, e);
	return err ? err : disks_remove(t, e);
}
