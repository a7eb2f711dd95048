#include "target/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "target/given.h"
#include "target/room.h"

#define CALL_NS (60 * NS_PER_SEC)
#define CONFIGFS "/sys/kernel/config"
#define NULLB CONFIGFS "/nullb"

static const struct disk_model models[] = {
	{"hdd", "7200 rpm SATA: one request at a time, 8 ms each, 150 MB/s",
	 8000000, 150, 1},
	{"ssd", "SATA flash: 32 requests at a time, 80 us each, 500 MB/s",
	 80000, 500, 32},
	{"ram", "as fast as memory", 0, 0, 128},
	{0},
};

const struct disk_model *disk_models(void)
{
	return models;
}

/* --- what is asked --- */

struct spec {
	unsigned int count;
	uint64_t size_bytes;
	const struct disk_model *model; /* NULL: images on loop */
};

static const struct disk_model *find_model(const char *name)
{
	for (const struct disk_model *m = models; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static int unknown_model(const char *name, struct err *e)
{
	char names[128] = "";
	size_t n = 0;

	for (const struct disk_model *m = models; m->name; m++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s",
			      n ? ", " : "", m->name);
	return err_set(e, -EINVAL, "\"%s\" is no disk model; there are: %s",
		       name, names);
}

static int bad_spec(const char *text, struct err *e)
{
	return err_set(e, -EINVAL,
		       "members \"%s\": write /dev/sdb,/dev/sdc or 4x1G or "
		       "4x256M@hdd",
		       text);
}

static int check_count(const char *text, uint64_t count, struct err *e)
{
	if (count >= 1 && count <= DISKS_MAX)
		return 0;
	return err_set(e, -EINVAL,
		       "members \"%s\": %llu of them, and 1 to %d "
		       "are possible",
		       text, (unsigned long long)count, DISKS_MAX);
}

/* "4x256M@hdd" */
static int parse_spec(struct spec *sp, const char *text, struct err *e)
{
	char copy[128], *size, *model;
	struct size_value v = {0};
	uint64_t count = 0;
	int err;

	snprintf(copy, sizeof(copy), "%s", text);
	size = strchr(copy, 'x');
	if (!size)
		return bad_spec(text, e);
	*size++ = '\0';
	model = strchr(size, '@');
	if (model)
		*model++ = '\0';
	if (units_parse_uint(copy, 0, UINT32_MAX, &count, NULL))
		return bad_spec(text, e);
	err = check_count(text, count, e);
	if (err)
		return err;
	if (units_parse_size(size, 1024, &v, e))
		return err_prefix(e, "members \"%s\"", text);
	if (v.is_percent || v.bytes < 16 << 20 || v.bytes % (1 << 20))
		return err_set(e, -EINVAL,
			       "members \"%s\": a size in whole MiB, 16M or "
			       "more",
			       text);
	if (v.bytes > UINT64_MAX / DISKS_MAX)
		return err_set(e, -EINVAL,
			       "members \"%s\": no disk is so large", text);
	sp->count = count;
	sp->size_bytes = v.bytes;
	sp->model = model ? find_model(model) : NULL;
	return model && !sp->model ? unknown_model(model, e) : 0;
}

uint64_t disks_bytes(const char *spec)
{
	struct spec sp;

	if (spec[0] == '/' || parse_spec(&sp, spec, NULL))
		return 0;
	return sp.count * sp.size_bytes;
}

static bool are_given(const char *spec)
{
	return spec[0] == '/' || spec[0] == '.';
}

static int count_given(const char *spec, size_t *nr, struct err *e)
{
	const char *name = spec;
	size_t len;

	for (*nr = 0;; name += len + 1) {
		len = strcspn(name, ",");
		if (!len)
			return err_set(e, -EINVAL,
				       "members \"%s\": a name is missing "
				       "before or behind a comma",
				       spec);
		(*nr)++;
		if (!name[len])
			return check_count(spec, *nr, e);
	}
}

int disks_parse(const char *spec, size_t *nr, uint64_t *size_bytes,
		struct err *e)
{
	struct spec sp = {0};
	int err;

	*size_bytes = UINT64_MAX;
	if (are_given(spec))
		return count_given(spec, nr, e);
	err = parse_spec(&sp, spec, e);
	*nr = sp.count;
	*size_bytes = sp.size_bytes;
	return err;
}

int disk_measure(struct disk *d, struct err *e)
{
	int fd = open(d->path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &d->size_bytes))
		err = err_set(e, -errno, "cannot ask \"%s\" for its size: %s",
			      d->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* --- RAM disks --- */

static int write_attribute(const char *folder, const char *name,
			   const char *value, struct err *e)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err = err_set(e, -errno, "cannot set \"%s\" to %s: %s", path,
			      value, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int write_number(const char *folder, const char *name,
			unsigned long long value, struct err *e)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	return write_attribute(folder, name, text, e);
}

static int load_null_blk(struct err *e)
{
	const char *modprobe[] = {"modprobe", "null_blk", "nr_devices=0", NULL};
	struct err why = {0};

	if (!access(NULLB, F_OK))
		return 0;
	if (geteuid())
		return err_set(e, -EPERM,
			       "RAM disks need root: run this in the lab, "
			       "lunbench lab exec -- lunbench ...");
	if (!child_check(modprobe, NULL, CALL_NS, NULL, &why) &&
	    access(NULLB, F_OK))
		mount("configfs", CONFIGFS, "configfs", 0, NULL);
	if (!access(NULLB, F_OK))
		return 0;
	return err_set(e, -ENOTSUP,
		       "this host's kernel has no RAM disks (null_blk): run "
		       "this in the lab, lunbench lab exec -- lunbench ...");
}

/* null_blk's names for a model. irqmode 2 answers from a timer, 0 at once.
 * A request longer than max_sectors would be cut, and pay for each part. */
static int set_up(const char *folder, const struct disk_model *m,
		  uint64_t size_bytes, struct err *e)
{
	const struct {
		const char *name;
		unsigned long long value;
	} set[] = {
		{"size", size_bytes >> 20},
		{"memory_backed", 1},
		{"blocksize", 512},
		{"max_sectors", 2560},
		{"submit_queues", 1},
		{"hw_queue_depth", m->requests},
		{"mbps", m->rate_mb},
		{"irqmode", m->service_ns ? 2 : 0},
		{"completion_nsec", m->service_ns},
		{"power", 1},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]) && !err; i++)
		err = write_number(folder, set[i].name, set[i].value, e);
	return err;
}

/* The queue in front of a disk stands for the disk's own (NCQ). Without one, a
 * disk that serves one request at a time blocks whoever hands it the second,
 * while the others idle. Two of the kernel's limits, made for what it takes for
 * a disk that can queue nothing, would do the same to writes alone:
 * writeback throttling lets two wait (raid5d then hands out 4 KiB at a time,
 * and nothing is merged: 4 to 70 instead of 196 writes of 256 KiB a second),
 * and mq-deadline's async_depth is not raised with nr_requests (block/blk-mq.c
 * asks the scheduler before it stores the new number). */
static int set_queue(const char *name, struct err *e)
{
	static const struct {
		const char *name, *value;
		bool is_optional; /* a kernel may be built without it */
	} set[] = {
		{"scheduler", "mq-deadline", false},
		{"nr_requests", "256", false},
		{"iosched/async_depth", "256", true},
		{"wbt_lat_usec", "0", true},
	};
	char folder[256], path[512];
	int err = 0;

	snprintf(folder, sizeof(folder), "/sys/block/%s/queue", name);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]) && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, set[i].name);
		if (!set[i].is_optional || !access(path, F_OK))
			err = write_attribute(folder, set[i].name, set[i].value,
					      e);
	}
	return err;
}

