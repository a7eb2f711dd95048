#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- reading --- */

/* How long the other end of a pipe may be silent. */
enum { WRITER_MS = 10000 };

/* Until the end or @max: the size that stat tells is 0 in /proc and stale for
 * a file that grows. 0 or -errno; *text is owned by the caller in any case. */
static int read_all(int fd, size_t max, char **text, size_t *len)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	size_t room = 4096;
	char *more;
	ssize_t n;

	*len = 0;
	*text = malloc(room);
	for (;;) {
		if (!*text)
			return -ENOMEM;
		n = read(fd, *text + *len, room - *len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (poll(&ready, 1, WRITER_MS))
				continue;
			return -ETIMEDOUT;
		}
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		*len += n;
		if (*len > max)
			return -EFBIG;
		if (*len + 1 < room)
			continue;
		more = realloc(*text, room * 2);
		if (!more)
			return -ENOMEM;
		*text = more;
		room *= 2;
	}
	(*text)[*len] = '\0';
	return 0;
}

int file_read(const char *path, size_t max, char **text, size_t *len,
	      struct err *e)
{
	/* A FIFO that nobody writes to would keep a plain open for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return err_set(e, -errno, "cannot open \"%s\": %s", path,
			       strerror(errno));
	err = read_all(fd, max, text, len);
	close(fd);
	if (!err)
		return 0;
	free(*text);
	*text = NULL;
	*len = 0;
	if (err == -EFBIG)
		return err_set(e, err, "\"%s\" is larger than %zu bytes", path,
			       max);
	return err_set(e, err, "cannot read \"%s\": %s", path, strerror(-err));
}

/* --- writing --- */

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= n;
	}
	return 0;
}

static int cannot_write(struct err *e, int err, const char *path)
{
	return err_set(e, err, "cannot write \"%s\": %s", path, strerror(-err));
}

/* Devices and pipes (/dev/stdout, /dev/null) are written, never replaced. */
static int write_through(const char *path, const void *data, size_t len,
			 struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return cannot_write(e, -errno, path);
	err = write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	return err ? cannot_write(e, err, path) : 0;
}

/* The folder that @path is in. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
	char *slash;

	snprintf(folder, PATH_MAX, "%s", path);
	slash = strrchr(folder, '/');
	if (!slash)
		snprintf(folder, PATH_MAX, ".");
	else if (slash == folder)
		folder[1] = '\0';
	else
		*slash = '\0';
}

/* A rename lasts only when the folder has reached the disk. File systems that
 * cannot sync a folder say EINVAL; there is nothing to be done about it. */
static int sync_folder(const char *path)
{
	char folder[PATH_MAX];
	int fd, err = 0;

	folder_of(path, folder);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

static int open_temporary(const char *path, char temporary[PATH_MAX])
{
	int fd, n;

	for (unsigned int i = 0; i < 100; i++) {
		n = snprintf(temporary, PATH_MAX, "%s.%d-%u.tmp", path,
			     (int)getpid(), i);
		if (n >= PATH_MAX)
			return -ENAMETOOLONG;
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static int replace(const char *path, mode_t mode, const void *data, size_t len)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(path, temporary), err;

	if (fd < 0)
		return fd;
	err = write_all(fd, data, len);
	if (!err && mode && fchmod(fd, mode))
		err = -errno;
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err) {
		unlink(temporary);
		return err;
	}
	return sync_folder(path);
}

int file_write_atomic(const char *path, const void *data, size_t len,
		      struct err *e)
{
	char target[PATH_MAX];
	struct stat st;
	mode_t mode = 0;
	int err;

	/* Through a symbolic link: replace what it names, not the link. */
	if (!realpath(path, target))
		snprintf(target, sizeof(target), "%s", path);
	if (!stat(target, &st)) {
		if (S_ISDIR(st.st_mode))
			return cannot_write(e, -EISDIR, path);
		if (!S_ISREG(st.st_mode))
			return write_through(target, data, len, e);
		mode = st.st_mode & 07777;
	}
	err = replace(target, mode, data, len);
	return err ? cannot_write(e, err, path) : 0;
}

/* --- folders --- */

int file_make_dirs(const char *path, unsigned int mode, struct err *e)
{
	char part[PATH_MAX];
	struct stat st;
	size_t n;

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return err_set(e, -ENAMETOOLONG, "\"%.64s...\" is too long",
			       path);
	for (n = strspn(path, "/"); path[n]; n += strspn(path + n, "/")) {
		n += strcspn(path + n, "/");
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		if (!mkdir(part, mode))
			continue;
		if (errno == EEXIST && !stat(part, &st) && S_ISDIR(st.st_mode))
			continue;
		return err_set(e, errno == EEXIST ? -ENOTDIR : -errno,
			       "cannot make the folder \"%s\": %s", part,
			       errno == EEXIST ? "a file is in its place"
					       : strerror(errno));
	}
	return 0;
}

bool file_is_mine(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid();
}
