#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "workloads/jobfile.h"

static struct jobfile f;
static struct err e;

static int parse(const char *text)
{
	jobfile_release(&f);
	memset(&e, 0, sizeof(e));
	return jobfile_parse(&f, "x.fio", text, strlen(text), &e);
}

static int says(const char *text)
{
	if (!strcmp(e.text, text))
		return 1;
	printf("# \"%s\" instead of \"%s\"\n", e.text, text);
	return 0;
}

static int fails(const char *text, int code, const char *sentence)
{
	int ret = parse(text);

	if (ret != code)
		printf("# %d instead of %d for \"%s\"\n", ret, code, text);
	return ret == code && says(sentence) && !f.nr_sections;
}

/* --- files in a folder of their own --- */

static char folder[] = "/tmp/lunbench-jobfile.XXXXXX";

static const char *put(const char *name, const char *text)
{
	static char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out)
		abort();
	fputs(text, out);
	fclose(out);
	return path;
}

static int read_file(const char *name)
{
	char path[256];

	jobfile_release(&f);
	memset(&e, 0, sizeof(e));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return jobfile_read(&f, path, &e);
}

static int says_in_folder(const char *format)
{
	char text[512];

	snprintf(text, sizeof(text), format, folder, folder);
	return says(text);
}

static void test_sections(void)
{
	CU_ASSERT_EQUAL_FATAL(parse("[global]\n"
				    "bs=4k\n"
				    "\n"
				    "[ job one ]\n"
				    "rw=read\n"
				    "stonewall\n"
				    "[global-again]\n"
				    "[a]b]\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(f.nr_sections, 4);
	CU_ASSERT_TRUE(f.sections[0].is_global);
	CU_ASSERT_STRING_EQUAL(f.sections[1].name, "job one");
	CU_ASSERT_STRING_EQUAL(f.sections[1].place, "x.fio:4");
	CU_ASSERT_FALSE(f.sections[1].is_global);
	CU_ASSERT_TRUE(f.sections[2].is_global);
	CU_ASSERT_STRING_EQUAL(f.sections[3].name, "a]b");
	CU_ASSERT_EQUAL_FATAL(f.sections[1].nr_settings, 2);
	CU_ASSERT_STRING_EQUAL(f.sections[1].settings[0].key, "rw");
	CU_ASSERT_STRING_EQUAL(f.sections[1].settings[0].value, "read");
	CU_ASSERT_STRING_EQUAL(f.sections[1].settings[1].key, "stonewall");
	CU_ASSERT_STRING_EQUAL(f.sections[1].settings[1].place, "x.fio:6");
	CU_ASSERT_PTR_NULL(f.sections[1].settings[1].value);
}

static void test_text(void)
{
	const struct setting *s;

	/* A byte order mark, CR LF, blanks, comments, no last newline. */
	CU_ASSERT_EQUAL_FATAL(parse("\xef\xbb\xbf; first\r\n"
				    "  # second\r\n"
				    "\t[job] ; of ours\r\n"
				    "  bs = 4k \t; small\r\n"
				    "rw=read# not write\r\n"
				    "filename=/dev/disk\\:1\r\n"
				    "description=a = b [c]\r\n"
				    "name="),
			      0);
	CU_ASSERT_EQUAL_FATAL(f.nr_sections, 1);
	CU_ASSERT_STRING_EQUAL(f.sections[0].name, "job");
	CU_ASSERT_EQUAL_FATAL(f.sections[0].nr_settings, 5);
	s = f.sections[0].settings;
	CU_ASSERT_STRING_EQUAL(s[0].key, "bs");
	CU_ASSERT_STRING_EQUAL(s[0].value, "4k");
	CU_ASSERT_STRING_EQUAL(s[0].place, "x.fio:4");
	CU_ASSERT_STRING_EQUAL(s[1].value, "read");
	CU_ASSERT_STRING_EQUAL(s[2].value, "/dev/disk\\:1");
	CU_ASSERT_STRING_EQUAL(s[3].value, "a = b [c]");
	CU_ASSERT_STRING_EQUAL(s[4].value, "");
}

static void test_bad_text(void)
{
	CU_ASSERT_TRUE(fails("", -EINVAL,
			     "\"x.fio\" has no job; add a section such as "
			     "[job1]"));
	CU_ASSERT_TRUE(fails("[global]\nbs=4k\n", -EINVAL,
			     "\"x.fio\" has no job; add a section such as "
			     "[job1]"));
	CU_ASSERT_TRUE(fails("\nbs=4k\n[a]\n", -EINVAL,
			     "x.fio:2: \"bs\" stands before the first section; "
			     "begin with [global] or [name]"));
	CU_ASSERT_TRUE(fails("[a\n", -EINVAL,
			     "x.fio:1: \"[a\" is not a section; write [name]"));
	CU_ASSERT_TRUE(fails("[a] b\n", -EINVAL,
			     "x.fio:1: \"[a] b\" is not a section; write "
			     "[name]"));
	CU_ASSERT_TRUE(
		fails("[ ]\n", -EINVAL, "x.fio:1: the section has no name"));
	CU_ASSERT_TRUE(fails("[a]\n=4k\n", -EINVAL,
			     "x.fio:2: there is no key before the \"=\""));
	CU_ASSERT_TRUE(fails("[a]\nbs\x1b=4k\n", -EINVAL,
			     "x.fio:2: byte 0x1b at column 3; is this a text "
			     "file?"));
	CU_ASSERT_TRUE(fails("[a]\ninclude b.fio\n", -EINVAL,
			     "x.fio:2: include is not possible here"));
	CU_ASSERT_EQUAL(jobfile_parse(&f, "x.fio", "[a]\nb\0c", 7, &e),
			-EINVAL);
	CU_ASSERT_TRUE(says("x.fio:2: byte 0x00 at column 2; is this a text "
			    "file?"));
	CU_ASSERT_EQUAL(jobfile_parse(&f, "x.fio", "[", 1, NULL), -EINVAL);
}

static void test_long_line(void)
{
	size_t len = 1 << 20;
	char *text = malloc(len + 4);

	memcpy(text, "[a]\n", 4);
	memset(text + 4, 'x', len);
	CU_ASSERT_EQUAL(jobfile_parse(&f, "x.fio", text, len + 4, &e), -E2BIG);
	CU_ASSERT_TRUE(
		says("x.fio:2: the line is 1048576 bytes long; the limit "
		     "is 8192"));
	/* As long as may be, and a comment counts. */
	CU_ASSERT_EQUAL(jobfile_parse(&f, "x.fio", text, 8192 + 4, &e), 0);
	CU_ASSERT_EQUAL(strlen(f.sections[0].settings[0].key), 8192);
	jobfile_release(&f);
	free(text);
}

static void test_environment(void)
{
	const struct setting *s;

	setenv("LUNBENCH_TEST_BS", "64k", 1);
	unsetenv("LUNBENCH_TEST_NONE");
	CU_ASSERT_EQUAL_FATAL(
		parse("[a]\n"
		      "bs=${LUNBENCH_TEST_BS}\n"
		      "description=x${LUNBENCH_TEST_BS},${LUNBENCH_TEST_BS}y"
		      "${LUNBENCH_TEST_NONE}\n"
		      "filename=${LUNBENCH_TEST_NONE}\n"
		      "name=${open\n"
		      "${LUNBENCH_TEST_BS}=1\n"),
		0);
	s = f.sections[0].settings;
	CU_ASSERT_STRING_EQUAL(s[0].value, "64k");
	CU_ASSERT_STRING_EQUAL(s[1].value, "x64k,64ky");
	CU_ASSERT_STRING_EQUAL(s[2].value, "");
	CU_ASSERT_STRING_EQUAL(s[3].value, "${open");
	CU_ASSERT_STRING_EQUAL(s[4].key, "${LUNBENCH_TEST_BS}");
	CU_ASSERT_TRUE(fails("[a]\nbs=${LUNBENCH_TEST_NONE}\n", -EINVAL,
			     "x.fio:2: \"bs\" is empty: the environment "
			     "variable \"LUNBENCH_TEST_NONE\" is not set"));
}

static void test_long_environment(void)
{
	char big[5000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	setenv("LUNBENCH_TEST_BIG", big, 1);
	CU_ASSERT_TRUE(fails("[a]\nname=${LUNBENCH_TEST_BIG}"
			     "${LUNBENCH_TEST_BIG}\n",
			     -E2BIG,
			     "x.fio:2: the value is over 8192 bytes with its "
			     "environment variables"));
	unsetenv("LUNBENCH_TEST_BIG");
}

static void test_include(void)
{
	char text[512], *absolute;

	mkdir(strcat(strcpy(text, folder), "/sub"), 0700);
	absolute = strdup(put("abs.inc", "iodepth=7"));
	put("sub/leaf.inc", "numjobs=3\n");
	put("sub/twig.inc", "; comment\nbs=8k\ninclude leaf.inc\n");
	snprintf(text, sizeof(text),
		 "[a]\ninclude sub/twig.inc\ninclude=%s\nrw=read\n", absolute);
	put("main.fio", text);
	CU_ASSERT_EQUAL_FATAL(read_file("main.fio"), 0);
	CU_ASSERT_EQUAL_FATAL(f.sections[0].nr_settings, 4);
	CU_ASSERT_STRING_EQUAL(f.sections[0].settings[0].key, "bs");
	CU_ASSERT_STRING_EQUAL(f.sections[0].settings[1].key, "numjobs");
	snprintf(text, sizeof(text), "%s/sub/leaf.inc:1", folder);
	CU_ASSERT_STRING_EQUAL(f.sections[0].settings[1].place, text);
	CU_ASSERT_STRING_EQUAL(f.sections[0].settings[2].key, "iodepth");
	CU_ASSERT_STRING_EQUAL(f.sections[0].settings[3].key, "rw");
	free(absolute);
}

static void test_bad_include(void)
{
	char text[64];
	int i;

	put("missing.fio", "[a]\n\ninclude none.inc\n");
	CU_ASSERT_EQUAL(read_file("missing.fio"), -ENOENT);
	CU_ASSERT_TRUE(says_in_folder("%s/missing.fio:3: cannot include "
				      "\"%s/none.inc\": No such file or "
				      "directory"));
	put("self.fio", "[a]\ninclude self.fio\n");
	CU_ASSERT_EQUAL(read_file("self.fio"), -ELOOP);
	CU_ASSERT_TRUE(says_in_folder("%s/self.fio:2: \"%s/self.fio\" includes "
				      "itself; take one include out"));
	put("ring1.fio", "[a]\ninclude ring2.inc\n");
	put("ring2.inc", "include ring1.fio\n");
	CU_ASSERT_EQUAL(read_file("ring1.fio"), -ELOOP);
	put("nested.fio", "[a]\ninclude section.inc\n");
	put("section.inc", "bs=4k\n[b]\n");
	CU_ASSERT_EQUAL(read_file("nested.fio"), -EINVAL);
	CU_ASSERT_TRUE(says_in_folder("%s/section.inc:2: section [b] in an "
				      "included file; an included file may "
				      "hold only settings"));
	put("early.fio", "include section.inc\n[a]\n");
	CU_ASSERT_EQUAL(read_file("early.fio"), -EINVAL);
	put("empty.fio", "[a]\ninclude\n");
	CU_ASSERT_EQUAL(read_file("empty.fio"), -EINVAL);
	put("folder.fio", "[a]\ninclude .\n");
	CU_ASSERT_EQUAL(read_file("folder.fio"), -EISDIR);

	for (i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "deep%d.inc", i);
		snprintf(text, sizeof(text), "include deep%d.inc\n", i + 1);
		put(name, text);
	}
	put("deep.fio", "[a]\ninclude deep0.inc\n");
	CU_ASSERT_EQUAL(read_file("deep.fio"), -ELOOP);
	CU_ASSERT_TRUE(says_in_folder("%s/deep15.inc:1: more than 16 files "
				      "include each other"));
	/* 3^k files: without a limit it would never end. */
	for (i = 0; i < 12; i++) {
		char name[32];

		snprintf(name, sizeof(name), "wide%d.inc", i);
		snprintf(text, sizeof(text),
			 "include wide%d.inc\ninclude wide%d.inc\n", i + 1,
			 i + 1);
		put(name, text);
	}
	put("wide12.inc", "");
	put("wide.fio", "[a]\ninclude wide0.inc\n");
	CU_ASSERT_EQUAL(read_file("wide.fio"), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "more than 1000 files"));
}

static void test_bad_file(void)
{
	CU_ASSERT_EQUAL(read_file("absent.fio"), -ENOENT);
	CU_ASSERT_TRUE(says_in_folder("cannot open \"%s/absent.fio\": No such "
				      "file or directory"));
	CU_ASSERT_EQUAL(read_file("."), -EISDIR);
	CU_ASSERT_TRUE(says_in_folder("cannot read \"%s/.\": Is a directory"));
	put("nothing.fio", "");
	CU_ASSERT_EQUAL(read_file("nothing.fio"), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "has no job"));
	CU_ASSERT_EQUAL(f.nr_sections, 0);
	chmod(put("secret.fio", "[a]\n"), 0);
	if (!geteuid()) /* root may read all: be nobody for a moment */
		CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
	CU_ASSERT_EQUAL(read_file("secret.fio"), -EACCES);
	CU_ASSERT_TRUE(says_in_folder("cannot open \"%s/secret.fio\": "
				      "Permission denied"));
	if (!getuid())
		CU_ASSERT_EQUAL(seteuid(0), 0);
}

/* Last: the folder goes. */
static void test_clean(void)
{
	char command[64];

	jobfile_release(&f);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void test_folder(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

UNIT_TESTS("jobfile", {"sections and settings", test_sections},
	   {"blanks, comments, CR LF, BOM", test_text},
	   {"bad text", test_bad_text}, {"long line", test_long_line},
	   {"environment", test_environment},
	   {"long environment", test_long_environment},
	   {"a folder to work in", test_folder}, {"include", test_include},
	   {"bad include", test_bad_include}, {"bad file", test_bad_file},
	   {"clean up", test_clean})
