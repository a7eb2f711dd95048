#include "target/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "target/given.h"
#include "target/loop_disk.h"
#include "target/ram_disk.h"
#include "target/room.h"

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
		err = loop_disk_make(&d->disk[d->nr++], sp->size_bytes, name, j,
				     e);
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
		err = ram_disk_load(e);
	for (size_t i = 0; i < nr && !err; i++) {
		snprintf(name, sizeof(name), "lb%08x-%zu",
			 (unsigned int)(state_hash(s) & 0xffffffff), i);
		err = ram_disk_make(&d->disk[d->nr++], sp->model,
				    sp->size_bytes, name, j, e);
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
		err = loop_disk_remove(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "null-blk", n));
	     n++)
		err = ram_disk_remove(value, e);
	return err;
}