static int make_ram(struct disk *d, const struct spec *sp, const char *name,
		    struct journal *j, struct err *e)
{
	char folder[256];
	int err = journal_write(j, e, "null-blk", "%s", name);

	if (err)
		return err;
	snprintf(folder, sizeof(folder), NULLB "/%s", name);
	if (mkdir(folder, 0755))
		return err_set(e, -errno, "cannot make the RAM disk \"%s\": %s",
			       name, strerror(errno));
	err = set_up(folder, sp->model, sp->size_bytes, e);
	if (!err && sp->model->service_ns)
		err = set_queue(name, e);
	snprintf(d->path, sizeof(d->path), "/dev/%s", name);
	return err;
}

static int remove_ram(const char *name, struct err *e)
{
	char folder[256];

	snprintf(folder, sizeof(folder), NULLB "/%s", name);
	if (access(folder, F_OK))
		return 0;
	write_attribute(folder, "power", "0", NULL);
	if (!rmdir(folder))
		return 0;
	return err_set(e, -errno, "cannot remove the RAM disk \"%s\": %s", name,
		       strerror(errno));
}

/* --- images --- */

static void load_loop(void)
{
	const char *modprobe[] = {"modprobe", "loop", NULL};

	/* If it fails, losetup says why. */
	if (access("/dev/loop-control", F_OK))
		child_check(modprobe, NULL, CALL_NS, NULL, NULL);
}

