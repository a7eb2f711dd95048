#include "vm/cpio.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { HEADER_BYTES = 110, COPY_BYTES = 1 << 18 };

#define END_NAME "TRAILER!!!"

/* --- writing --- */

static int cannot_write(struct cpio *c, struct err *e)
{
	int err = errno ? -errno : -EIO;

	return err_set(e, err, "cannot write \"%s\": %s", c->path,
		       strerror(-err));
}

static int start(struct cpio *c, const char *path, const char *mode,
		 struct err *e)
{
	*c = (struct cpio){.path = path};
	c->file = fopen(path, mode);
	return c->file ? 0 : cannot_write(c, e);
}

int cpio_create(struct cpio *c, const char *path, struct err *e)
{
	return start(c, path, "we", e);
}

int cpio_append(struct cpio *c, const char *path, struct err *e)
{
	return start(c, path, "ae", e);
}

static size_t padding(size_t len)
{
	return (4 - len % 4) % 4;
}

/* Zeros up to a multiple of four. Every archive is one in length, so this is
 * right for appended ones too. */
static int pad(struct cpio *c, size_t written, struct err *e)
{
	static const char zeros[4];
	size_t n = padding(written);

	if (fwrite(zeros, 1, n, c->file) != n)
		return cannot_write(c, e);
	return 0;
}

static int header(struct cpio *c, const char *name, mode_t mode, size_t len,
		  struct err *e)
{
	size_t name_len = strlen(name) + 1;
	int n;

	if (len > UINT32_MAX)
		return err_set(e, -EFBIG, "\"%s\": over 4 GiB", name);
	errno = 0;
	/* magic ino mode uid gid nlink mtime size major minor rmajor rminor
	 * namesize check */
	n = fprintf(c->file,
		    "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X"
		    "%08X",
		    ++c->inode, (unsigned int)mode, 0, 0, S_ISDIR(mode) ? 2 : 1,
		    0, (unsigned int)len, 0, 0, 0, 0, (unsigned int)name_len,
		    0);
	if (n != HEADER_BYTES || fwrite(name, 1, name_len, c->file) != name_len)
		return cannot_write(c, e);
	return pad(c, HEADER_BYTES + name_len, e);
}

static const char *skip_slashes(const char *name)
{
	return name + strspn(name, "/");
}

int cpio_add_folders(struct cpio *c, const char *name, struct err *e)
{
	const char *slash;
	char part[PATH_MAX];
	int err = 0;

	name = skip_slashes(name);
	for (slash = strchr(name, '/'); slash && !err;
	     slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		err = header(c, part, S_IFDIR | 0755, 0, e);
	}
	return err;
}

static int add(struct cpio *c, const char *name, mode_t mode, const void *data,
	       size_t len, struct err *e)
{
	int err = header(c, name, mode, len, e);

	if (err)
		return err;
	if (fwrite(data, 1, len, c->file) != len)
		return cannot_write(c, e);
	return pad(c, len, e);
}

int cpio_add_data(struct cpio *c, const char *name, mode_t mode,
		  const void *data, size_t len, struct err *e)
{
	int err = cpio_add_folders(c, name, e);

	if (err)
		return err;
	return add(c, skip_slashes(name), S_IFREG | mode, data, len, e);
}

int cpio_add_link(struct cpio *c, const char *name, const char *to,
		  struct err *e)
{
	int err = cpio_add_folders(c, name, e);

	if (err)
		return err;
	return add(c, skip_slashes(name), S_IFLNK | 0777, to, strlen(to), e);
}

/* Exactly @left bytes, since the header has promised them. */
static int copy(struct cpio *c, int fd, const char *from, size_t left,
		struct err *e)
{
	static _Thread_local char buf[COPY_BYTES];
	ssize_t n;

	while (left) {
		n = read(fd, buf, left < sizeof(buf) ? left : sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(e, n ? -errno : -EIO,
				       "cannot read \"%s\": %s", from,
				       n ? strerror(errno)
					 : "it shrank meanwhile");
		if (fwrite(buf, 1, n, c->file) != (size_t)n)
			return cannot_write(c, e);
		left -= n;
	}
	return 0;
}

static int add_plain(struct cpio *c, const char *name, const char *from,
		     struct err *e)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err = err_set(e, -errno, "cannot read \"%s\": %s", from,
			      strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = err_set(e, -EINVAL, "\"%s\" is not a plain file", from);
	else
		err = header(c, name, S_IFREG | (st.st_mode & 0777), st.st_size,
			     e);
	if (!err)
		err = copy(c, fd, from, st.st_size, e);
	if (!err)
		err = pad(c, st.st_size, e);
	if (fd >= 0)
		close(fd);
	return err;
}

int cpio_add_file(struct cpio *c, const char *name, const char *from,
		  struct err *e)
{
	int err = cpio_add_folders(c, name, e);

	return err ? err : add_plain(c, skip_slashes(name), from, e);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_entry(struct cpio *c, const FTSENT *f, const char *name,
		     struct err *e)
{
	char to[PATH_MAX];
	ssize_t n;

