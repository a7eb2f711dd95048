#ifndef BASE_USAGE_H
#define BASE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * What a process, a disk and the whole host have used of their time so far, as
 * the kernel counts it. Two readings of the same thing tell the share of the
 * time between them: 1 is one CPU, or a disk that was never idle.
 *
 * @root: "" for this machine; tests give a folder with a proc and a sys in it.
 * A reading that cannot be had is -errno with a sentence: nothing is guessed.
 * No state, any thread.
 */

struct thread_usage {
	pid_t tid;
	uint64_t cpu_ns;
	uint64_t starved_ns; /* ready to run, but without a CPU */
};

/* /proc/PID/task/TID/schedstat (ns); where the kernel has none, utime and
 * stime of .../stat, which count in ticks of 10 ms, and nothing is known of
 * starving. proc(5), the kernel's sched-stats.rst. */
struct process_usage {
	uint64_t at_ns;
	struct thread_usage *threads; /* owned; by tid */
	size_t nr;
};

int process_usage_read(struct process_usage *u, const char *root, pid_t pid,
		       struct err *e);
void process_usage_release(struct process_usage *u);

/* Of the calling thread, so far; 0 where the kernel does not tell. */
uint64_t usage_starved_ns(void);

struct process_share {
	/* Of one core: the thread that most wanted one. */
	double busiest, starved;
	double all; /* of one core, all threads together */
	size_t threads;
};

/* Of the threads that are in both. False where there is none, or no time
 * between. */
bool process_share_of(struct process_share *s, const struct process_usage *from,
		      const struct process_usage *to);

/* /proc/stat, in ticks over all CPUs. */
struct host_usage {
	uint64_t at_ns;
	unsigned int cpus;
	uint64_t total, idle, steal; /* idle: with iowait */
};

int host_usage_read(struct host_usage *u, const char *root, struct err *e);

struct host_share {
	double used, steal; /* of all CPUs, 0..1; steal is not in used */
};
/* False where fewer than 20 ticks went by: a tick more or less would be
 * several percent. */
bool host_share_of(struct host_share *s, const struct host_usage *from,
		   const struct host_usage *to);

/* /sys/class/block/NAME/stat (the kernel's Documentation/block/stat.rst):
 * io_ticks and time_in_queue, which are in ms. */
struct disk_usage {
	uint64_t at_ns;
	uint64_t busy_ns, queue_ns;
};

/* @device: "/dev/sdb", or a link to it. -ENOTBLK where it is no block device.
 */
int disk_usage_read(struct disk_usage *u, const char *root, const char *device,
		    struct err *e);

/* The disk that keeps @path: itself if it is a block device, else that of its
 * file system, as "/dev/sdb". "" where that is memory. -ENODEV: it cannot be
 * told (overlays, network file systems). */
int disk_below(const char *path, char *device, size_t size, struct err *e);

struct disk_share {
	double busy;  /* of the time with an I/O in it, 0..1. The kernel looks
			 once a tick: a disk of a few us seems busier */
	double queue; /* I/Os in it, mean */
};
bool disk_share_of(struct disk_share *s, const struct disk_usage *from,
		   const struct disk_usage *to);

#endif
