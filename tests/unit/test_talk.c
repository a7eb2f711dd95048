#include <errno.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "vm/talk.h"

static struct talk_in in;
static struct talk_out out;

static void reset(void)
{
	in.len = out.len = out.at = 0;
}

/* What was added goes in again, @step bytes at a time. */
static void pass(size_t step)
{
	int fd[2];

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	while (out.len) {
		size_t n = out.len < step ? out.len : step;

		CU_ASSERT_EQUAL_FATAL(write(fd[1], out.data, n), (ssize_t)n);
		CU_ASSERT_EQUAL_FATAL(talk_read(&in, fd[0]), (long)n);
		out.len -= n;
		memmove(out.data, out.data + n, out.len);
	}
	close(fd[0]);
	close(fd[1]);
}

/* A frame comes when it is whole, and not before; the next is behind it. */
static void test_frames(void)
{
	struct talk_frame f;
	size_t whole;

	reset();
	talk_add(&out, TALK_OUT, "hello", 5);
	whole = out.len;
	talk_add(&out, TALK_EXIT, "\7", 1);
	pass(1);
	CU_ASSERT_EQUAL_FATAL(talk_peek(&in, &f), 0);
	CU_ASSERT_EQUAL(f.type, TALK_OUT);
	CU_ASSERT_EQUAL(f.len, 5);
	CU_ASSERT_EQUAL(memcmp(f.data, "hello", 5), 0);
	talk_drop(&in, &f);
	CU_ASSERT_EQUAL_FATAL(talk_peek(&in, &f), 0);
	CU_ASSERT_EQUAL(f.type, TALK_EXIT);
	talk_drop(&in, &f);
	CU_ASSERT_EQUAL(talk_peek(&in, &f), -EAGAIN);
	for (size_t n = 0; n < whole; n++) {
		reset();
		talk_add(&out, TALK_OUT, "hello", 5);
		out.len = n;
		pass(4096);
		CU_ASSERT_EQUAL(talk_peek(&in, &f), -EAGAIN);
	}
}

static void test_no_frame(void)
{
	static const char *const bad[] = {"X\1\0\0\0.", "l\1\0\0\0.",
					  "o\1\0\0\200.", "\0\1\0\0\0.",
					  "o\1\200\0\0."};
	struct talk_frame f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reset();
		talk_add_raw(&out, bad[i], 6);
		pass(6);
		CU_ASSERT_EQUAL(talk_peek(&in, &f), -EBADMSG);
	}
}

/* Behind whatever an earlier session left, another greeting among it. */
static void test_greeting(void)
{
	unsigned char want[TALK_GREETING], other[TALK_GREETING];
	unsigned char any[TALK_GREETING];

	talk_greeting(want, 42);
	talk_greeting(other, 43);
	for (size_t cut = 0; cut < TALK_GREETING; cut++) {
		reset();
		talk_add_raw(&out, "junk", 4);
		talk_add_raw(&out, other, cut);
		talk_add_raw(&out, want, sizeof(want));
		talk_add_raw(&out, "x", 1);
		for (size_t n = 0; n + 1 < 4 + cut + sizeof(want); n++) {
			struct talk_out rest = out;

			out.len = 1;
			pass(1);
			out = rest;
			out.len--;
			memmove(out.data, out.data + 1, out.len);
			CU_ASSERT_FALSE(talk_find_greeting(&in, want, false));
		}
		pass(1);
		CU_ASSERT_TRUE(talk_find_greeting(&in, want, false));
		CU_ASSERT_EQUAL(in.len, 1);
	}
	reset();
	talk_greeting(any, 0);
	talk_add_raw(&out, other, sizeof(other));
	pass(64);
	CU_ASSERT_TRUE(talk_find_greeting(&in, any, true));
	CU_ASSERT_EQUAL(memcmp(any, other, sizeof(any)), 0);
}

static void test_start(void)
{
	const char *const env[] = {"A=1", "B=", NULL};
	const char *const command[] = {"echo", "", "two words", NULL};
	struct talk_start s = {.is_terminal = true,
			       .rows = 25,
			       .columns = 300,
			       .env = env,
			       .command = command};
	struct talk_frame f;
	const char **words;

	reset();
	CU_ASSERT_EQUAL_FATAL(talk_add_start(&out, &s, NULL), 0);
	pass(4096);
	CU_ASSERT_EQUAL_FATAL(talk_peek(&in, &f), 0);
	memset(&s, 0, sizeof(s));
	CU_ASSERT_EQUAL_FATAL(talk_parse_start(&f, &s, &words), 0);
	CU_ASSERT_TRUE(s.is_terminal);
	CU_ASSERT_EQUAL(s.rows, 25);
	CU_ASSERT_EQUAL(s.columns, 300);
	CU_ASSERT_STRING_EQUAL(s.env[1], "B=");
	CU_ASSERT_PTR_NULL(s.env[2]);
	CU_ASSERT_STRING_EQUAL(s.command[1], "");
	CU_ASSERT_STRING_EQUAL(s.command[2], "two words");
	CU_ASSERT_PTR_NULL(s.command[3]);
	free(words);
	/* More variables than words; and a last word without its end. */
	in.data[TALK_HEADER + 5] = 200;
	CU_ASSERT_EQUAL(talk_parse_start(&f, &s, &words), -EBADMSG);
	free(words);
	in.data[TALK_HEADER + 5] = 2;
	f.len--;
	CU_ASSERT_EQUAL(talk_parse_start(&f, &s, &words), -EBADMSG);
	free(words);
	f.len = 3;
	CU_ASSERT_EQUAL(talk_parse_start(&f, &s, &words), -EBADMSG);
	free(words);
}

static void test_start_too_long(void)
{
	static char word[TALK_MAX];
	const char *const command[] = {"echo", word, NULL};
	struct talk_start s = {.command = command};
	struct err e = {0};

	reset();
	memset(word, 'x', sizeof(word) - 1);
	CU_ASSERT_EQUAL(talk_add_start(&out, &s, &e), -E2BIG);
	CU_ASSERT_EQUAL(out.len, 0);
}

UNIT_TESTS("talk", {"frames", test_frames}, {"no frame", test_no_frame},
	   {"greeting", test_greeting}, {"start", test_start},
	   {"a start that is too long", test_start_too_long})
