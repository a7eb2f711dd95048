#include "base/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { LOCK_POLL_NS = 10 * NS_PER_MSEC };

int state_check_name(const struct state_kind *k, const char *name,
		     struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	size_t n = strlen(name);

	if (n && n < sizeof(((struct state *)0)->name) &&
	    strspn(name, allowed) == n && name[0] != '.' && name[0] != '-')
		return 0;
	return err_set(e, -EINVAL,
		       "\"%s\" cannot name a %s: use up to 63 of a-z 0-9 . -, "
		       "not starting with . or -",
		       name, k->noun);
}

/* --- where --- */

/* An owner other than us could swap files under us, or make us kill and remove
 * things by a forged journal. */
static int check_owner(const char *path, bool is_private, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return err_set(e, -errno, "cannot look at \"%s\": %s", path,
			       strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "\"%s\" is not a folder", path);
	if (st.st_uid != geteuid())
		return err_set(e, -EPERM,
			       "\"%s\" belongs to user %u, not to %u: run "
			       "lunbench as that user",
			       path, (unsigned int)st.st_uid,
			       (unsigned int)geteuid());
	if (is_private && (st.st_mode & 022))
		return err_set(e, -EPERM,
			       "\"%s\" may be written by others: chmod 700 it",
			       path);
	return 0;
}

static int top_path(char *root, size_t size, bool *is_default, struct err *e)
{
	const char *given = getenv("LUNBENCH_STATE_DIR");
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	*is_default = !given || !*given;
	if (!*is_default) {
		if (given[0] != '/')
			return err_set(e, -EINVAL,
				       "LUNBENCH_STATE_DIR=\"%s\" is not an "
				       "absolute path",
				       given);
		if ((size_t)snprintf(root, size, "%s", given) >= size)
			return err_set(e, -ENAMETOOLONG,
				       "LUNBENCH_STATE_DIR is too long");
	} else if (geteuid() == 0) {
		snprintf(root, size, "/run/lunbench");
	} else if (runtime && runtime[0] == '/') {
		snprintf(root, size, "%s/lunbench", runtime);
	} else {
		snprintf(root, size, "/tmp/lunbench-%u",
			 (unsigned int)geteuid());
	}
	return 0;
}

static int root_path(const struct state_kind *k, char root[440],
		     bool *is_default, struct err *e)
{
	char top[400];
	int err = top_path(top, sizeof(top), is_default, e);

	if (!err)
		snprintf(root, 440, "%s%s", top, k->below);
	return err;
}

static int make_root(const struct state_kind *k, struct err *e)
{
	char root[440];
	bool is_default;
	int err = root_path(k, root, &is_default, e);

	if (!err)
		err = file_make_dirs(root, 0700, e);
	/* A folder that the user named may be anything that he trusts. */
	if (!err && is_default)
		err = check_owner(root, true, e);
	return err;
}

static int fill(struct state *s, const struct state_kind *k, const char *name,
		struct err *e)
{
	char root[440];
	bool is_default;
	int err;

	memset(s, 0, sizeof(*s));
	s->kind = k;
	s->lock_fd = -1;
	err = state_check_name(k, name, e);
	if (!err)
		err = root_path(k, root, &is_default, e);
	if (err)
		return err;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->folder, sizeof(s->folder), "%s/%s", root, name);
	return 0;
}

int state_find(struct state *s, const struct state_kind *k, const char *name,
	       struct err *e)
{
	int err = fill(s, k, name, e);

	return err ? err : check_owner(s->folder, true, e);
}

void state_path(const struct state *s, const char *file, char *path,
		size_t size)
{
	snprintf(path, size, "%s/%s", s->folder, file);
}

