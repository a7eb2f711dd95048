#include "report/environment.h"

#include <ctype.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The value of the first line "KEY : value" of @path; "" if there is none. */
static void read_field(const char *path, const char *key, char *value,
		       size_t size)
{
	FILE *f = fopen(path, "re");
	char line[512];
	char *text;

	value[0] = '\0';
	while (f && !value[0] && fgets(line, sizeof(line), f)) {
		text = strchr(line, ':');
		if (!text || strncmp(line, key, strlen(key)) != 0)
			continue;
		text += 1 + strspn(text + 1, " \t");
		text[strcspn(text, "\n")] = '\0';
		snprintf(value, size, "%s", text);
	}
	if (f)
		fclose(f);
}

/* The version of a shared library that we run with, from the name of the file
 * that is mapped: /usr/lib/.../libiscsi.so.9.0.0. libiscsi has no call that
 * tells. Nothing is written where it is linked in. */
static void put_library(struct put *p, json_t *o, const char *name)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024], file[64];
	char *found = NULL;

	snprintf(file, sizeof(file), "/%s.so.", name);
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = strstr(line, file);
		if (found) {
			found += strlen(file);
			found[strspn(found, "0123456789.")] = '\0';
			put_text(p, o, name, found);
		}
	}
	if (f)
		fclose(f);
}

static void put_libraries(struct put *p, json_t *host)
{
	static const char *const names[] = {"libiscsi", "libjansson",
					    "liburing", "libblkid"};
	json_t *o = put_object(p, host, "libraries");
	size_t i;

	put_text(p, o, "libc", gnu_get_libc_version());
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_library(p, o, names[i]);
}

static void put_cpus(struct put *p, json_t *host)
{
	char model[256];
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	read_field("/proc/cpuinfo", "model name", model, sizeof(model));
	put_text(p, host, "cpu_model", model);
	put_int(p, host, "cpus", online > 0 ? online : 0);
	/* What taskset or a container leaves us; fails on huge machines. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		put_int(p, host, "cpus_usable", CPU_COUNT(&set));
	else
		put_int(p, host, "cpus_usable", online > 0 ? online : 0);
}

static void put_start(struct put *p, json_t *host, uint64_t wall_ns)
{
	time_t seconds = wall_ns / NS_PER_SEC;
	unsigned int ms = wall_ns % NS_PER_SEC / NS_PER_MSEC;
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		text[0] = '\0';
	put_format(p, host, "start_time", "%s.%03uZ", text, ms);
}

void environment_put(struct put *p, json_t *lunbench, uint64_t start_wall_ns)
{
	json_t *host = put_object(p, lunbench, "host");
	struct utsname u;

	put_start(p, host, start_wall_ns);
	if (uname(&u) != 0)
		memset(&u, 0, sizeof(u));
	put_text(p, host, "hostname", u.nodename);
	put_format(p, host, "kernel", "%s %s", u.sysname, u.release);
	put_text(p, host, "machine", u.machine);
	put_cpus(p, host);
	if (getenv("LUNBENCH_LAB")) /* set by vm/lab.c */
		put_text(p, host, "lab", getenv("LUNBENCH_LAB"));
	put_int(p, host, "pid", getpid());
	put_text(p, host, "compiler", __VERSION__);
	put_libraries(p, host);
}
