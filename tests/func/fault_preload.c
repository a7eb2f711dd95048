/*
 * LD_PRELOAD under tgtd's rdwr store: faults at chosen places of its files.
 * The file that FAULT_CTL names is read again at each call; its lines are
 *
 *	OP OFFSET LENGTH KIND [ARG]
 *
 * OP r (pread), w (pwrite) or s (fdatasync, whose range does not matter); KIND
 * eio, enospc, delay MILLISECONDS, short (half of it), flip (the first bit of
 * the range, after a read), drop (a write that is not made), torn (only its
 * first half is made), misdir BYTES (it goes that much further on).
 *
 * Each call adds a line "OP OFFSET LENGTH" to the file that FAULT_LOG names, if
 * it names one: what the target really did.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct fault {
	char op, kind[16];
	long long offset, length, arg;
};

static int is_hit(const struct fault *f, char op, off_t offset, size_t length)
{
	if (f->op != op)
		return 0;
	return op == 's' || (offset < f->offset + f->length &&
			     (long long)(offset + length) > f->offset);
}

/* One write() each: lines of threads do not mix. */
static void note_call(char op, off_t offset, size_t length)
{
	const char *path = getenv("FAULT_LOG");
	char line[64];
	int fd, n;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	n = snprintf(line, sizeof(line), "%c %lld %zu\n", op, (long long)offset,
		     length);
	if (fd < 0 || write(fd, line, n) != n)
		abort();
	close(fd);
}

/* The first fault that this call meets; kind "" when none. Delays are served
 * here. */
static struct fault meet(char op, off_t offset, size_t length)
{
	const char *path = getenv("FAULT_CTL");
	FILE *in = path ? fopen(path, "r") : NULL;
	struct fault f, found = {.kind = ""};
	char line[128];

	note_call(op, offset, length);
	while (in && fgets(line, sizeof(line), in)) {
		f.arg = 0;
		if (sscanf(line, "%c %lld %lld %15s %lld", &f.op, &f.offset,
			   &f.length, f.kind, &f.arg) < 4 ||
		    !is_hit(&f, op, offset, length))
			continue;
		if (strcmp(f.kind, "delay") == 0)
			usleep(f.arg * 1000);
		else if (!found.kind[0])
			found = f;
	}
	if (in)
		fclose(in);
	return found;
}

/* -1 with errno, or 0 to go on. */
static int fail(const struct fault *f)
{
	if (strcmp(f->kind, "eio") == 0)
		errno = EIO;
	else if (strcmp(f->kind, "enospc") == 0)
		errno = ENOSPC;
	else
		return 0;
	return -1;
}

typedef ssize_t pread_fn(int fd, void *buf, size_t n, off_t offset);
typedef ssize_t pwrite_fn(int fd, const void *buf, size_t n, off_t offset);
typedef int fdatasync_fn(int fd);

ssize_t pread64(int fd, void *buf, size_t n, off_t offset)
{
	pread_fn *next = (pread_fn *)dlsym(RTLD_NEXT, "pread64");
	struct fault f = meet('r', offset, n);

	if (fail(&f))
		return -1;
	if (strcmp(f.kind, "short") == 0)
		return next(fd, buf, n / 2, offset);
	if (strcmp(f.kind, "flip") == 0) {
		ssize_t got = next(fd, buf, n, offset);

		if (got > 0)
			((char *)buf)[f.offset > offset ? f.offset - offset
							: 0] ^= 1;
		return got;
	}
	return next(fd, buf, n, offset);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off_t offset)
{
	pwrite_fn *next = (pwrite_fn *)dlsym(RTLD_NEXT, "pwrite64");
	struct fault f = meet('w', offset, n);

	if (fail(&f))
		return -1;
	if (strcmp(f.kind, "drop") == 0)
		return n;
	if (strcmp(f.kind, "torn") == 0)
		return next(fd, buf, n / 2, offset) < 0 ? -1 : (ssize_t)n;
	if (strcmp(f.kind, "misdir") == 0)
		offset += f.arg;
	if (strcmp(f.kind, "short") == 0)
		n /= 2;
	return next(fd, buf, n, offset);
}

int fdatasync(int fd)
{
	fdatasync_fn *next = (fdatasync_fn *)dlsym(RTLD_NEXT, "fdatasync");
	struct fault f = meet('s', 0, 0);

	return fail(&f) ? -1 : next(fd);
}
