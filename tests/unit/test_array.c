#include <errno.h>

#include "base/clock.h"
#include "commands/array_watch.h"
#include "target/array.h"
#include "target/md_state.h"
#include "target/md_watch.h"
#include "tests/unit/unit.h"

/* Arrays, without one: what is refused, what is seen. */

/* --- what is asked --- */

static void test_refused(void)
{
	static const struct {
		const char *kind, *members, *layout;
		uint64_t chunk;
		unsigned int cache, sync;
		const char *text; /* NULL: fine */
	} t[] = {
		{"raid5", "3x16M@hdd", "", 0, 0, 0, NULL},
		{"raid5", "/dev/a,/dev/b,/dev/c", "ls", 65536, 512, 99, NULL},
		{"raid10+crypt", "3x1G", "o3", 0, 0, 0, NULL},
		{"raid0", "24x16M", "", 16 << 20, 0, 0, NULL},
		{"raid5", "2x64M", "", 0, 0, 0,
		 "raid5 needs 3 members or more, \"2x64M\" gives 2"},
		{"raid6+crypt", "/dev/a,/dev/b,/dev/c", "", 0, 0, 0,
		 "raid6 needs 4 members or more, \"/dev/a,/dev/b,/dev/c\" "
		 "gives 3"},
		{"raid1", "0x64M", "", 0, 0, 0, "0 of them, and 1 to 24"},
		{"jbod", "25x64M", "", 0, 0, 0, "25 of them, and 1 to 24"},
		{"jbod", "99999999999x64M", "", 0, 0, 0, "write /dev/sdb"},
		{"jbod", "/dev/a,,/dev/b", "", 0, 0, 0, "a name is missing"},
		{"jbod", "/dev/a,", "", 0, 0, 0, "a name is missing"},
		{"jbod", "twox64M", "", 0, 0, 0, "write /dev/sdb"},
		{"jbod", "64M", "", 0, 0, 0, "write /dev/sdb"},
		{"jbod", "2x64", "", 0, 0, 0, "whole MiB"},
		{"jbod", "2x8M", "", 0, 0, 0, "16M or more"},
		{"jbod", "2x50%", "", 0, 0, 0, "whole MiB"},
		{"jbod", "2x16000000T", "", 0, 0, 0, "no disk is so large"},
		{"jbod", "2x64M@tape", "", 0, 0, 0,
		 "\"tape\" is no disk model; there are: hdd"},
		{"raid7", "4x64M", "", 0, 0, 0, "there are: single, jbod"},
		{"raid5+zip", "4x64M", "", 0, 0, 0, "is no array"},
		{"", "4x64M", "", 0, 0, 0, "is no array"},
		{"raid5", "", "", 0, 0, 0, "say of what with --members"},
		{"raid5", "3x16M", "n2", 0, 0, 0, "there are: left-asymmetric"},
		{"raid5", "3x16M", "left", 0, 0, 0, "is no layout of raid5"},
		{"raid5", "3x16M", "ls rs", 0, 0, 0, "is no layout"},
		{"raid10", "2x16M", "n3", 0, 0, 0,
		 "\"n3\" is no layout of raid10 over 2 members"},
		{"raid10", "2x16M", "left-symmetric", 0, 0, 0, "write n2"},
		{"raid10", "2x16M", "n", 0, 0, 0, "write n2"},
		{"raid1", "2x16M", "n2", 0, 0, 0, "raid1 has no layout"},
		{"raid0", "2x16M", "", 48 << 10, 0, 0, "power of two"},
		{"raid0", "2x16M", "", 32 << 20, 0, 0,
		 "a chunk of 32 MiB is larger than a member of 16 MiB"},
		{"raid1", "2x16M", "", 65536, 0, 0, "raid1 has no chunk"},
		{"span", "2x16M", "", 65536, 0, 0, "span has no chunk"},
		{"raid10", "2x16M", "", 0, 256, 0, "has no stripe cache"},
		{"raid6", "4x16M", "", 0, 16, 0, "md takes 17 to 32768"},
		{"raid6", "4x16M", "", 0, 32769, 0, "md takes 17 to 32768"},
		{"raid0", "2x16M", "", 0, 0, 1000, "has no redundancy"},
	};
	struct array_opts o;
	struct err e;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		memset(&o, 0, sizeof(o));
		memset(&e, 0, sizeof(e));
		snprintf(o.kind, sizeof(o.kind), "%s", t[i].kind);
		snprintf(o.members, sizeof(o.members), "%s", t[i].members);
		snprintf(o.layout, sizeof(o.layout), "%s", t[i].layout);
		o.chunk_bytes = t[i].chunk;
		o.stripe_cache = t[i].cache;
		o.sync_kib = t[i].sync;
		CU_ASSERT_EQUAL(array_check(&o, &e), t[i].text ? -EINVAL : 0);
		if (!t[i].text || strstr(e.text, t[i].text))
			continue;
		printf("# %zu: \"%s\" is not in \"%s\"\n", i, t[i].text,
		       e.text);
		CU_FAIL("not the sentence");
	}
}

