#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void test_printable(void)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"", ""},
		{"a b~", "a b~"},
		{"\x1b[31mred\x7f\n\t", "?[31mred???"},
		{"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
		 "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xc2\x9b", "??"},		   /* C1: CSI */
		{"\xff\xc3", "??"},		   /* cut short */
		{"\xe2\x82", "??"},		   /* the same */
		{"\xc0\xaf\xe0\x80\xaf", "?????"}, /* overlong */
		{"\xed\xa0\x80", "???"},	   /* a surrogate */
		{"\xf4\x90\x80\x80", "????"},
	};
	char text[32];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		strcpy(text, cases[i].text);
		err_make_printable(text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].wanted);
	}
}

static void test_set_and_prefix(void)
{
	char long_text[600];
	struct err e;

	CU_ASSERT_EQUAL(err_set(&e, -EINVAL, "\"%s\"", "a\033b"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(e.text, "\"a?b\"");
	CU_ASSERT_EQUAL(err_prefix(&e, "%s", "\n"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(e.text, "?: \"a?b\"");
	/* cut in a character */
	memset(long_text, 'x', sizeof(long_text));
	memcpy(long_text + sizeof(e.text) - 2, "\xc3\xbc", 3);
	err_set(&e, -EINVAL, "%s", long_text);
	CU_ASSERT_EQUAL(strlen(e.text), sizeof(e.text) - 1);
	CU_ASSERT_EQUAL(e.text[sizeof(e.text) - 2], '?');
	CU_ASSERT_EQUAL(err_set(NULL, -EIO, "x"), -EIO);
	CU_ASSERT_EQUAL(err_prefix(NULL, "x"), -EIO);
}

UNIT_TESTS("err", {"fit for a terminal", test_printable},
	   {"set and prefix", test_set_and_prefix})
