#include "commands/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "commands/commands.h"
#include "report/result.h"

/* DIR/JOB-20261130T120000Z.json; a second run in the same second gets -2. */
static void name_file(struct output *o, const char *folder,
		      const char *job_name)
{
	const char *between = folder[strlen(folder) - 1] == '/' ? "" : "/";
	char stamp[32];
	time_t now = time(NULL);
	struct stat st;
	struct tm tm;
	int n;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(o->path, sizeof(o->path), "%s%s%s-%s.json", folder, between,
		 job_name, stamp);
	for (n = 2; n < 1000 && !lstat(o->path, &st); n++)
		snprintf(o->path, sizeof(o->path), "%s%s%s-%s-%d.json", folder,
			 between, job_name, stamp, n);
}

/* A few KiB beside it: permissions, read-only mounts and a disk that is full
 * already all show here, also for root. */
static int try_to_write(const char *path)
{
	char probe[PATH_MAX + 16], block[4096];
	int fd, rc = 0;

	snprintf(probe, sizeof(probe), "%s.XXXXXX", path);
	fd = mkstemp(probe);
	if (fd < 0)
		return -errno;
	memset(block, ' ', sizeof(block));
	if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		rc = errno ? -errno : -ENOSPC;
	close(fd);
	unlink(probe);
	return rc;
}

int output_open(struct output *o, const struct request *r, const char *job_name)
{
	const char *folder = r->folder ? r->folder : "results";
	struct err e = {0};
	struct stat st;
	int rc;

	o->is_json = r->json;
	o->has_file = r->file || r->folder || !r->json;
	if (!o->has_file)
		return STATUS_OK;
	if (r->file) {
		snprintf(o->path, sizeof(o->path), "%s", r->file);
		if (!stat(o->path, &st) && S_ISDIR(st.st_mode)) {
			say("\"%s\": a folder; name a file with -o, or use "
			    "--out \"%s\"",
			    o->path, o->path);
			return STATUS_USAGE;
		}
	} else {
		if (file_make_dirs(folder, 0777, &e))
			return say_err(&e, STATUS_USAGE);
		name_file(o, folder, job_name);
	}
	rc = try_to_write(o->path);
	if (!rc)
		return STATUS_OK;
	say("\"%s\": the result cannot be written there: %s; nothing was "
	    "measured; name another place with -o FILE or --out DIR",
	    o->path, strerror(-rc));
	return STATUS_USAGE;
}

/* Under a name of its own: results of a set have one base name, and nothing
 * that lies there is replaced. */
static int make_elsewhere(const struct output *o, char path[PATH_MAX])
{
	static const char end[] = ".json";
	const char *tmp = getenv("TMPDIR"), *slash = strrchr(o->path, '/');
	const char *base = slash ? slash + 1 : o->path;
	size_t len = strlen(base), tail = strlen(end);
	int fd;

	if (len > tail && !strcmp(base + len - tail, end))
		len -= tail;
	snprintf(path, PATH_MAX, "%s/%.*s-XXXXXX%s", tmp && *tmp ? tmp : "/tmp",
		 (int)len, base, end);
	fd = mkstemps(path, tail);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int rescue(struct output *o, const json_t *result)
{
	char path[PATH_MAX];
	struct err e = {0};
	int err = make_elsewhere(o, path);

	if (err)
		err_set(&e, err, "cannot make \"%s\": %s", path,
			strerror(-err));
	else if (result_write(result, path, &e))
		unlink(path);
	if (e.code) {
		say_err(&e, STATUS_TARGET);
		say("the result could not be kept anywhere");
		return STATUS_TARGET;
	}
	say("the result was kept in \"%s\" instead; move it from there", path);
	snprintf(o->path, sizeof(o->path), "%s", path);
	return STATUS_TARGET;
}

int output_write(struct output *o, const json_t *result)
{
	int status = STATUS_OK;
	struct err e = {0};
	char *text;

	if (o->has_file && result_write(result, o->path, &e)) {
		say_err(&e, STATUS_TARGET);
		status = rescue(o, result);
	}
	if (!o->is_json)
		return status;
	text = result_format(result, &e);
	if (!text)
		return say_err(&e, STATUS_TARGET);
	if (fputs(text, stdout) == EOF || fflush(stdout)) {
		say("stdout: the result could not be written: %s",
		    strerror(errno));
		status = STATUS_TARGET;
	}
	free(text);
	return status;
}
