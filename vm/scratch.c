#include "vm/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vm/cache.h"

#define NAME "lunbench-lab."
/* Not locked yet: it gets the other name when it is. So what has that name and
 * no lock is dead, however young. */
#define NEW_NAME "lunbench-lab-new."

enum { YOUNG_SECONDS = 60 };

static const char *parent(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' ? dir : "/tmp";
}

static int lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void remove_dead(const char *name, time_t young)
{
	char pattern[PATH_MAX];
	struct stat st;
	glob_t g;
	int fd;

	snprintf(pattern, sizeof(pattern), "%s/%s*", parent(), name);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (lstat(g.gl_pathv[i], &st) || st.st_uid != geteuid() ||
		    st.st_mtime + young > time(NULL))
			continue;
		fd = lock(g.gl_pathv[i]);
		if (fd < 0)
			continue;
		cache_remove_tree(g.gl_pathv[i]);
		close(fd);
	}
	globfree(&g);
}

void scratch_sweep(void)
{
	remove_dead(NAME, 0);
	remove_dead(NEW_NAME, YOUNG_SECONDS);
}

/* Locked, and then given the name under which it is swept. */
static int settle(struct scratch *s, struct err *e)
{
	char was[sizeof(s->folder)];

	s->lock_fd = lock(s->folder);
	if (s->lock_fd < 0)
		return err_set(e, -errno, "cannot lock \"%s\": %s", s->folder,
			       strerror(errno));
	snprintf(was, sizeof(was), "%s", s->folder);
	snprintf(s->folder, sizeof(s->folder), "%s/" NAME "%s", parent(),
		 strrchr(was, '.') + 1);
	if (!rename(was, s->folder))
		return 0;
	snprintf(s->folder, sizeof(s->folder), "%s", was);
	return err_set(e, -errno, "cannot rename \"%s\": %s", was,
		       strerror(errno));
}

int scratch_make(struct scratch *s, struct err *e)
{
	s->lock_fd = -1;
	scratch_sweep();
	snprintf(s->folder, sizeof(s->folder), "%s/" NEW_NAME "XXXXXX",
		 parent());
	if (!mkdtemp(s->folder)) {
		int err = -errno;

		s->folder[0] = '\0';
		return err_set(e, err, "cannot make a folder in \"%s\": %s",
			       parent(), strerror(-err));
	}
	return settle(s, e);
}

void scratch_remove(struct scratch *s)
{
	if (s->folder[0])
		cache_remove_tree(s->folder);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
	s->folder[0] = '\0';
}

void scratch_path(const struct scratch *s, const char *file,
		  char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", s->folder, file);
}
