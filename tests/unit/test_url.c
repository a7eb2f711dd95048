#include "initiator/url.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct url u;
static struct err e;
static char warning[256];

static void clean_environment(void)
{
	unsetenv("LIBISCSI_CHAP_USERNAME");
	unsetenv("LIBISCSI_CHAP_PASSWORD");
	unsetenv("LIBISCSI_CHAP_TARGET_USERNAME");
	unsetenv("LIBISCSI_CHAP_TARGET_PASSWORD");
	unsetenv("LUNBENCH_CHAP_FILE");
}

static int parse(const char *text)
{
	clean_environment();
	memset(&e, 0, sizeof(e));
	return url_parse(&u, text, true, warning, &e);
}

/* Refused, and the sentence holds @part. */
static bool refused(const char *text, const char *part)
{
	int ret = parse(text);

	if (ret == -EINVAL && strstr(e.text, part))
		return true;
	printf("# %s -> %d \"%s\", wanted \"%s\"\n", text, ret, e.text, part);
	return false;
}

static void test_parts(void)
{
	CU_ASSERT_EQUAL(parse("iscsi://nas.local/iqn.2026-11.x:t/7"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "iscsi");
	CU_ASSERT_STRING_EQUAL(u.host, "nas.local");
	CU_ASSERT_EQUAL(u.port, 3260);
	CU_ASSERT_STRING_EQUAL(u.target, "iqn.2026-11.x:t");
	CU_ASSERT_TRUE(u.has_lun);
	CU_ASSERT_EQUAL(u.lun, 7);
	CU_ASSERT_STRING_EQUAL(u.display,
			       "iscsi://nas.local/iqn.2026-11.x:t/7");

	CU_ASSERT_EQUAL(parse("iscsi://127.0.0.1:3321/foo/16383"), 0);
	CU_ASSERT_EQUAL(u.port, 3321);
	CU_ASSERT_EQUAL(u.lun, 16383);
	CU_ASSERT_STRING_EQUAL(u.display, "iscsi://127.0.0.1:3321/foo/16383");
}

static void test_ipv6(void)
{
	CU_ASSERT_EQUAL(parse("iscsi://[::1]:3321/iqn.x:t/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.host, "::1");
	CU_ASSERT_EQUAL(u.port, 3321);
	CU_ASSERT_STRING_EQUAL(u.display, "iscsi://[::1]:3321/iqn.x:t/1");
	CU_ASSERT_EQUAL(parse("iscsi://[fe80::1%eth0]/iqn.x:t/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.host, "fe80::1%eth0");
	CU_ASSERT_EQUAL(parse("iscsi://a%bcdefghijklm@[::1]/iqn.x:t/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.host, "::1");
	CU_ASSERT_STRING_EQUAL(u.user, "a");
	CU_ASSERT_TRUE(refused("iscsi://::1/iqn.x:t/1", "needs brackets"));
	CU_ASSERT_TRUE(refused("iscsi://[::1/iqn.x:t/1", "\"[::1\""));
	CU_ASSERT_TRUE(refused("iscsi://[1.2.3.4]/iqn.x:t/1", "IPv6"));
	CU_ASSERT_TRUE(refused("iscsi://[::1]x/iqn.x:t/1", "IPv6"));
}

static void test_out_of_range(void)
{
	static const char *const bad[][2] = {
		{"iscsi://h:99999/iqn.x/1", "port \"99999\""},
		{"iscsi://h:0/iqn.x/1", "port \"0\""},
		{"iscsi://h:/iqn.x/1", "port \"\""},
		{"iscsi://h:4294970556/iqn.x/1", "port \"4294970556\""},
		{"iscsi://h:12x/iqn.x/1", "port \"12x\""},
		{"iscsi://h/iqn.x/-1", "LUN \"-1\""},
		{"iscsi://h/iqn.x/16384", "LUN \"16384\""},
		{"iscsi://h/iqn.x/99999999999", "LUN \"99999999999\""},
		{"iscsi://h/iqn.x/1x", "LUN \"1x\""},
		{"iscsi://h/iqn.x/0x1", "LUN \"0x1\""},
		{"iscsi://h/iqn.x/1/", "LUN \"1/\""},
		{"iscsi://h/iqn.x/", "LUN \"\""},
		{"iscsi://h/iqn.x", "names no LUN"},
		{"iscsi://h/", "names no target"},
		{"iscsi://h//1", "target in the URL is empty"},
		{"iscsi://h", "names no target"},
		{"iscsi:///iqn.x/1", "names no host"},
		{"iscsi://", "names no host"},
		{"iscsi:h/iqn.x/1", "//host"},
		{"iscsi://h!/iqn.x/1", "host \"h!\""},
		{"iscsi://h/iqn.x/1?unknown=1", "option \"unknown\""},
		{"iscsi://h/iqn.x/1?header_digest=none", "\"header_digest\""},
		{"iscsi://h/iqn.x/1?target_user", "\"target_user\""},
		{"iscsi://h/a b/1", "blank"},
		{"iscsi://h/a%zz/1", "hex digits"},
		{"iscsi://h/a%4/1", "hex digits"},
		{"", "empty"},
		{"averyveryverylongscheme:x", "unknown scheme"},
		{"null:", "nothing after"},
		{"fault:drop=1", "fault:SPEC"},
		{"fault:drop=1:iscsi://h:99999/iqn.x/1", "port \"99999\""},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_TRUE(refused(bad[i][0], bad[i][1]));
}

static void test_long_names(void)
{
	char text[600] = "iscsi://h/";
	size_t n = strlen(text);

	memset(text + n, 'a', 223);
	strcpy(text + n + 223, "/1");
	CU_ASSERT_EQUAL(parse(text), 0);
	CU_ASSERT_EQUAL(strlen(u.target), 223);
	memset(text + n, 'a', 224);
	strcpy(text + n + 224, "/1");
	CU_ASSERT_TRUE(refused(text, "over 223 bytes"));
}

static void test_at_in_iqn(void)
{
	CU_ASSERT_EQUAL(parse("iscsi://127.0.0.1:3321/iqn.x:a@b/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.host, "127.0.0.1");
	CU_ASSERT_STRING_EQUAL(u.target, "iqn.x:a@b");
	CU_ASSERT_STRING_EQUAL(u.user, "");
	CU_ASSERT_EQUAL(parse("iscsi://joe%a-long-secret@h/iqn.x:a@b/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.host, "h");
	CU_ASSERT_STRING_EQUAL(u.user, "joe");
	CU_ASSERT_STRING_EQUAL(u.target, "iqn.x:a@b");
	/* libiscsi decodes the target's name */
	CU_ASSERT_EQUAL(parse("iscsi://h/iqn.x%3Aa/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.target, "iqn.x:a");
}

static void test_user(void)
{
	CU_ASSERT_EQUAL(parse("iscsi://alice%secret12secret@h:1/iqn.x/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.user, "alice");
	CU_ASSERT_STRING_EQUAL(u.password, "secret12secret");
	CU_ASSERT_STRING_EQUAL(u.display, "iscsi://h:1/iqn.x/1");
	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_EQUAL(parse("iscsi://alice:secret12secret@h/iqn.x/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.password, "secret12secret");
	/* not decoded, as in libiscsi */
	CU_ASSERT_EQUAL(parse("iscsi://pct%a%25b%40cdefghijkl@h/iqn.x/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.password, "a%25b%40cdefghijkl");
	/* odd characters */
	CU_ASSERT_EQUAL(
		parse("iscsi://u%p@ss%w:rd/with#odd@127.0.0.1:9/iqn.x:t/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.password, "p@ss%w:rd/with#odd");
	CU_ASSERT_STRING_EQUAL(u.host, "127.0.0.1");
	CU_ASSERT_EQUAL(u.port, 9);
	CU_ASSERT_EQUAL(parse("iscsi://u%p@ss:1234/xy&!$^*@h/iqn.x:t/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.password, "p@ss:1234/xy&!$^*");
	CU_ASSERT_STRING_EQUAL(u.host, "h");
}

static void test_secret_length(void)
{
	char text[1024];

	CU_ASSERT_EQUAL(parse("iscsi://a%short@h/iqn.x/1"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "5 bytes"));
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "at least 12"));
	CU_ASSERT_PTR_NULL(strstr(warning, "short"));
	CU_ASSERT_EQUAL(parse("iscsi://a%twelve-bytes@h/iqn.x/1"), 0);
	CU_ASSERT_STRING_EQUAL(warning, "");
	snprintf(text, sizeof(text), "iscsi://a%%%0255d@h/iqn.x/1", 0);
	CU_ASSERT_EQUAL(parse(text), 0);
	snprintf(text, sizeof(text), "iscsi://a%%%0256d@h/iqn.x/1", 0);
	CU_ASSERT_TRUE(refused(text, "256 bytes; 255 at most"));
	CU_ASSERT_PTR_NULL(strstr(e.text, "0000"));
	CU_ASSERT_TRUE(refused("iscsi://a%@h/iqn.x/1", "has no password"));
	CU_ASSERT_TRUE(refused("iscsi://a@h/iqn.x/1", "has no password"));
}

static void test_secrets_stay_inside(void)
{
	static const char *const bad[] = {
		"iscsi://bob%SECRETSECRET@h:99999/iqn.x/1",
		"iscsi://bob%SECRETSECRET@h/iqn.x/x",
		"iscsi://bob%SECRETSECRET/iqn.x/1",
		"iscsi://bob%SECRET@SECRET:7@h:99999/iqn.x/1",
		"iscsi://bob%SECRET@SECRET%x@h:99999/iqn.x/1",
		"iscsi://bob%SECRET@SECRET/x/@h/iqn.x/zz",
		"iscsi://b%SECRETSECRET@h/i/1?target_user=a&target_password",
		"iscsi://b%SECRET@h/i/1?target_user=a&target_password=SECRET",
		"iscsi://h/i/1?target_password=SECRETSECRET",
		"iscsi://%SECRETSECRET@h/iqn.x/1",
		"fault:x=1:iscsi://b%SECRETSECRET@h:0/i/1",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(parse(bad[i]), -EINVAL);
		CU_ASSERT_PTR_NULL(strstr(e.text, "SECRET"));
		CU_ASSERT_PTR_NULL(strstr(warning, "SECRET"));
		CU_ASSERT_STRING_EQUAL(u.password, "");
		CU_ASSERT_STRING_EQUAL(u.target_password, "");
		if (strstr(e.text, "SECRET"))
			printf("# %s\n", e.text);
	}
	CU_ASSERT_EQUAL(parse("fault:x=1:iscsi://b%SECRETSECRET@h/i/1"), 0);
	CU_ASSERT_STRING_EQUAL(u.display, "fault:x=1:iscsi://h/i/1");
	url_wipe(&u);
	CU_ASSERT_STRING_EQUAL(u.rest, "");
}

static void test_mutual(void)
{
	CU_ASSERT_EQUAL(parse("iscsi://a%secret12secret@h/iqn.x/1?target_user="
			      "t&target_password=other12other12"),
			0);
	CU_ASSERT_STRING_EQUAL(u.target_user, "t");
	CU_ASSERT_STRING_EQUAL(u.target_password, "other12other12");
	CU_ASSERT_TRUE(refused("iscsi://a%secret12secret@h/iqn.x/1?target_user="
			       "t&target_password=secret12secret",
			       "same secret both ways"));
	CU_ASSERT_TRUE(refused("iscsi://h/iqn.x/1?target_user="
			       "t&target_password=secret12secret",
			       "needs a user and password of ours"));
	CU_ASSERT_TRUE(
		refused("iscsi://a%secret12secret@h/iqn.x/1?target_user=t",
			"both target_user and target_password"));
}

static void test_environment(void)
{
	clean_environment();
	setenv("LIBISCSI_CHAP_USERNAME", "envuser", 1);
	setenv("LIBISCSI_CHAP_PASSWORD", "has space in it, p@ss%w:rd/#?&", 1);
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x/1", true, warning, &e),
			0);
	CU_ASSERT_STRING_EQUAL(u.user, "envuser");
	CU_ASSERT_STRING_EQUAL(u.password, "has space in it, p@ss%w:rd/#?&");
	/* the URL goes first */
	CU_ASSERT_EQUAL(
		url_parse(&u, "iscsi://joe@h/iqn.x/1", true, warning, &e), 0);
	CU_ASSERT_STRING_EQUAL(u.user, "joe");
	CU_ASSERT_STRING_EQUAL(u.password, "has space in it, p@ss%w:rd/#?&");
	setenv("LIBISCSI_CHAP_PASSWORD", "\xc3\xbc\xc3\xb6\xc3\xa4", 1);
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x/1", true, warning, &e),
			0);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "6 bytes"));
	setenv("LIBISCSI_CHAP_PASSWORD", "", 1);
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x/1", true, warning, &e),
			-EINVAL);
	clean_environment();
}

static int parse_with_file(const char *text)
{
	char path[] = "/tmp/lunbench-chap.XXXXXX";
	int fd = mkstemp(path), ret;

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	clean_environment();
	setenv("LUNBENCH_CHAP_FILE", path, 1);
	ret = url_parse(&u, "iscsi://h/iqn.x/1", true, warning, &e);
	clean_environment();
	unlink(path);
	return ret;
}

static void test_file(void)
{
	CU_ASSERT_EQUAL(parse_with_file("# for the lab\n\nuser=alice\n"
					"password= two  words=# \n"
					"target_user=t\r\n"
					"target_password=secret12secret"),
			0);
	CU_ASSERT_STRING_EQUAL(u.user, "alice");
	CU_ASSERT_STRING_EQUAL(u.password, " two  words=# ");
	CU_ASSERT_STRING_EQUAL(u.target_user, "t");
	CU_ASSERT_STRING_EQUAL(u.target_password, "secret12secret");
	CU_ASSERT_EQUAL(parse_with_file("user=alice\npasswort=SECRET\n"),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "line 2"));
	CU_ASSERT_PTR_NULL(strstr(e.text, "SECRET"));
	setenv("LUNBENCH_CHAP_FILE", "/nonexistent/chap", 1);
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x/1", true, NULL, &e),
			-ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "LUNBENCH_CHAP_FILE"));
	clean_environment();
}

static void test_portal_only(void)
{
	static const char *const good[] = {
		"iscsi://10.0.0.5", "iscsi://10.0.0.5/", "10.0.0.5",
		"10.0.0.5:3260",    "iscsi://10.0.0.5?",
	};

	clean_environment();
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_EQUAL(url_parse(&u, good[i], false, NULL, &e), 0);
		CU_ASSERT_STRING_EQUAL(u.scheme, "iscsi");
		CU_ASSERT_STRING_EQUAL(u.host, "10.0.0.5");
		CU_ASSERT_STRING_EQUAL(u.target, "");
		CU_ASSERT_FALSE(u.has_lun);
		CU_ASSERT_STRING_EQUAL(u.display, "iscsi://10.0.0.5");
	}
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x", false, NULL, &e), 0);
	CU_ASSERT_STRING_EQUAL(u.target, "iqn.x");
	CU_ASSERT_FALSE(u.has_lun);
	CU_ASSERT_EQUAL(url_parse(&u, "iscsi://h/iqn.x/3", false, NULL, &e), 0);
	CU_ASSERT_TRUE(u.has_lun);
}

static void test_other_schemes(void)
{
	CU_ASSERT_EQUAL(parse("block:///dev/vdb"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "block");
	CU_ASSERT_STRING_EQUAL(u.rest, "/dev/vdb");
	CU_ASSERT_STRING_EQUAL(u.display, "block:/dev/vdb");
	CU_ASSERT_EQUAL(parse("block:disk.img"), 0);
	CU_ASSERT_STRING_EQUAL(u.rest, "disk.img");
	CU_ASSERT_EQUAL(parse("/dev/vdb"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "block");
	CU_ASSERT_STRING_EQUAL(u.rest, "/dev/vdb");
	CU_ASSERT_EQUAL(parse("./odd:name"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "block");
	CU_ASSERT_EQUAL(parse("disk.img"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "block");
	CU_ASSERT_EQUAL(parse("null:1G"), 0);
	CU_ASSERT_STRING_EQUAL(u.scheme, "null");
	CU_ASSERT_STRING_EQUAL(u.rest, "1G");
	CU_ASSERT_EQUAL(parse("sim:servers=2,service=1ms,size=1G"), 0);
	CU_ASSERT_STRING_EQUAL(u.rest, "servers=2,service=1ms,size=1G");
	CU_ASSERT_EQUAL(parse("fault:drop=1:null:1G"), 0);
	CU_ASSERT_STRING_EQUAL(u.rest, "drop=1:null:1G");
	CU_ASSERT_STRING_EQUAL(u.display, "fault:drop=1:null:1G");
}

UNIT_TESTS("url", {"parts", test_parts}, {"ipv6", test_ipv6},
	   {"out of range", test_out_of_range}, {"long names", test_long_names},
	   {"@ in the target", test_at_in_iqn},
	   {"user and password", test_user},
	   {"secret length", test_secret_length},
	   {"secrets never in a text", test_secrets_stay_inside},
	   {"mutual CHAP", test_mutual}, {"environment", test_environment},
	   {"file", test_file}, {"portal only", test_portal_only},
	   {"other schemes", test_other_schemes})