static int make_loop(struct disk *d, const struct spec *sp, const char *image,
		     struct journal *j, struct err *e)
{
	const char *losetup[] = {"losetup",	   "--find", "--show",
				 "--direct-io=on", image,    NULL};
	char *device = NULL;
	int fd, err;

	load_loop();
	err = journal_write(j, e, "image", "%s", image);
	if (err)
		return err;
	/* Left of a target whose state is lost (a reboot empties /run). */
	if (file_is_mine(image))
		unlink(image);
	fd = open(image, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	/* At its full size: no hole is filled while it is measured. */
	if (fd < 0 || (errno = posix_fallocate(fd, 0, sp->size_bytes)))
		err = err_set(e, -errno, "cannot make \"%s\": %s", image,
			      strerror(errno));
	if (fd >= 0)
		close(fd);
	if (!err)
		err = journal_write(j, e, "loop", "%s", image);
	if (!err)
		err = child_check(losetup, NULL, CALL_NS, &device, e);
	/* A tmpfs may not do direct I/O. */
	if (err == -EIO) {
		losetup[3] = "--direct-io=off";
		err = child_check(losetup, NULL, CALL_NS, &device, e);
	}
	if (err == -EIO)
		err_prefix(e, "no loop device here (run this in the lab: "
			      "lunbench lab exec -- lunbench ...)");
	if (!err)
		snprintf(d->path, sizeof(d->path), "%.*s",
			 (int)strcspn(device, "\n"), device);
	free(device);
	return err;
}

static int remove_loop(const char *image, struct err *e)
{
	const char *list[] = {"losetup", "-n", "-O", "NAME", "-j", image, NULL};
	const char *detach[] = {"losetup", "-d", NULL, NULL};
	char *out = NULL;
	int err = child_check(list, NULL, CALL_NS, &out, e);

	if (err)
		return err;
	out[strcspn(out, " \n")] = '\0';
	detach[2] = out;
	if (*out)
		err = child_check(detach, NULL, CALL_NS, NULL, e);
	free(out);
	return err;
}

/* --- room --- */

static int check_memory(const char *text, uint64_t need, struct err *e)
{
	uint64_t memory = room_memory();
	char a[32], b[32];

	if (need <= memory)
		return 0;
	return err_set(e, -ENOMEM,
		       "members \"%s\": RAM disks of %s in all, and %s of "
		       "memory are free: make them smaller, or give the lab "
		       "more with --memory",
		       text, units_bytes(a, sizeof(a), need),
		       units_bytes(b, sizeof(b), memory));
}

/* Where the images go: the state folder is often a small tmpfs. */
static int find_folder(const char *text, uint64_t need, const struct state *s,
		       const char **folder, struct err *e)
{
	static const char big[] = "/var/tmp";
	uint64_t room = 0, other = 0;
	char a[32], b[32], c[32];
	int err = room_folder(s->folder, &room, e);

	if (err)
		return err;
	*folder = s->folder;
	if (room >= need)
		return 0;
	*folder = big;
	if (!room_folder(big, &other, NULL) && other >= need)
		return 0;
	return err_set(e, -ENOSPC,
		       "members \"%s\": images of %s in all, and \"%s\" has "
		       "room for %s, \"%s\" for %s",
		       text, units_bytes(a, sizeof(a), need), s->folder,
		       units_bytes(b, sizeof(b), room), big,
		       units_bytes(c, sizeof(c), other));
}

/* --- all of them --- */

/* The name of an image is of this state folder alone. */
static void image_name(const struct state *s, const char *folder, size_t i,
		       char *path, size_t size)
{
	if (folder == s->folder)
		snprintf(path, size, "%s/member%zu", folder, i);
	else
		snprintf(path, size, "%s/lunbench-%u-%s-%016llx-member%zu.img",
			 folder, (unsigned int)geteuid(), s->name,
			 (unsigned long long)state_hash(s), i);
}

static int make_images(struct disks *d, const struct spec *sp, const char *spec,
		       size_t nr, const struct state *s, struct journal *j,
		       struct err *e)
{
	const char *folder = NULL;
	char name[600];
	int err = find_folder(spec, nr * sp->size_bytes, s, &folder, e);

