#include "base/usage.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"

enum { HOST_TICKS_LEAST = 20 };

/* --- one small file --- */

/* All of it that fits; -errno. */
static int read_text(const char *path, char *text, size_t size, struct err *e)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return err_set(e, -errno, "\"%s\": %s", path, strerror(errno));
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = '\0';
	if (!n)
		return err_set(e, -ENODATA, "\"%s\": it is empty", path);
	return 0;
}

static double seconds_ratio(uint64_t part_ns, uint64_t from_ns, uint64_t to_ns)
{
	return (double)part_ns / (double)(to_ns - from_ns);
}

/* --- a process --- */

/* Field 14 and 15 of /proc/PID/task/TID/stat; the name before them may hold
 * anything, so count from its last ")". */
static bool parse_ticks(const char *text, uint64_t *cpu_ns)
{
	const char *end = strrchr(text, ')');
	uint64_t user, system;
	long hz = sysconf(_SC_CLK_TCK);

	if (!end ||
	    sscanf(end + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
		   " %" SCNu64,
		   &user, &system) != 2)
		return false;
	*cpu_ns = (user + system) * (NS_PER_SEC / (hz > 0 ? hz : 100));
	return true;
}

/* "CPU STARVED TIMES", in ns. */
static bool read_schedstat(const char *path, struct thread_usage *t)
{
	char text[128];

	return !read_text(path, text, sizeof(text), NULL) &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, &t->cpu_ns,
		      &t->starved_ns) == 2;
}

uint64_t usage_starved_ns(void)
{
	struct thread_usage t;

	return read_schedstat("/proc/thread-self/schedstat", &t) ? t.starved_ns
								 : 0;
}

static bool read_thread(const char *task, const char *tid,
			struct thread_usage *t)
{
	char path[PATH_MAX], text[1024];

	t->tid = atoi(tid);
	snprintf(path, sizeof(path), "%s/%s/schedstat", task, tid);
	if (read_schedstat(path, t))
		return true;
	t->starved_ns = 0;
	snprintf(path, sizeof(path), "%s/%s/stat", task, tid);
	return !read_text(path, text, sizeof(text), NULL) &&
	       parse_ticks(text, &t->cpu_ns);
}

static int by_tid(const void *a, const void *b)
{
	const struct thread_usage *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int is_thread(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* A thread may end while we look: it is then in no reading. */
static int read_threads(struct process_usage *u, const char *task)
{
	struct dirent **entry;
	int i, n, r = 0;

	n = scandir(task, &entry, is_thread, alphasort);
	if (n < 0)
		return -errno;
	u->at_ns = clock_now_ns();
	u->threads = calloc(n + 1, sizeof(*u->threads));
	if (!u->threads)
		r = -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!r &&
		    read_thread(task, entry[i]->d_name, &u->threads[u->nr]))
			u->nr++;
		free(entry[i]);
	}
	free(entry);
	return r || u->nr ? r : -ESRCH;
}

int process_usage_read(struct process_usage *u, const char *root, pid_t pid,
		       struct err *e)
{
	char task[PATH_MAX / 2];
	int r;

	memset(u, 0, sizeof(*u));
	snprintf(task, sizeof(task), "%s/proc/%d/task", root, (int)pid);
	r = read_threads(u, task);
	if (r) {
		process_usage_release(u);
		return err_set(e, r, "\"%s\": %s", task, strerror(-r));
	}
	qsort(u->threads, u->nr, sizeof(*u->threads), by_tid);
	return 0;
}

void process_usage_release(struct process_usage *u)
{
	free(u->threads);
	memset(u, 0, sizeof(*u));
}

bool process_share_of(struct process_share *s, const struct process_usage *from,
		      const struct process_usage *to)
{
	const struct thread_usage *was, *is;
	double used, starved;
	size_t i;

	memset(s, 0, sizeof(*s));
	if (!from->nr || to->at_ns <= from->at_ns)
		return false;
	for (i = 0; i < to->nr; i++) {
		is = &to->threads[i];
		was = bsearch(is, from->threads, from->nr, sizeof(*was),
			      by_tid);
		if (!was || is->cpu_ns < was->cpu_ns ||
		    is->starved_ns < was->starved_ns)
			continue;
		used = seconds_ratio(is->cpu_ns - was->cpu_ns, from->at_ns,
				     to->at_ns);
		starved = seconds_ratio(is->starved_ns - was->starved_ns,
					from->at_ns, to->at_ns);
		s->threads++;
		s->all += used;
		if (used + starved < s->busiest + s->starved)
			continue;
		s->busiest = used;
		s->starved = starved;
	}
	return s->threads > 0;
}

/* --- the host --- */