/* As sizes were seen in a guest (mdadm 4.2, cryptsetup 2.6). */
static void test_least_bytes(void)
{
	static const struct {
		const char *kind, *members;
		uint64_t seen_mib;
	} t[] = {
		{"single", "4x16M@ram", 16},   {"jbod", "4x1100M@ram", 1100},
		{"span", "4x16M", 60},	       {"raid0", "4x16M@hdd", 56},
		{"raid1", "4x16M", 15},	       {"raid5", "4x16M", 42},
		{"raid10+crypt", "4x16M", 12}, {"span", "4x256M", 1020},
		{"raid1", "4x256M", 255},      {"raid5", "4x256M", 762},
		{"raid6", "4x256M", 508},      {"span+crypt", "4x256M", 1004},
		{"raid0", "4x1100M", 4392},    {"raid10", "4x1100M", 2196},
		{"raid5", "4x1100M", 3294},
	};
	struct array_opts o = {.kind = "raid10", .members = "3x64M"};
	uint64_t least;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		o = (struct array_opts){0};
		strcpy(o.kind, t[i].kind);
		strcpy(o.members, t[i].members);
		least = array_least_bytes(&o) >> 20;
		CU_ASSERT_TRUE(least <= t[i].seen_mib);
		/* Little is given away: what rounding takes, and md's head. */
		CU_ASSERT_TRUE(least + 16 >= t[i].seen_mib);
		CU_ASSERT_EQUAL(least % 4, 0);
	}
	o = (struct array_opts){.kind = "raid10", .members = "3x64M"};
	strcpy(o.layout, "n3");
	CU_ASSERT_TRUE(array_least_bytes(&o) <= 64 << 20);
	o = (struct array_opts){.kind = "raid1", .members = "/dev/a,/dev/b"};
	CU_ASSERT_EQUAL(array_least_bytes(&o), 0);
	o = (struct array_opts){.kind = "raid5", .members = "2x64M"};
	CU_ASSERT_EQUAL(array_least_bytes(&o), 0);
}

static void test_steps(void)
{
	static const char *const bad[] = {
		"10s", ":2", "10s:", "soon:2", "-1:2", ""};
	struct array_opts o = {.kind = "raid5", .members = "3x16M@ram"};
	struct array_steps s = {0};
	struct err e = {0};

	CU_ASSERT_EQUAL(array_steps_add(&s, true, "20:2", &e), 0);
	CU_ASSERT_EQUAL(array_steps_add(&s, false, "1500ms:2", &e), 0);
	CU_ASSERT_EQUAL(array_steps_add(&s, false, "20s:1", &e), 0);
	CU_ASSERT_EQUAL_FATAL(s.nr, 3);
	CU_ASSERT_EQUAL(s.step[0].at_ns, 1500 * NS_PER_MSEC);
	CU_ASSERT_TRUE(s.step[1].is_replace);
	CU_ASSERT_FALSE(s.step[2].is_replace);
	CU_ASSERT_STRING_EQUAL(s.step[2].member, "1");
	CU_ASSERT_EQUAL(array_steps_check(&s, &o, &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_NOT_EQUAL(array_steps_add(&s, true, bad[i], &e), 0);
	CU_ASSERT_EQUAL(array_steps_add(&s, false, "1:3", &e), 0);
	CU_ASSERT_EQUAL(array_steps_check(&s, &o, &e), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "--fail: \"3\" is no member"));
	s.nr = 1;
	strcpy(o.kind, "raid0");
	CU_ASSERT_EQUAL(array_steps_check(&s, &o, &e), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "raid0 can fail: it has no"));
	o.kind[0] = '\0';
	CU_ASSERT_EQUAL(array_steps_check(&s, &o, &e), -EINVAL);
	s.nr = 0;
	CU_ASSERT_EQUAL(array_steps_check(&s, &o, &e), 0);
	while (s.nr < ARRAY_STEPS_MAX)
		CU_ASSERT_EQUAL_FATAL(array_steps_add(&s, true, "1:1", &e), 0);
	CU_ASSERT_EQUAL(array_steps_add(&s, true, "1:1", &e), -EINVAL);
}