uint64_t state_hash(const struct state *s)
{
	char host[65] = "";
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	gethostname(host, sizeof(host) - 1);
	for (const char *p = host; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	for (const char *p = s->folder; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	return h;
}

/* --- the lock --- */

/* 0, -EBUSY, or -EAGAIN when the folder was removed (by whoever held the lock)
 * between open and flock: begin again. */
static int try_lock(struct state *s, struct err *e)
{
	struct stat held, there;
	int fd = open(s->folder,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_set(e, -errno, "cannot open \"%s\": %s", s->folder,
			       strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -EBUSY;
	}
	if (fstat(fd, &held) || stat(s->folder, &there) ||
	    held.st_ino != there.st_ino || held.st_dev != there.st_dev) {
		close(fd);
		return -EAGAIN;
	}
	s->lock_fd = fd;
	return 0;
}

static int lock_once(struct state *s, bool make, struct err *e)
{
	int err;

	if (make && mkdir(s->folder, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make the folder \"%s\": %s",
			       s->folder, strerror(errno));
	err = check_owner(s->folder, true, e);
	return err ? err : try_lock(s, e);
}

int state_lock(struct state *s, const struct state_kind *k, const char *name,
	       bool make, uint64_t deadline_ns, struct err *e)
{
	const struct timespec pause = {0, LOCK_POLL_NS};
	uint64_t end = clock_now_ns() + deadline_ns;
	int err = fill(s, k, name, e);

	if (!err && make)
		err = make_root(k, e);
	while (!err) {
		err = lock_once(s, make, e);
		if (make && err == -ENOENT)
			err = -EAGAIN; /* removed under us: make it again */
		if (err != -EBUSY && err != -EAGAIN)
			return err;
		/* flock() has no deadline, so the wait for it is a poll. */
		if (clock_now_ns() >= end)
			return err_set(e, -EBUSY,
				       "%s \"%s\": another lunbench works on "
				       "it (it holds \"%s\")",
				       k->noun, name, s->folder);
		if (err == -EBUSY)
			nanosleep(&pause, NULL);
		err = 0;
	}
	return err;
}

void state_unlock(struct state *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
}

bool state_is_busy(const struct state *s)
{
	int fd = open(s->folder,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool busy;

	if (fd < 0)
		return false;
	busy = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return busy;
}

/* --- removing and listing --- */

int state_clear(struct state *s, struct err *e)
{
	int n, fd = s->lock_fd;
	struct dirent **entry;
	char path[1024];

	n = scandir(s->folder, &entry, NULL, alphasort);
	if (n < 0)
		return err_set(e, -errno, "cannot read \"%s\": %s", s->folder,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		if (s->kind->is_ours(entry[i]->d_name))
			unlinkat(fd, entry[i]->d_name, 0);
		free(entry[i]);
	}
	free(entry);
	/* The last: as long as anything is there, so is its description. */
	state_path(s, "journal", path, sizeof(path));
	if (unlink(path) && errno != ENOENT)
		return err_set(e, -errno, "cannot remove \"%s\": %s", path,
			       strerror(errno));
	return 0;
}

int state_remove(struct state *s, struct err *e)
{
	int err = state_clear(s, e);

	if (!err && rmdir(s->folder))
		return err_set(e, -errno, "cannot remove \"%s\": %s", s->folder,
			       strerror(errno));
	return err;
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
}

int state_list(const struct state_kind *k, char ***names, size_t *nr,
	       struct err *e)
{
	struct dirent **entry;
	bool is_default;
	char root[440];
	int n, bad = 0, err = root_path(k, root, &is_default, e);

	*names = NULL;
	*nr = 0;
	if (err)
		return err;
	n = scandir(root, &entry, is_folder, alphasort);
	if (n < 0 && errno == ENOENT) /* nothing was ever made */
		return 0;
	if (n < 0)
		return err_set(e, -errno, "cannot read \"%s\": %s", root,
			       strerror(errno));
	*names = calloc(n + 1, sizeof(**names));
	for (int i = 0; i < n; i++) {
		if (*names && !state_check_name(k, entry[i]->d_name, NULL)) {
			(*names)[*nr] = strdup(entry[i]->d_name);
			if ((*names)[*nr])
				(*nr)++;
			else
				bad = -ENOMEM;
		}
		free(entry[i]);
	}
	free(entry);
	if (bad || !*names)
		return err_set(e, -ENOMEM, "no memory for the %ss", k->noun);
	return 0;
}
