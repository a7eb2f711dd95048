#include <stdlib.h>
#include <string.h>

#include "report/manifest.h"
#include "report/page.h"
#include "report/text.h"

/* What someone else needs to repeat it: what all results have in common once,
 * what differs in a column for each, the jobs, and the commands. */

static const char *const singles[] = {"version", "job", "transport", "seed",
				      "quick"};
static const char *const objects[] = {"target", "lun", "session", "host"};
enum {
	SINGLES = sizeof(singles) / sizeof(singles[0]),
	OBJECTS = sizeof(objects) / sizeof(objects[0])
};

/* What is another in each run and tells nothing of it. */
static const char *const passing[] = {
	"pid", "start_time",	"name",	      "backing", "serial",
	"naa", "InitiatorName", "TargetName", "ISID",	 "TSIH"};

static const json_t *own_of(const struct result_file *f)
{
	return json_object_get(f->doc, "lunbench");
}

/* --- facts --- */

static bool is_passing(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strcmp(key, passing[i]))
			return true;
	return false;
}

/* "4294967295" is how a LUN says that it has no limit. */
static bool is_no_limit(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) == UINT32_MAX;
}

static void put_fact(struct page *g, const json_t *v)
{
	char *text;

	if (!v || json_is_null(v)) {
		page_format(g, "<span class=\"none\">unknown</span>");
	} else if (is_no_limit(v)) {
		page_format(g, "no limit");
	} else if (json_is_boolean(v)) {
		page_format(g, json_is_true(v) ? "yes" : "no");
	} else if (json_is_string(v)) {
		page_text(g, json_string_value(v));
	} else {
		text = json_dumps(v, JSON_ENCODE_ANY);
		page_text(g, text ? text : "");
		free(text);
	}
}

