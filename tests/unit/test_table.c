#include "tests/unit/unit.h"

#include <errno.h>

#include "report/table.h"
#include "tests/unit/result_sample.h"

/* The table of @s at @width; the caller frees it. */
static char *print(struct sample *s, unsigned int width)
{
	json_t *d = result_build(&s->in, NULL);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	table_print(d, width, out);
	fclose(out);
	json_decref(d);
	return text;
}

static bool shows(const char *text, const char *what)
{
	const char *line, *end;

	if (strstr(text, what))
		return true;
	printf("# no \"%s\" in:\n", what);
	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		printf("# %.*s\n", (int)(end - line), line);
	}
	return false;
}

/* The longest line that belongs to the table: between the heading that holds
 * "MB/s" and the next empty line, in bytes (all is ASCII here). */
static size_t widest(const char *text)
{
	const char *line = strstr(text, "MB/s");
	size_t n, most = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	while (line > text && line[-1] != '\n')
		line--;
	for (; *line && *line != '\n'; line += n + 1) {
		n = strcspn(line, "\n");
		most = n > most ? n : most;
	}
	return most;
}

static void test_golden(void)
{
	static const char golden[] =
		"LUN     IET VIRTUAL-DISK 0001, serial beaf11, 1 GiB, blocks "
		"of "
		"512 B\n"
		"URL     iscsi://10.0.0.5/iqn.2026-11.dev.example:disk/1\n"
		"target  store rdwr, durable yes\n"
		"run     sample.fio, seed 42, 1 worker, "
		"2026-01-01T00:00:00.005Z, 18.0 s\n"
		"\n"
		"Latency is service time, submitted to done; in rows with * "
		"(at a set rate) it is\n"
		"response time, due to done.\n"
		"name   op    block  QD MB/s IOPS   mean    p50   p99 p99.9  "
		" "
		"max CPU/IO\n"
		"mixed  read   4KiB 2x4 20.5 5000 89.8us 77.6us 235us 329us "
		"437us 5.12us\n"
		"mixed  write  4KiB 2x4 10.2 2500 89.8us 77.6us 233us 327us "
		"436us 5.12us\n"
		"mixed  flush     - 2x4    -  312 90.1us 78.6us 238us 329us "
		"380us 5.12us\n"
		"paced* read  64KiB   8 65.5 1000  111us 98.6us 248us 339us "
		"504us  100us\n"
		"trims  trim   1MiB   1 1049 1000 90.5us 78.6us 246us 368us "
		"401us  200us\n"
		"\n"
		"limit   mixed: not known: what held up each command's 89.8 us "
		"cannot be told:\n"
		"        neither the target nor the way to it was seen\n"
		"limit   paced: pace: the job asks for no more: its rate or "
		"thinktime kept 0.1 of\n"
		"        8 slots in use, and none waited for another\n"
		"limit   trims: not known: what held up each command's 90.5 us "
		"cannot be told:\n"
		"        neither the target nor the way to it was seen\n"
		"\n";
	struct sample s;
	char *text;

	sample_init(&s);
	text = print(&s, 0);
	CU_ASSERT_STRING_EQUAL(text, golden);
	if (strcmp(text, golden) != 0)
		shows(text, "(the golden text)");
	CU_ASSERT_TRUE(widest(text) <= 80);
	free(text);
	sample_release(&s);
}

static void test_widths(void)
{
	static char long_name[] = "a-name-of-forty-characters-and-some-more";
	static const unsigned int widths[] = {200, 120, 100, 80, 72, 60, 40};
	struct sample s;
	char *text;
	size_t i;

	sample_init(&s);
	s.rows[0].name = long_name;
	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		text = print(&s, widths[i]);
		CU_ASSERT_TRUE(widest(text) <= widths[i]);
		CU_ASSERT_TRUE(shows(text, long_name));
		CU_ASSERT_TRUE(shows(text, "p99"));
		free(text);
	}
	/* Wide enough: the name beside its figures; else above them, once. */
	text = print(&s, 120);
	CU_ASSERT_TRUE(shows(text, "-some-more  read"));
	free(text);
	text = print(&s, 80);
	CU_ASSERT_TRUE(shows(text, "-some-more\n  read"));
	*strstr(text, "\nlimit") = '\0';
	CU_ASSERT_PTR_NULL(strstr(strstr(text, long_name) + 1, long_name));
	free(text);
	sample_release(&s);
}

