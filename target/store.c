#include "target/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "target/given.h"
#include "target/room.h"

/* A piece between two looks at the deadline; tmpfs zeroes some GB a second. */
#define PIECE_BYTES (64ULL << 20)

const char *store_name(enum tgt_store kind)
{
	static const char *const name[] = {"rdwr", "aio", "null"};

	return name[kind];
}

/* --- room --- */

static int check_room(const char *folder, uint64_t size, struct err *e)
{
	uint64_t room = 0;
	int err = room_folder(folder, &room, e);

	if (err || room >= size)
		return err;
	return err_set(e, -ENOSPC,
		       "the image needs %llu MiB but \"%s\" has room for %llu "
		       "MiB: give a smaller --size, or --backing FILE on "
		       "another disk",
		       (unsigned long long)(size >> 20), folder,
		       (unsigned long long)(room >> 20));
}

static int allocate(int fd, const char *path, uint64_t size, uint64_t end_ns,
		    struct err *e)
{
	uint64_t at, n;
	int err = 0;

	if (ftruncate(fd, size))
		err = -errno;
	for (at = 0; !err && at < size; at += n) {
		n = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		err = -posix_fallocate(fd, at, n);
		if (!err && clock_now_ns() >= end_ns)
			err = -ETIMEDOUT;
	}
	if (!err && fsync(fd))
		err = -errno;
	if (err)
		return err_set(
			e, err, "cannot fill the image \"%s\" to %llu MiB: %s",
			path, (unsigned long long)(size >> 20), strerror(-err));
	return 0;
}

/* tgt's aio store opens with O_DIRECT and says only "invalid request" where
 * that is not possible (a tmpfs before Linux 6.6). */
static int check_direct(const char *path, enum tgt_store kind, struct err *e)
{
	int fd;

	if (kind != STORE_AIO)
		return 0;
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno,
			       "\"%s\" cannot be opened with O_DIRECT, which "
			       "--store aio needs (%s): use --store rdwr, or "
			       "--backing FILE on a disk",
			       path, strerror(errno));
	close(fd);
	return 0;
}

/* Makes the file anew; gone again on failure. */
static int make_file(const char *path, enum tgt_store kind, uint64_t size,
		     uint64_t end_ns, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      0600);
	int err;

	if (fd < 0)
		return err_set(e, -errno, "cannot make \"%s\": %s", path,
			       strerror(errno));
	err = allocate(fd, path, size, end_ns, e);
	close(fd);
	if (!err)
		err = check_direct(path, kind, e);
	if (err)
		unlink(path);
	return err;
}

/* --- an image of ours --- */

static int make_image(struct store *st, const char *folder, const char *file,
		      enum tgt_store kind, struct journal *j, uint64_t end_ns,
		      struct err *e)
{
	int err = check_room(folder, st->size_bytes, e);

	if (err)
		return err;
	snprintf(st->path, sizeof(st->path), "%s/%s", folder, file);
	err = journal_write(j, e, "image", "%s", st->path);
	if (err)
		return err;
	/* Left of a target whose state is lost (a reboot empties /run): the
	 * name is of our state folder alone, and we hold its lock. */
	if (file_is_mine(st->path))
		unlink(st->path);
	return make_file(st->path, kind, st->size_bytes, end_ns, e);
}

static int prepare_image(struct store *st, const struct tgt_opts *o,
			 const struct state *s, struct journal *j,
			 uint64_t end_ns, char *note, struct err *e)
{
	char file[160];
	size_t n = strlen(note);
	int err;

	st->is_ours = true;
	snprintf(file, sizeof(file), "lunbench-%u-%s-%016llx.img",
		 (unsigned int)geteuid(), s->name,
		 (unsigned long long)state_hash(s));
	if (o->ram)
		return make_image(st, "/dev/shm", file, o->store, j, end_ns, e);
	err = make_image(st, s->folder, "image", o->store, j, end_ns, e);
	if (err != -ENOSPC && err != -EINVAL)
		return err;
	/* The state folder is often a small tmpfs. */
	err = make_image(st, "/var/tmp", file, o->store, j, end_ns, NULL);
	if (err)
		return e ? e->code : err;
	snprintf(note + n, 256 - n,
		 "%simage in /var/tmp, as the state folder cannot hold it",
		 n ? "; " : "");
	return 0;
}

/* --- what the user named --- */