static bool is_nothing(const json_t *v)
{
	return !v || json_is_null(v) ||
	       (json_is_string(v) && !*json_string_value(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

static const json_t *fact_of(const struct result_file *f, const char *object,
			     const char *key)
{
	const json_t *o = own_of(f);

	return json_object_get(object ? json_object_get(o, object) : o, key);
}

static bool is_common(const struct page *g, const char *object, const char *key)
{
	const json_t *first = fact_of(g->set->files, object, key), *v;
	size_t i;

	for (i = 1; i < g->set->nr_files; i++) {
		v = fact_of(&g->set->files[i], object, key);
		if ((is_nothing(v) && is_nothing(first)))
			continue;
		if (!v || !first || !json_equal(v, first))
			return false;
	}
	return true;
}

static void put_name(struct page *g, const char *object, const char *key)
{
	page_format(g, "<tr><th class=\"text\" scope=\"row\">");
	if (object) {
		page_text(g, object);
		page_format(g, " ");
	}
	page_text(g, key);
	page_format(g, "</th>");
}

/* The fact once, where all have the same. */
static void put_common(struct page *g, const char *object, const char *key)
{
	const json_t *v = fact_of(g->set->files, object, key);

	if (is_nothing(v) || !is_common(g, object, key) ||
	    (object && is_passing(key)))
		return;
	put_name(g, object, key);
	page_format(g, "<td class=\"text\">");
	put_fact(g, v);
	page_format(g, "</td></tr>\n");
}

/* The heading of a fact that differs. */
static void put_fact_heading(struct page *g, const char *object,
			     const char *key)
{
	if (is_common(g, object, key) || (object && is_passing(key)))
		return;
	page_format(g, "<th class=\"text\">%s%s", object ? object : "",
		    object ? " " : "");
	page_text(g, key);
	page_format(g, "</th>");
}

typedef void put_fact_fn(struct page *g, const char *object, const char *key);

/* Keys of an object that no earlier file has. */
static bool is_new(const struct page *g, size_t file, const char *object,
		   const char *key)
{
	size_t i;

	for (i = 0; i < file; i++)
		if (fact_of(&g->set->files[i], object, key))
			return false;
	return true;
}

static void put_fact_cell(struct page *g, const struct result_file *f,
			  const char *object, const char *key)
{
	page_format(g, "<td class=\"text\">");
	put_fact(g, fact_of(f, object, key));
	page_format(g, "</td>");
}

static void each_fact(struct page *g, put_fact_fn *put)
{
	const char *key;
	size_t i, k;
	json_t *v;

	for (k = 0; k < SINGLES; k++)
		put(g, NULL, singles[k]);
	for (k = 0; k < OBJECTS; k++)
		for (i = 0; i < g->set->nr_files; i++)
			json_object_foreach(
				json_object_get(own_of(&g->set->files[i]),
						objects[k]),
				key, v)
			{
				if (is_new(g, i, objects[k], key))
					put(g, objects[k], key);
			}
}

static void put_clock(struct page *g)
{
	size_t i, n = 0;

	for (i = 0; i < g->set->nr_files; i++)
		n += file_is_virtual(&g->set->files[i]);
	page_format(g, "<tr><th class=\"text\" scope=\"row\">time</th><td "
		       "class=\"text\">");
	if (n && n < g->set->nr_files)
		page_format(g, "virtual in %zu of %zu results", n,
			    g->set->nr_files);
	else
		page_format(g, n ? "virtual" : "real");
	page_format(g, "</td></tr>\n");
}

static bool has_different(const struct page *g)
{
	const char *key;
	size_t i, k;
	json_t *v;

	for (k = 0; k < SINGLES; k++)
		if (!is_common(g, NULL, singles[k]))
			return true;
	for (i = 0; i < g->set->nr_files; i++)
		for (k = 0; k < OBJECTS; k++)
			json_object_foreach(
				json_object_get(own_of(&g->set->files[i]),
						objects[k]),
				key, v)
			{
				if (!is_passing(key) &&
				    !is_common(g, objects[k], key))
					return true;
			}
	return false;
}

/* A line a result. */
static void put_different(struct page *g, const struct result_file *f)
{
	const char *key;
	size_t i, k;
	json_t *v;

	page_format(g, "<tr>");
	page_text_cell(g, f->path);
	for (k = 0; k < SINGLES; k++)
		if (!is_common(g, NULL, singles[k]))
			put_fact_cell(g, f, NULL, singles[k]);
	for (k = 0; k < OBJECTS; k++)
		for (i = 0; i < g->set->nr_files; i++)
			json_object_foreach(
				json_object_get(own_of(&g->set->files[i]),
						objects[k]),
				key, v)
			{
				if (is_new(g, i, objects[k], key) &&
				    !is_passing(key) &&
				    !is_common(g, objects[k], key))
					put_fact_cell(g, f, objects[k], key);
			}
	page_format(g, "</tr>\n");
}

static void put_differences(struct page *g)
{
	size_t i;

	if (!has_different(g))
		return;
	page_table(g, "facts", "What differs between the results");
	page_format(g, "<thead><tr><th class=\"text\">result</th>");
	each_fact(g, put_fact_heading);
	page_format(g, "</tr></thead>\n<tbody>\n");
	for (i = 0; i < g->set->nr_files; i++)
		put_different(g, &g->set->files[i]);
	page_table_end(g);
}

/* --- jobs --- */

static void put_settings(struct page *g, const json_t *settings)
{
	const char *key, *value;
	json_t *v;

	json_object_foreach((json_t *)settings, key, v)
	{
		value = json_string_value(v);
		page_text(g, key);
		page_format(g, "=");
		page_text(g, value ? value : "");
		page_format(g, "\n");
	}
}

/* Rows of one name are steps or repeats of one section: once. */
static bool is_section(const json_t *jobs, size_t i)
{
	const json_t *job = json_array_get(jobs, i), *before;
	size_t k;

	for (k = 0; k < i; k++) {
		before = json_array_get(jobs, k);
		if (!strcmp(text_of(before, "jobname"),
			    text_of(job, "jobname")) &&
		    json_equal(json_object_get(before, "job options"),
			       json_object_get(job, "job options")))
			return false;
	}
	return true;
}

static void put_sections(struct page *g, const struct result_file *f)
{
	const json_t *jobs = json_object_get(f->doc, "jobs"), *job;
	size_t i;

	page_format(g, "<pre>");
	if (json_object_size(json_object_get(f->doc, "global options"))) {
		page_format(g, "[global]\n");
		put_settings(g, json_object_get(f->doc, "global options"));
		page_format(g, "\n");
	}
	for (i = 0; i < json_array_size(jobs); i++) {
		job = json_array_get(jobs, i);
		if (!is_section(jobs, i))
			continue;
		page_format(g, "[");
		page_text(g, text_of(job, "jobname"));
		page_format(g, "]\n");
		put_settings(g, json_object_get(job, "job options"));
		page_format(g, "\n");
	}
	page_format(g, "</pre>\n");
}

static void put_jobs(struct page *g)
{
	const struct result_file *f = g->set->files;
	const char *job;
	size_t i, k;

	for (i = 0; i < g->set->nr_files; i++) {
		job = text_of(own_of(&f[i]), "job");
		for (k = 0; k < i; k++)
			if (!strcmp(text_of(own_of(&f[k]), "job"), job))
				break;
		if (k < i)
			continue;
		page_format(g, "<details><summary>The job");
		if (*job) {
			page_format(g, " ");
			page_text(g, job);
		}
		page_format(g, "</summary>\n");
		put_sections(g, &f[i]);
		page_format(g, "</details>\n");
	}
}

/* --- commands --- */

/* In a shell's quotes where it needs them. */
static void put_word(struct page *g, const char *option, const char *word)
{
	const char *c;

	page_format(g, " %s", option);
	if (!*word || word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJK"
					"LMNOPQRSTUVWXYZ0123456789_./:@%+,=-"
					"[]")]) {
		page_format(g, "&#39;");
		for (c = word; *c; c++) {
			char one[2] = {*c, '\0'};

			if (*c == '\'')
				page_format(g, "&#39;\\&#39;&#39;");
			else if (*c & 0x80)
				fputc(*c, g->out);
			else
				page_text(g, one);
		}
		page_format(g, "&#39;");
	} else {
		page_text(g, word);
	}
}

/* The bundled target is made anew for a run. */
static void put_target_command(struct page *g, const json_t *own)
{
	static const struct {
		const char *fact, *option;
	} options[] = {
		{"array", "--array="}, {"members", "--members="},
		{"chunk", "--chunk="}, {"layout", "--layout="},
		{"store", "--store="}, {"stripe_cache", "--stripe-cache="}};
	const json_t *target = json_object_get(own, "target");
	const char *value;
	size_t i;

	page_format(g, "lunbench target up");
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		value = text_of(target, options[i].fact);
		if (*value)
			put_word(g, options[i].option, value);
	}
	if (!strcmp(text_of(target, "settings"), "stock"))
		page_format(g, " --stock");
	page_format(g, "\n");
}