/* What targets call themselves may be long: no line of the head is wider. */
static void test_head(void)
{
	static char array[] = "raid10", members[] = "8 disks of 1000.20 GB, "
						    "each a Seagate Barracuda "
						    "of some years";
	struct sample s;
	const char *line;
	char *text;

	sample_init(&s);
	strcpy(s.plan.lun.vendor, "SYNOLOGY");
	strcpy(s.plan.lun.product, "iSCSI Storage");
	strcpy(s.plan.lun.serial, "74a1fc0b-2b6c-4a6f-9a6b-0123456789ab");
	s.target[0] = (struct fact){(char *)"array", array};
	s.target[1] = (struct fact){(char *)"members", members};
	text = print(&s, 80);
	for (line = text; *line && *line != '\n';
	     line += strcspn(line, "\n") + 1)
		CU_ASSERT(strcspn(line, "\n") <= 80);
	CU_ASSERT_TRUE(shows(text, "LUN     SYNOLOGY iSCSI Storage 0001, "
				   "serial\n        74a1fc0b"));
	CU_ASSERT_TRUE(shows(text, "target  array raid10, members 8 disks"));
	free(text);
	sample_release(&s);
}

static void test_events_and_warnings(void)
{
	struct sample s;
	size_t i;
	char *text;

	sample_init(&s);
	s.run.end = RUN_INTERRUPTED;
	sample_event(&s, 1500 * NS_PER_MSEC, EVENT_DISCONNECT,
		     "session 1 lost");
	for (i = 0; i < 30; i++)
		sample_event(&s, 2 * NS_PER_SEC, EVENT_NOTICE, "again");
	text = print(&s, 80);
	CU_ASSERT_TRUE(shows(text, "\nat 1.50 s: session 1 lost\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "group 0 started"));
	CU_ASSERT_TRUE(shows(text, "... and 11 more events"));
	CU_ASSERT_TRUE(shows(text, "\nwarning: the run was interrupted after"));
	free(text);
	sample_release(&s);
}

static void test_nothing_measured(void)
{
	struct sample s;
	char *text;

	sample_init(&s);
	run_result_release(&s.run);
	text = print(&s, 80);
	CU_ASSERT_TRUE(shows(text, "paced*  read"));
	CU_ASSERT_TRUE(shows(text, "warning: row \"paced\": never ran"));
	free(text);
	sample_release(&s);
}

static void test_unlike_sizes_and_depths(void)
{
	struct sample s;
	char *text;

	sample_init(&s);
	s.run.rows[2].meter.op[OP_TRIM].bytes += 512;
	s.clients[1].job = 1; /* depth 8 beside 4 */
	text = print(&s, 80);
	CU_ASSERT_TRUE(shows(text, " ~1"));
	CU_ASSERT_TRUE(shows(text, " ~12 "));
	free(text);
	sample_release(&s);
}

/* Texts from a target must not steer the terminal; letters stay. */
static void test_control_characters(void)
{
	static char name[] = "\x1b[31mred\xc2\x9b"
			     "2J",
		    umlaut[] = "gr\xc3\xb6sse";
	struct sample s;
	char *text;

	sample_init(&s);
	s.rows[0].name = name;
	s.rows[1].name = umlaut;
	text = print(&s, 80);
	CU_ASSERT_PTR_NULL(strchr(text, '\x1b'));
	CU_ASSERT_PTR_NULL(strstr(text, "\xc2\x9b"));
	CU_ASSERT_TRUE(shows(text, "?[31mred?2J"));
	/* One character, though two bytes: columns stay in line. */
	CU_ASSERT_TRUE(shows(text, "gr\xc3\xb6sse*     read"));
	free(text);
	sample_release(&s);
}

UNIT_TESTS("table", {"golden", test_golden}, {"widths", test_widths},
	   {"head", test_head},
	   {"events and warnings", test_events_and_warnings},
	   {"nothing measured", test_nothing_measured},
	   {"unlike sizes and depths", test_unlike_sizes_and_depths},
	   {"control characters", test_control_characters})