	switch (f->fts_info) {
	case FTS_D:
		return header(c, name,
			      S_IFDIR | (f->fts_statp->st_mode & 07777), 0, e);
	case FTS_F:
		if (access(f->fts_accpath, R_OK))
			return 0;
		return add_plain(c, name, f->fts_accpath, e);
	case FTS_SL:
	case FTS_SLNONE:
		n = readlink(f->fts_accpath, to, sizeof(to));
		if (n < 0)
			return err_set(e, -errno, "cannot read \"%s\": %s",
				       f->fts_path, strerror(errno));
		return add(c, name, S_IFLNK | 0777, to, n, e);
	default:
		return 0;
	}
}

int cpio_add_tree(struct cpio *c, const char *from, struct err *e)
{
	char *paths[] = {(char *)from, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t skip = strlen(from);
	FTSENT *f;
	int err = 0;

	if (!fts)
		return err_set(e, -errno, "cannot walk \"%s\": %s", from,
			       strerror(errno));
	while (!err && (f = fts_read(fts))) {
		const char *name = skip_slashes(f->fts_path + skip);

		if (*name)
			err = add_entry(c, f, name, e);
	}
	fts_close(fts);
	return err;
}

int cpio_finish(struct cpio *c, struct err *e)
{
	int err;

	if (!c->file)
		return 0;
	err = header(c, END_NAME, 0, 0, e);
	errno = 0;
	if (fclose(c->file) && !err)
		err = cannot_write(c, e);
	c->file = NULL;
	return err;
}

/* --- reading --- */

struct entry {
	char name[PATH_MAX];
	unsigned int mode, size;
};

static int cut(const char *path, struct err *e)
{
	return err_set(e, -EBADMSG, "\"%s\" is no whole cpio archive", path);
}

/* Field @i of the header, or -1. */
static long long field(const char *header_text, int i)
{
	char digits[9], *end;
	long long n;

	memcpy(digits, header_text + 6 + 8 * i, 8);
	digits[8] = '\0';
	n = strtoll(digits, &end, 16);
	return *end || strspn(digits, "0123456789abcdefABCDEF") != 8 ? -1 : n;
}

static int skip(FILE *f, size_t n)
{
	while (n--)
		if (getc(f) == EOF)
			return -EBADMSG;
	return 0;
}

static int next(FILE *f, struct entry *en)
{
	char text[HEADER_BYTES];
	long long mode, size, name_len;

	if (fread(text, 1, sizeof(text), f) != sizeof(text) ||
	    memcmp(text, "070701", 6))
		return -EBADMSG;
	mode = field(text, 1);
	size = field(text, 6);
	name_len = field(text, 11);
	if (mode < 0 || size < 0 || name_len < 1 ||
	    name_len > (long long)sizeof(en->name))
		return -EBADMSG;
	if (fread(en->name, 1, name_len, f) != (size_t)name_len ||
	    en->name[name_len - 1])
		return -EBADMSG;
	en->mode = mode;
	en->size = size;
	return skip(f, padding(HEADER_BYTES + name_len));
}

static bool stays_below(const char *name)
{
	const char *part;

	if (*name == '/')
		return false;
	for (part = name; part;
	     part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
		if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
			return false;
	return true;
}

/* The file's bytes to @path. */
static int write_out(FILE *f, const char *path, const struct entry *en,
		     struct err *e)
{
	static _Thread_local char buf[COPY_BYTES];
	size_t left = en->size, n;
	FILE *out;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  en->mode & 0777);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		goto failed;
	for (; left; left -= n) {
		n = left < sizeof(buf) ? left : sizeof(buf);
		if (fread(buf, 1, n, f) != n) {
			fclose(out);
			return -EBADMSG;
		}
		if (fwrite(buf, 1, n, out) != n)
			break;
	}
	if (!fclose(out) && !left)
		return skip(f, padding(en->size));
failed:
	return err_set(e, errno ? -errno : -EIO, "cannot write \"%s\": %s",
		       path, strerror(errno));
}

/* A link of the user's own, below his folder, leads where a guest may not
 * write. */
static int check_links(const char *folder, const char *name, struct err *e)
{
	const char *slash = name - 1;
	char path[2 * PATH_MAX];
	struct stat st;

	while ((slash = strchr(slash + 1, '/'))) {
		snprintf(path, sizeof(path), "%s/%.*s", folder,
			 (int)(slash - name), name);
		if (!lstat(path, &st) && S_ISLNK(st.st_mode))
			return err_set(e, -EPERM,
				       "\"%s\" is a link here, and may not be "
				       "one on the way to \"%s\"",
				       path, name);
	}
	return 0;
}

static int extract_one(FILE *f, const char *folder, const struct entry *en,
		       size_t *nr, struct err *e)
{
	char path[2 * PATH_MAX];
	int err;

	if (!stays_below(en->name))
		return err_set(e, -EPERM, "\"%s\" would land outside \"%s\"",
			       en->name, folder);
	err = check_links(folder, en->name, e);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", folder, en->name);
	if (S_ISDIR(en->mode))
		return file_make_dirs(path, 0777, e);
	if (!S_ISREG(en->mode))
		return err_set(e, -EPERM, "\"%s\" is no plain file", en->name);
	err = write_out(f, path, en, e);
	if (!err)
		(*nr)++;
	return err;
}

int cpio_extract(const char *path, const char *folder, size_t *nr,
		 struct err *e)
{
	FILE *f = fopen(path, "re");
	struct entry en;
	int err;

	*nr = 0;
	if (!f)
		return err_set(e, -errno, "cannot open \"%s\": %s", path,
			       strerror(errno));
	while (!(err = next(f, &en)) && strcmp(en.name, END_NAME)) {
		err = extract_one(f, folder, &en, nr, e);
		if (err)
			break;
	}
	fclose(f);
	return err == -EBADMSG ? cut(path, e) : err;
}