static int make_given(struct store *st, const struct tgt_opts *o,
		      struct journal *j, uint64_t end_ns, struct err *e)
{
	char folder[PATH_MAX], *slash;
	int err;

	if (!o->size_bytes)
		return err_set(e, -ENOENT,
			       "\"%s\" does not exist: give --size to have it "
			       "made",
			       o->backing);
	err = given_resolve_new(o->backing, st->path, sizeof(st->path), e);
	if (err)
		return err;
	st->size_bytes = o->size_bytes;
	snprintf(folder, sizeof(folder), "%s", st->path);
	slash = strrchr(folder, '/');
	slash[slash == folder] = '\0';
	err = check_room(folder, st->size_bytes, e);
	if (!err)
		err = journal_write(j, e, "made-file", "%s", st->path);
	if (err)
		return err;
	err = make_file(st->path, o->store, st->size_bytes, end_ns, e);
	/* Another made it since we looked: then it is not ours to remove. */
	if (err == -EEXIST)
		journal_write(j, NULL, "kept-file", "%s", st->path);
	return err;
}

static int prepare_given(struct store *st, const struct tgt_opts *o,
			 struct journal *j, uint64_t end_ns, struct err *e)
{
	struct stat node;
	int err;

	if (access(o->backing, F_OK) && errno == ENOENT)
		return make_given(st, o, j, end_ns, e);
	err = given_check(o->backing, o->block_bytes, o->overwrite, st->path,
			  sizeof(st->path), &st->size_bytes, e);
	if (err)
		return err;
	if (o->size_bytes && o->size_bytes != st->size_bytes)
		return err_set(e, -EINVAL,
			       "\"%s\" has %llu bytes, not the %llu of --size: "
			       "leave --size out to use it as it is",
			       o->backing, (unsigned long long)st->size_bytes,
			       (unsigned long long)o->size_bytes);
	st->is_direct = !stat(st->path, &node) && S_ISBLK(node.st_mode);
	return check_direct(st->path, o->store, e);
}

static int prepare_array(struct store *st, const struct tgt_opts *o,
			 const struct state *s, struct journal *j,
			 uint64_t *end_ns, char *note, struct err *e)
{
	size_t n = strlen(note);
	struct array a;
	int err = journal_write(j, e, "array", "%s", o->array.kind);

	if (!err)
		err = journal_write(j, e, "members", "%s", o->array.members);
	if (!err)
		err = array_prepare(&a, &o->array, o->overwrite, s, j, end_ns,
				    e);
	if (err)
		return err;
	if (a.note[0])
		snprintf(note + n, 256 - n, "%s%s", n ? "; " : "", a.note);
	st->is_direct = true;
	snprintf(st->path, sizeof(st->path), "%s", a.lun[0].path);
	st->size_bytes = a.lun[0].size_bytes;
	st->nr_more = a.nr_luns - 1;
	memcpy(st->more, a.lun + 1, st->nr_more * sizeof(*st->more));
	return journal_write(j, e, "luns", "%zu", a.nr_luns);
}

int store_prepare(struct store *st, const struct tgt_opts *o,
		  const struct state *s, struct journal *j, uint64_t *end_ns,
		  char *note, struct err *e)
{
	int err = 0;

	memset(st, 0, sizeof(*st));
	st->size_bytes = o->size_bytes ? o->size_bytes : STORE_DEFAULT_BYTES;
	if (o->store == STORE_NULL)
		snprintf(st->path, sizeof(st->path), "none");
	else if (o->array.kind[0])
		err = prepare_array(st, o, s, j, end_ns, note, e);
	else if (o->backing[0])
		err = prepare_given(st, o, j, *end_ns, e);
	else
		err = prepare_image(st, o, s, j, *end_ns, note, e);
	if (!err)
		err = journal_write(j, e, "backing", "%s", st->path);
	return err;
}

int store_remove(const struct journal_text *t, bool came_up, struct err *e)
{
	const char *const key[] = {"image", "made-file"};
	int keys = came_up || journal_get(t, "kept-file") ? 1 : 2;
	const char *path;

	int err = array_remove(t, e);

	if (err)
		return err;
	/* Every line: a first image may have been given up for a second. */
	for (int i = 0; i < keys; i++)
		for (size_t n = 0; (path = journal_get_nth(t, key[i], n)); n++)
			if (file_is_mine(path) && unlink(path))
				return err_set(e, -errno,
					       "cannot remove \"%s\": %s", path,
					       strerror(errno));
	return 0;
}