int host_usage_read(struct host_usage *u, const char *root, struct err *e)
{
	char path[PATH_MAX], text[16384], *line;
	uint64_t t[8];
	size_t i;
	int r;

	memset(u, 0, sizeof(*u));
	snprintf(path, sizeof(path), "%s/proc/stat", root);
	r = read_text(path, text, sizeof(text), e);
	if (r)
		return r;
	/* user nice system idle iowait irq softirq steal; guest time is in user
	 * already */
	if (sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return err_set(e, -EPROTO, "\"%s\": no line of all CPUs", path);
	for (i = 0; i < 8; i++)
		u->total += t[i];
	u->idle = t[3] + t[4];
	u->steal = t[7];
	for (line = text; (line = strstr(line, "\ncpu")); line++)
		u->cpus++;
	u->at_ns = clock_now_ns();
	return 0;
}

bool host_share_of(struct host_share *s, const struct host_usage *from,
		   const struct host_usage *to)
{
	uint64_t total = to->total - from->total;
	uint64_t idle = to->idle > from->idle ? to->idle - from->idle : 0;
	uint64_t steal = to->steal > from->steal ? to->steal - from->steal : 0;

	memset(s, 0, sizeof(*s));
	if (to->total < from->total + HOST_TICKS_LEAST ||
	    idle + steal > total || !to->cpus)
		return false;
	s->used = (double)(total - idle - steal) / total;
	s->steal = (double)steal / total;
	return true;
}

/* --- a disk --- */

/* "sdb" of "/dev/disk/by-id/..."; the kernel writes "!" for "/". */
static int disk_name(const char *device, char *name, size_t size, struct err *e)
{
	char path[PATH_MAX], *c;

	if (!realpath(device, path))
		return err_set(e, -errno, "\"%s\": %s", device,
			       strerror(errno));
	if (strncmp(path, "/dev/", 5) != 0)
		return err_set(e, -ENOTBLK, "\"%s\": is no block device",
			       device);
	snprintf(name, size, "%.*s", (int)size - 1, path + 5);
	while ((c = strchr(name, '/')))
		*c = '!';
	return 0;
}

int disk_usage_read(struct disk_usage *u, const char *root, const char *device,
		    struct err *e)
{
	char name[128], path[PATH_MAX], text[512];
	uint64_t busy_ms, queue_ms;
	int r;

	memset(u, 0, sizeof(*u));
	r = disk_name(device, name, sizeof(name), e);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/sys/class/block/%s/stat", root, name);
	r = read_text(path, text, sizeof(text), e);
	if (r == -ENOENT)
		return err_set(e, -ENOTBLK, "\"%s\": is no block device",
			       device);
	if (r)
		return r;
	if (sscanf(text,
		   "%*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &busy_ms, &queue_ms) != 2)
		return err_set(e, -EPROTO, "\"%s\": too few figures", path);
	u->at_ns = clock_now_ns();
	u->busy_ns = busy_ms * NS_PER_MSEC;
	u->queue_ns = queue_ms * NS_PER_MSEC;
	return 0;
}

/* A partition's disk is what is busy. "/sys/dev/block/8:1" leads to
 * ".../block/sda/sda1". */
static int disk_of_number(dev_t number, char *device, size_t size,
			  struct err *e)
{
	char link[64], path[PATH_MAX], *name;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(number),
		 minor(number));
	if (!realpath(link, path))
		return err_set(e, -ENODEV, "\"%s\": %s", link, strerror(errno));
	name = strrchr(path, '/');
	strncat(path, "/partition", sizeof(path) - strlen(path) - 1);
	if (!access(path, F_OK)) {
		*name = '\0';
		name = strrchr(path, '/');
	} else {
		path[strlen(path) - strlen("/partition")] = '\0';
	}
	snprintf(device, size, "/dev/%s", name + 1);
	return 0;
}

int disk_below(const char *path, char *device, size_t size, struct err *e)
{
	struct statfs fs;
	struct stat st;

	device[0] = '\0';
	if (stat(path, &st) || statfs(path, &fs))
		return err_set(e, -ENODEV, "\"%s\": %s", path, strerror(errno));
	if (S_ISBLK(st.st_mode))
		return disk_of_number(st.st_rdev, device, size, e);
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return 0;
	return disk_of_number(st.st_dev, device, size, e);
}

bool disk_share_of(struct disk_share *s, const struct disk_usage *from,
		   const struct disk_usage *to)
{
	memset(s, 0, sizeof(*s));
	if (to->at_ns <= from->at_ns || !from->at_ns ||
	    to->busy_ns < from->busy_ns || to->queue_ns < from->queue_ns)
		return false;
	s->busy = seconds_ratio(to->busy_ns - from->busy_ns, from->at_ns,
				to->at_ns);
	s->queue = seconds_ratio(to->queue_ns - from->queue_ns, from->at_ns,
				 to->at_ns);
	/* Both are stamped in ms. */
	if (s->busy > 1)
		s->busy = 1;
	return true;
}