static void put_command(struct page *g, const struct result_file *f)
{
	const json_t *own = own_of(f), *job, *jobs, *v;
	const char *key;

	if (*text_of(json_object_get(own, "target"), "store"))
		put_target_command(g, own);
	page_format(g, "lunbench run");
	if (json_is_true(json_object_get(own, "quick")))
		page_format(g, " --quick");
	put_word(g, "--seed=", text_of(own, "seed"));
	jobs = json_object_get(f->doc, "jobs");
	if (*text_of(own, "job")) {
		put_word(g, "", text_of(own, "job"));
	} else if (json_array_size(jobs)) {
		job = json_object_get(json_array_get(jobs, 0), "job options");
		json_object_foreach((json_t *)job, key, v)
		{
			char option[128];

			snprintf(option, sizeof(option), "--%.100s=", key);
			put_word(g, option,
				 json_string_value(v) ? json_string_value(v)
						      : "");
		}
	}
	put_word(g, "", text_of(own, "url"));
	page_format(g, "\n");
}

/* A set's own command, where the folder of that name has its record. */
static void put_set_command(struct page *g)
{
	json_t *record = NULL, *word;
	size_t i;

	if (manifest_read(&record, g->set->name, NULL))
		return;
	page_format(g, "# the whole set\nlunbench bench");
	json_array_foreach(json_object_get(record, "command"), i, word)
	{
		put_word(g, "",
			 json_string_value(word) ? json_string_value(word)
						 : "");
	}
	page_format(g, "\n");
	json_decref(record);
}

static void put_commands(struct page *g)
{
	size_t i;

	page_format(g,
		    "<details%s><summary>Commands that repeat it"
		    "</summary>\n<p class=\"sub\">From what the results "
		    "hold. A target that is made anew has another URL.</p>\n"
		    "<pre>",
		    g->set->nr_files <= 8 ? " open" : "");
	put_set_command(g);
	for (i = 0; i < g->set->nr_files; i++) {
		if (g->set->nr_files > 1) {
			page_format(g, "# ");
			page_text(g, g->set->files[i].path);
			page_format(g, "\n");
		}
		put_command(g, &g->set->files[i]);
	}
	page_format(g, "</pre>\n</details>\n");
}

void page_put_configuration(struct page *g)
{
	if (!g->set->nr_files)
		return;
	page_heading(g, "configuration", "Configuration, to repeat it");
	put_commands(g);
	page_table(g, "facts",
		   g->set->nr_files > 1 ? "The same in all results" : "Facts");
	page_format(g, "<tbody>\n");
	put_clock(g);
	each_fact(g, put_common);
	page_table_end(g);
	put_differences(g);
	put_jobs(g);
}
