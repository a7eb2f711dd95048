#include "target/given.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signature.h"

enum { PROC_MAX_BYTES = 16 << 20 };

/* tgtadm packs its parameters into "key=value,key=value": a path with a comma
 * would name another file. */
static int check_path(const char *path, size_t size, struct err *e)
{
	if (strlen(path) >= size)
		return err_set(e, -ENAMETOOLONG,
			       "\"%.80s...\": a path of more than %zu bytes",
			       path, size - 1);
	if (!strpbrk(path, ",\n"))
		return 0;
	return err_set(e, -EINVAL,
		       "\"%s\": tgtadm cannot take a path with a comma or a "
		       "line break in it",
		       path);
}

/* Where a device is mounted: field 3 of mountinfo is its number, field 5 the
 * place. */
static bool find_mount(dev_t dev, char *place, size_t size)
{
	char *text, *line, want[32], number[32], where[PATH_MAX];
	bool found = false;
	size_t len;

	if (file_read("/proc/self/mountinfo", PROC_MAX_BYTES, &text, &len,
		      NULL))
		return false;
	snprintf(want, sizeof(want), "%u:%u", major(dev), minor(dev));
	for (line = text; line && !found;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		found = sscanf(line, "%*d %*d %31s %*s %4095s", number,
			       where) == 2 &&
			!strcmp(number, want);
		if (found)
			snprintf(place, size, "%s", where);
	}
	free(text);
	return found;
}

/* What a device that is in use is, as far as the kernel says: "swap", or "a
 * part of md5". */
static bool find_holder(dev_t dev, const char *name, char *who, size_t size)
{
	char pattern[96], real[PATH_MAX], line[PATH_MAX + 2], *text;
	const char *holder;
	bool found = false;
	size_t len;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "/sys/dev/block/%u:%u/holders/*",
		 major(dev), minor(dev));
	if (!glob(pattern, 0, NULL, &g)) {
		holder = strrchr(g.gl_pathv[0], '/') + 1;
		snprintf(who, size, "a part of %s", holder);
		globfree(&g);
		return true;
	}
	if (!realpath(name, real) ||
	    file_read("/proc/swaps", PROC_MAX_BYTES, &text, &len, NULL))
		return false;
	snprintf(line, sizeof(line), "\n%s ", real);
	found = strstr(text, line);
	free(text);
	if (found)
		snprintf(who, size, "swap");
	return found;
}

/* The loop device that a file is behind; what is on it may be mounted. */
static bool find_loop(const struct stat *file, char *device, size_t size)
{
	bool found = false;
	const char *name;
	struct stat st;
	char *text;
	size_t len;
	glob_t g;

	if (glob("/sys/block/loop*/loop/backing_file", 0, NULL, &g))
		return false;
	for (size_t i = 0; i < g.gl_pathc && !found; i++) {
		if (file_read(g.gl_pathv[i], PATH_MAX, &text, &len, NULL))
			continue;
		text[strcspn(text, "\n")] = '\0';
		found = !stat(text, &st) && st.st_dev == file->st_dev &&
			st.st_ino == file->st_ino;
		name = g.gl_pathv[i] + strlen("/sys/block/");
		if (found)
			snprintf(device, size, "/dev/%.*s",
				 (int)strcspn(name, "/"), name);
		free(text);
	}
	globfree(&g);
	return found;
}

static int check_device(int fd, const char *name, const struct stat *st,
			uint32_t block_bytes, uint64_t *size, struct err *e)
{
	char place[512];
	int sector = 0;

	if (find_mount(st->st_rdev, place, sizeof(place)))
		return err_set(e, -EBUSY, "\"%s\" is mounted on \"%s\"", name,
			       place);
	if (ioctl(fd, BLKGETSIZE64, size) || ioctl(fd, BLKSSZGET, &sector))
		return err_set(e, -errno, "cannot ask \"%s\" for its size: %s",
			       name, strerror(errno));
	if ((uint32_t)sector > block_bytes)
		return err_set(
			e, -EINVAL,
			"\"%s\" has sectors of %d bytes: give --block %d", name,
			sector, sector);
	return 0;
}

static int check_file(const char *name, const struct stat *st, uint64_t *size,
		      struct err *e)
{
	char device[64];

