#include <string.h>

#include "report/bottlenecks.h"
#include "report/check_words.h"
#include "report/formats.h"
#include "report/text.h"

/* A suite a result, a case a check. What was planned and did not come about is
 * a failure; a figure that is only doubtful is a skipped case with its reason,
 * as JUnit knows no warnings. */

static bool is_hard(const char *check)
{
	static const char *const hard[] = {"complete", "has_run", "errors",
					   "integrity"};
	size_t i;

	for (i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
		if (!strcmp(check, hard[i]))
			return true;
	return false;
}

static bool is_ok(const json_t *check)
{
	return json_is_true(json_object_get(check, "ok"));
}

static void put_case(const json_t *own, const json_t *check, FILE *out)
{
	const json_t *row = json_object_get(check, "row");
	const char *name = text_of(check, "check"), *op = text_of(check, "op");
	const char *class = "run";
	char words[200];

	if (json_is_integer(row) && json_integer_value(row) >= 0)
		class = text_of(json_array_get(json_object_get(own, "rows"),
					       json_integer_value(row)),
				"name");
	fputs("    <testcase classname=\"", out);
	text_put_xml(out, class);
	fputs("\" name=\"", out);
	text_put_xml(out, name);
	fputs(*op ? " " : "", out);
	text_put_xml(out, op);
	fputs("\">", out);
	if (!is_ok(check)) {
		fprintf(out, "<%s message=\"",
			is_hard(name) ? "failure" : "skipped");
		text_put_xml(out, check_say(check, words, sizeof(words)));
		fputs("\"/>", out);
	}
	fputs("</testcase>\n", out);
}

static void put_limits(const json_t *rows, FILE *out)
{
	struct bottleneck_line l;
	size_t at = 0;

	while (bottleneck_next(rows, &at, &l)) {
		fputs("limit: ", out);
		text_put_xml(out, l.title);
		fputs(": ", out);
		text_put_xml(out, *l.what ? l.what : "not known");
		fputs(": ", out);
		text_put_xml(out, l.why);
		fputc('\n', out);
	}
}

static void put_suite(const struct result_file *f, FILE *out)
{
	const json_t *own = json_object_get(f->doc, "lunbench");
	const json_t *checks = json_object_get(own, "checks");
	const json_t *warnings = json_object_get(own, "warnings");
	size_t i, n = json_array_size(checks), failures = 0, skipped = 0;
	const char *text;

	for (i = 0; i < n; i++) {
		const json_t *check = json_array_get(checks, i);
		bool hard = is_hard(text_of(check, "check"));

		failures += !is_ok(check) && hard;
		skipped += !is_ok(check) && !hard;
	}
	fputs("  <testsuite name=\"", out);
	text_put_xml(out, f->path);
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", n,
		failures, skipped);
	for (i = 0; i < n; i++)
		put_case(own, json_array_get(checks, i), out);
	fputs("    <system-out>", out);
	put_limits(json_object_get(own, "rows"), out);
	for (i = 0; i < json_array_size(warnings); i++) {
		text = json_string_value(json_array_get(warnings, i));
		text_put_xml(out, text ? text : "?");
		fputc('\n', out);
	}
	fputs("</system-out>\n  </testsuite>\n", out);
}

static int write_junit(const struct set *s, const struct comparison *beside,
		       FILE *out, struct err *e)
{
	size_t i;

	(void)beside;
	(void)e;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"lunbench\">\n",
	      out);
	for (i = 0; i < s->nr_files; i++)
		put_suite(&s->files[i], out);
	fputs("</testsuites>\n", out);
	return 0;
}

const struct format format_junit = {.name = "junit", .write = write_junit};