	for (size_t i = 0; i < nr && !err; i++) {
		image_name(s, folder, i, name, sizeof(name));
		err = make_loop(&d->disk[d->nr++], sp, name, j, e);
	}
	return err;
}

static int make_rams(struct disks *d, const struct spec *sp, const char *spec,
		     size_t nr, const struct state *s, struct journal *j,
		     struct err *e)
{
	char name[64];
	int err = check_memory(spec, nr * sp->size_bytes, e);

	if (!err)
		err = load_null_blk(e);
	for (size_t i = 0; i < nr && !err; i++) {
		snprintf(name, sizeof(name), "lb%08x-%zu",
			 (unsigned int)(state_hash(s) & 0xffffffff), i);
		err = make_ram(&d->disk[d->nr++], sp, name, j, e);
	}
	return err;
}

static int make_all(struct disks *d, const char *spec, size_t most,
		    const struct state *s, struct journal *j, struct err *e)
{
	struct spec sp = {0};
	int err = parse_spec(&sp, spec, e);
	size_t nr = sp.count < most ? sp.count : most;

	if (err)
		return err;
	err = sp.model ? make_rams(d, &sp, spec, nr, s, j, e)
		       : make_images(d, &sp, spec, nr, s, j, e);
	for (size_t i = 0; i < d->nr; i++) {
		d->disk[i].size_bytes = sp.size_bytes;
		d->disk[i].is_zero = true;
	}
	return err;
}

static int take_given(struct disks *d, const char *spec, size_t most,
		      bool overwrite, struct err *e)
{
	char copy[1024], *rest = copy, *name;
	struct disk *disk;
	struct stat st;
	int err = 0;

	snprintf(copy, sizeof(copy), "%s", spec);
	while (!err && d->nr < most && (name = strsep(&rest, ","))) {
		disk = &d->disk[d->nr++];
		disk->is_given = true;
		err = given_check(name, 512, overwrite, disk->path,
				  sizeof(disk->path), &disk->size_bytes, e);
		if (!err && (stat(disk->path, &st) || !S_ISBLK(st.st_mode)))
			err = err_set(e, -EINVAL, "\"%s\" is no block device",
				      name);
		for (size_t i = 0; !err && i + 1 < d->nr; i++)
			if (!strcmp(d->disk[i].path, disk->path))
				err = err_set(e, -EINVAL,
					      "\"%s\" is named twice", name);
	}
	return err;
}

int disks_prepare(struct disks *d, const char *spec, size_t most,
		  bool overwrite, const struct state *s, struct journal *j,
		  uint64_t end_ns, struct err *e)
{
	int err;

	memset(d, 0, sizeof(*d));
	err = are_given(spec) ? take_given(d, spec, most, overwrite, e)
			      : make_all(d, spec, most, s, j, e);
	for (size_t i = 0; i < d->nr && !err; i++)
		err = journal_write(j, e, "member", "%s", d->disk[i].path);
	if (!err && clock_now_ns() >= end_ns)
		err = err_set(e, -ETIMEDOUT,
			      "making the members took too long");
	return err;
}

int disks_remove(const struct journal_text *t, struct err *e)
{
	const char *value;
	int err = 0;

	for (size_t n = 0; !err && (value = journal_get_nth(t, "loop", n)); n++)
		err = remove_loop(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "null-blk", n));
	     n++)
		err = remove_ram(value, e);
	return err;
}