	if (find_loop(st, device, sizeof(device)))
		return err_set(e, -EBUSY, "\"%s\" is in use behind %s", name,
			       device);
	*size = st->st_size;
	return 0;
}

/* O_EXCL on a block device fails while anyone has it: mounted (also through
 * a partition of it), swap, md, LVM, another exclusive open. */
static int open_given(const char *name, struct stat *st, struct err *e)
{
	int fd, why, flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char place[512];

	if (stat(name, st))
		return err_set(e, -errno, "cannot look at \"%s\": %s", name,
			       strerror(errno));
	if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
		return err_set(e, -EINVAL,
			       "\"%s\" is neither a file nor a block device",
			       name);
	if (S_ISBLK(st->st_mode))
		flags |= O_EXCL;
	fd = open(name, flags);
	if (fd >= 0)
		return fd;
	why = errno; /* not what a look at the mounts leaves there */
	if (why == EBUSY && find_mount(st->st_rdev, place, sizeof(place)))
		return err_set(e, -EBUSY, "\"%s\" is mounted on \"%s\"", name,
			       place);
	if (why == EBUSY &&
	    find_holder(st->st_rdev, name, place, sizeof(place)))
		return err_set(e, -EBUSY, "\"%s\" is in use: it is %s", name,
			       place);
	if (why == EBUSY)
		return err_set(e, -EBUSY,
			       "\"%s\" is in use (a partition of it is "
			       "mounted, or it is open elsewhere)",
			       name);
	return err_set(e, -why, "cannot open \"%s\" for writing: %s", name,
		       strerror(why));
}

static int check_signature(int fd, const char *name, uint64_t size,
			   uint32_t block_bytes, struct err *e)
{
	char found[200];
	int err =
		signature_find(fd, size, block_bytes, found, sizeof(found), e);

	if (err)
		return err_prefix(e, "\"%s\"", name);
	if (!found[0])
		return 0;
	return err_set(e, -ENOTEMPTY,
		       "\"%s\" holds data (%s): give --overwrite to lose it",
		       name, found);
}

int given_check(const char *name, uint32_t block_bytes, bool overwrite,
		char *path, size_t path_size, uint64_t *size_bytes,
		struct err *e)
{
	char real[PATH_MAX];
	struct stat st;
	int fd = open_given(name, &st, e), err;

	if (fd < 0)
		return fd;
	if (S_ISBLK(st.st_mode))
		err = check_device(fd, name, &st, block_bytes, size_bytes, e);
	else
		err = check_file(name, &st, size_bytes, e);
	if (!err && *size_bytes < block_bytes)
		err = err_set(e, -EINVAL,
			      "\"%s\" has %llu bytes, less than a block of %u",
			      name, (unsigned long long)*size_bytes,
			      block_bytes);
	if (!err && !overwrite)
		err = check_signature(fd, name, *size_bytes, block_bytes, e);
	close(fd);
	if (err)
		return err;
	*size_bytes -= *size_bytes % block_bytes;
	if (!realpath(name, real))
		return err_set(e, -errno, "cannot follow \"%s\": %s", name,
			       strerror(errno));
	err = check_path(real, path_size, e);
	if (!err)
		memcpy(path, real, strlen(real) + 1);
	return err;
}

int given_resolve_new(const char *name, char *path, size_t path_size,
		      struct err *e)
{
	char folder[PATH_MAX], real[PATH_MAX], whole[2 * PATH_MAX];
	const char *slash = strrchr(name, '/');
	const char *file = slash ? slash + 1 : name;
	int err;

	if (!*file)
		return err_set(e, -EISDIR, "\"%s\" names a folder", name);
	snprintf(folder, sizeof(folder), "%.*s",
		 slash ? (int)(slash - name) + 1 : 1, slash ? name : ".");
	if (!realpath(folder, real))
		return err_set(e, -errno, "cannot make \"%s\": %s", name,
			       strerror(errno));
	snprintf(whole, sizeof(whole), "%s/%s", strcmp(real, "/") ? real : "",
		 file);
	err = check_path(whole, path_size, e);
	if (!err)
		memcpy(path, whole, strlen(whole) + 1);
	return err;
}