static void test_steps_left(void)
{
	struct array_steps s = {0};
	struct array_watch w = {.steps = &s};
	struct err e = {0};

	CU_ASSERT_TRUE(array_watch_end(&w, &e));
	array_steps_add(&s, false, "5:1", &e);
	array_steps_add(&s, true, "100s:1", &e);
	w.nr_done = 1;
	CU_ASSERT_FALSE(array_watch_end(&w, &e));
	CU_ASSERT_STRING_EQUAL(e.text, "--replace 1 min 40 s:1 was not done: "
				       "the run ended before");
	w.nr_done = 2;
	CU_ASSERT_TRUE(array_watch_end(&w, &e));
	err_set(&w.failed, -EINVAL, "the first");
	CU_ASSERT_FALSE(array_watch_end(&w, &e));
	CU_ASSERT_STRING_EQUAL(e.text, "the first");
}

/* --- what an array outlives --- */

/* "1101": members that are in sync. */
static bool survives(const char *level, unsigned int layout, const char *good)
{
	bool is_good[DISKS_MAX];
	size_t nr = strlen(good);

	for (size_t i = 0; i < nr; i++)
		is_good[i] = good[i] == '1';
	return md_survives(level, layout, is_good, nr);
}

static void test_survives(void)
{
	const unsigned int n2 = 0x102, n3 = 0x103, f2 = 0x201, o2 = 0x10201;

	CU_ASSERT_TRUE(survives("raid5", 2, "1011"));
	CU_ASSERT_FALSE(survives("raid5", 2, "1010"));
	CU_ASSERT_TRUE(survives("raid6", 2, "1010"));
	CU_ASSERT_FALSE(survives("raid6", 2, "0010"));
	CU_ASSERT_TRUE(survives("raid1", 0, "001"));
	CU_ASSERT_FALSE(survives("raid1", 0, "000"));
	CU_ASSERT_FALSE(survives("raid0", 0, "10"));
	CU_ASSERT_FALSE(survives("linear", 0, "10"));
	CU_ASSERT_TRUE(survives("raid10", n2, "1010"));
	CU_ASSERT_TRUE(survives("raid10", n2, "0101"));
	CU_ASSERT_FALSE(survives("raid10", n2, "0011"));
	CU_ASSERT_FALSE(survives("raid10", n2, "1100"));
	/* Three members: pairs go around. */
	CU_ASSERT_TRUE(survives("raid10", n2, "101"));
	CU_ASSERT_FALSE(survives("raid10", n2, "001"));
	CU_ASSERT_TRUE(survives("raid10", n3, "0110"));
	CU_ASSERT_FALSE(survives("raid10", n3, "0010"));
	CU_ASSERT_TRUE(survives("raid10", f2, "0101"));
	CU_ASSERT_FALSE(survives("raid10", f2, "0110"));
	CU_ASSERT_FALSE(survives("raid10", o2, "1001"));
	CU_ASSERT_FALSE(survives("raid10", 0, "11"));
}

