#include "vm/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { LOCK_POLL_NS = 20 * NS_PER_MSEC };

static int choose_folder(struct cache *c, struct err *e)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && *xdg == '/')
		n = snprintf(c->folder, sizeof(c->folder), "%s/lunbench", xdg);
	else if (!geteuid())
		n = snprintf(c->folder, sizeof(c->folder),
			     "/var/cache/lunbench");
	else if (home && *home == '/')
		n = snprintf(c->folder, sizeof(c->folder), "%s/.cache/lunbench",
			     home);
	else
		return err_set(e, -ENOENT,
			       "no folder for the lab's kernel and appliance: "
			       "set XDG_CACHE_HOME");
	if ((size_t)n >= sizeof(c->folder))
		return err_set(e, -ENAMETOOLONG, "\"%.80s...\" is too long",
			       c->folder);
	return 0;
}

int cache_check_room(const char *folder, uint64_t bytes, const char *what,
		     const char *set, struct err *e)
{
	struct statvfs v;
	uint64_t free_bytes;

	if (statvfs(folder, &v))
		return err_set(e, -errno, "cannot look at \"%s\": %s", folder,
			       strerror(errno));
	free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (free_bytes >= bytes)
		return 0;
	return err_set(e, -ENOSPC,
		       "\"%s\" has %llu MB free and %s %llu MB: make room, or "
		       "set %s to another folder",
		       folder, (unsigned long long)(free_bytes / 1000000), what,
		       (unsigned long long)(bytes / 1000000), set);
}

int cache_lock(struct cache *c, uint64_t deadline_ns, struct err *e)
{
	uint64_t end = clock_now_ns() + deadline_ns;
	struct timespec pause = {0, LOCK_POLL_NS};
	int err;

	c->lock_fd = -1;
	err = choose_folder(c, e);
	if (!err)
		err = file_make_dirs(c->folder, 0755, e);
	if (err)
		return err;
	c->lock_fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->lock_fd < 0 || access(c->folder, W_OK)) {
		err = err_set(e, -errno, "cannot use \"%s\": %s", c->folder,
			      strerror(errno));
		cache_unlock(c);
		return err;
	}
	while (flock(c->lock_fd, LOCK_EX | LOCK_NB)) {
		if ((errno != EWOULDBLOCK && errno != EINTR) ||
		    clock_now_ns() >= end) {
			cache_unlock(c);
			return err_set(e, -EBUSY,
				       "another lunbench is at work in \"%s\"",
				       c->folder);
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

void cache_unlock(struct cache *c)
{
	if (c->lock_fd >= 0)
		close(c->lock_fd);
	c->lock_fd = -1;
}

void cache_path(const struct cache *c, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", c->folder, name);
}

static bool fits(const struct dirent *d, const char *prefix)
{
	size_t n = strlen(d->d_name);

	return !strncmp(d->d_name, prefix, strlen(prefix)) &&
	       !(n > 4 && !strcmp(d->d_name + n - 4, ".tmp"));
}

int cache_find_last(const struct cache *c, const char *prefix,
		    char path[PATH_MAX])
{
	struct dirent **list = NULL;
	int n = scandir(c->folder, &list, NULL, versionsort), err = -ENOENT;

	while (n-- > 0) {
		if (err && fits(list[n], prefix)) {
			cache_path(c, list[n]->d_name, path);
			err = 0;
		}
		free(list[n]);
	}
	free(list);
	return err;
}

void cache_remove_others(const struct cache *c, const char *prefix,
			 const char *keep)
{
	struct dirent **list = NULL;
	char path[PATH_MAX];
	int n = scandir(c->folder, &list, NULL, versionsort);

	while (n-- > 0) {
		cache_path(c, list[n]->d_name, path);
		if (!strncmp(list[n]->d_name, prefix, strlen(prefix)) &&
		    strcmp(path, keep) != 0)
			cache_remove_tree(path);
		free(list[n]);
	}
	free(list);
}

void cache_remove_tree(const char *path)
{
	char *paths[] = {(char *)path, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *f;

	while (fts && (f = fts_read(fts)))
		switch (f->fts_info) {
		case FTS_D:
			/* Packages have folders that nobody may write in. */
			if (chmod(f->fts_accpath, 0700))
				continue;
			break;
		case FTS_DP:
			rmdir(f->fts_accpath);
			break;
		default:
			unlink(f->fts_accpath);
		}
	if (fts)
		fts_close(fts);
}

uint64_t cache_hash(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

uint64_t cache_hash_text(uint64_t hash, const char *text)
{
	return cache_hash(hash, text, strlen(text) + 1);
}