static void test_progress(void)
{
	CU_ASSERT_DOUBLE_EQUAL(md_progress("16384 / 65536"), 0.25, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(md_progress("0 / 65536"), 0, 1e-9);
	CU_ASSERT_TRUE(md_progress("none") < 0);
	CU_ASSERT_TRUE(md_progress("delayed") < 0);
	CU_ASSERT_TRUE(md_progress("5 / 0") < 0);
	CU_ASSERT_TRUE(md_progress("") < 0);
}

/* --- what is seen --- */

static char told[2048];

static void tell(void *user, const char *text)
{
	size_t n = strlen(told);

	CU_ASSERT_PTR_EQUAL(user, told);
	snprintf(told + n, sizeof(told) - n, "%s\n", text);
}

/* @states: a letter a member: I in sync, R rebuilding, F faulty, A away. */
static const char *see(struct md_watch *w, const char *states,
		       const char *action, uint64_t at_ms)
{
	struct md_look l = {0};

	for (size_t i = 0; states[i]; i++)
		l.member[i] = states[i] == 'I'	 ? MD_IN_SYNC
			      : states[i] == 'R' ? MD_REBUILDING
			      : states[i] == 'F' ? MD_FAULTY
						 : MD_AWAY;
	snprintf(l.action, sizeof(l.action), "%s", action);
	told[0] = '\0';
	md_watch_see(w, &l, at_ms * NS_PER_MSEC, tell, told);
	return told;
}

static struct md_watch of_three(void)
{
	struct md_watch w = {.nr = 3, .mdstat = -1};

	strcpy(w.member[0], "/dev/a");
	strcpy(w.member[1], "/dev/b");
	strcpy(w.member[2], "/dev/c");
	see(&w, "III", "idle", 0);
	return w;
}

static void test_sees_a_rebuild(void)
{
	struct md_watch w = of_three();

	CU_ASSERT_STRING_EQUAL(see(&w, "III", "idle", 500), "");
	CU_ASSERT_STRING_EQUAL(see(&w, "IFI", "idle", 1000),
			       "member 1 (/dev/b) failed\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "IAI", "idle", 2000),
			       "member 1 (/dev/b) was taken out\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "IRI", "recover", 3000),
			       "member 1 (/dev/b) is there as a blank disk\n"
			       "rebuild of member 1 starts\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "IRI", "recover", 4000), "");
	CU_ASSERT_STRING_EQUAL(see(&w, "III", "idle", 5500),
			       "rebuild of member 1 is done after 2.50 s\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "III", "idle", 6000), "");
}

static void test_sees_a_rebuild_that_fails(void)
{
	struct md_watch w = of_three();

	see(&w, "IAI", "idle", 1000);
	see(&w, "IRI", "recover", 2000);
	CU_ASSERT_STRING_EQUAL(see(&w, "IFI", "idle", 2500),
			       "rebuild of member 1 was stopped after 500 ms\n"
			       "member 1 (/dev/b) failed\n");
}

static void test_sees_what_is_fast(void)
{
	struct md_watch w = of_three();

	CU_ASSERT_STRING_EQUAL(see(&w, "AII", "idle", 1000),
			       "member 0 (/dev/a) failed and was taken out\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "III", "idle", 2000),
			       "member 0 (/dev/a) is rebuilt\n");
}

static void test_sees_two_and_other_actions(void)
{
	struct md_watch w = of_three();

	CU_ASSERT_STRING_EQUAL(see(&w, "FFI", "idle", 1000),
			       "member 0 (/dev/a) failed\n"
			       "member 1 (/dev/b) failed\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "RRI", "recover", 2000),
			       "member 0 (/dev/a) is there as a blank disk\n"
			       "member 1 (/dev/b) is there as a blank disk\n"
			       "rebuild of members 0, 1 starts\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "III", "check", 4000),
			       "rebuild of members 0, 1 is done after 2.00 s\n"
			       "check starts\n");
	CU_ASSERT_STRING_EQUAL(see(&w, "III", "idle", 5000),
			       "check ended after 1.00 s\n");
}

UNIT_TESTS("array", {"what is refused", test_refused},
	   {"at least that large", test_least_bytes}, {"steps", test_steps},
	   {"steps that were not done", test_steps_left},
	   {"what an array outlives", test_survives},
	   {"progress", test_progress}, {"sees a rebuild", test_sees_a_rebuild},
	   {"sees a rebuild that fails", test_sees_a_rebuild_that_fails},
	   {"sees what is fast", test_sees_what_is_fast},
	   {"sees two, and other actions", test_sees_two_and_other_actions})
