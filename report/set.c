#include "report/set.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/manifest.h"
#include "report/result.h"
#include "report/text.h"

enum { FOLDERS_DEEP = 4 };

/* --- files --- */

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "no memory for the results");
}

static int add_warning(struct set *s, const char *text, struct err *e)
{
	char **more =
		realloc(s->warnings, (s->nr_warnings + 1) * sizeof(*more));

	if (!more)
		return no_memory(e);
	s->warnings = more;
	more[s->nr_warnings] = strdup(text);
	if (!more[s->nr_warnings])
		return no_memory(e);
	s->nr_warnings++;
	return 0;
}

/* Takes @doc, also on failure. */
static int keep(struct set *s, const char *path, json_t *doc, struct err *e)
{
	struct result_file *more =
		realloc(s->files, (s->nr_files + 1) * sizeof(*more));

	if (more)
		s->files = more;
	if (more)
		more[s->nr_files].path = strdup(path);
	if (!more || !more[s->nr_files].path) {
		json_decref(doc);
		return no_memory(e);
	}
	err_make_printable(more[s->nr_files].path);
	more[s->nr_files++].doc = doc;
	return 0;
}

static int add_file(struct set *s, const char *path, struct err *e)
{
	json_t *doc = result_read(path, e);

	return doc ? keep(s, path, doc, e) : e->code;
}

static int is_shown(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static bool is_json(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".json");
}

static int add_folder(struct set *s, const char *path, int deep, struct err *e);

static int on_missing(void *user, const char *text, struct err *e)
{
	return add_warning(user, text, e);
}

static int add_entry(struct set *s, const char *path, int deep, struct err *e)
{
	struct err why = {0};
	struct stat st;
	int err;

	if (stat(path, &st))
		return 0; /* a dangling link, or gone meanwhile */
	if (S_ISDIR(st.st_mode))
		return deep < FOLDERS_DEEP ? add_folder(s, path, deep + 1, e)
					   : 0;
	if (!S_ISREG(st.st_mode) || !is_json(path))
		return 0;
	err = manifest_is(path) ? manifest_missing(path, on_missing, s, &why)
				: add_file(s, path, &why);
	if (err == -ENOMEM)
		return err_set(e, err, "%s", why.text);
	return err ? add_warning(s, why.text, e) : 0;
}

/* In the order of names, so that the same folder gives the same report. */
static int add_folder(struct set *s, const char *path, int deep, struct err *e)
{
	struct dirent **list = NULL;
	int i, n = scandir(path, &list, is_shown, alphasort), err = 0;
	size_t len = strlen(path);
	char entry[PATH_MAX];

	while (len > 1 && path[len - 1] == '/') /* "results/" */
		len--;
	if (n < 0)
		return err_set(e, -errno, "cannot read the folder \"%s\": %s",
			       path, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(entry, sizeof(entry), "%.*s/%s", (int)len, path,
			 list[i]->d_name);
		if (!err)
			err = add_entry(s, entry, deep, e);
		free(list[i]);
	}
	free(list);
	return err;
}

/* --- points --- */

static size_t nth_of(const struct set *s, const struct point *p)
{
	const struct point *o;
	size_t n = 0, i;

	/* Points are in the order of their files. */
	for (i = s->nr_points; i-- > 0;) {
		o = &s->points[i];
		if (o->file != p->file)
			break;
		n += o->op == p->op && o->step == p->step &&
		     o->repeat == p->repeat && !strcmp(o->name, p->name);
	}
	return n;
}

static int add_point(struct set *s, const struct point *p, struct err *e)
{
	struct point *more =
		realloc(s->points, (s->nr_points + 1) * sizeof(*more));

	if (!more)
		return no_memory(e);
	s->points = more;
	more[s->nr_points] = *p;
	more[s->nr_points].nth = nth_of(s, p);
	s->nr_points++;
	return 0;
}

static int cut_row(struct set *s, struct point *p, struct err *e)
{
	const json_t *job = json_array_get(
		json_object_get(p->file->doc, "jobs"), p->row_index);
	static const char *const fio_names[OP_COUNT] = {
		[OP_READ] = "read",
		[OP_WRITE] = "write",
		[OP_TRIM] = "trim",
		[OP_FLUSH] = "sync",
	};
	int op, err = 0;

	for (op = 0; op < OP_COUNT && !err; op++) {
		p->data = json_object_get(json_object_get(p->row, "ops"),
					  op_name(op));
		if (!p->data)
			continue;
		/* A mix whose share of one op never came has no point there,
		 * but a row that never ran has its own. */
		if (json_is_true(json_object_get(p->row, "has_run")) &&
		    !int_of(p->data, "ios") && !int_of(p->data, "errors"))
			continue;
		p->op = op;
		p->fio = json_object_get(job, fio_names[op]);
		err = add_point(s, p, e);
	}
	return err;
}

static unsigned int count_of(const json_t *row, const char *key,
			     unsigned int without)
{
	json_int_t n = int_of(row, key);

	return n > 0 && n <= UINT_MAX ? (unsigned int)n : without;
}

static int cut(struct set *s, const struct result_file *f, struct err *e)
{
	const json_t *own = json_object_get(f->doc, "lunbench");
	const json_t *rows = json_object_get(own, "rows");
	struct point p = {
		.file = f,
		.array = text_of(json_object_get(own, "target"), "array"),
		.test = text_of(own, "job"),
	};
	int err = 0;

	if (strrchr(p.test, '/'))
		p.test = strrchr(p.test, '/') + 1;
	for (; p.row_index < json_array_size(rows) && !err; p.row_index++) {
		p.row = json_array_get(rows, p.row_index);
		p.name = text_of(p.row, "name");
		p.view = text_of(p.row, "view");
		p.repeat = count_of(p.row, "repeat", 1);
		/* Measured for a shorter time than its like. */
		if (p.repeat > 1 &&
		    json_is_true(json_object_get(p.row, "cut_short")))
			continue;
		p.step = count_of(p.row, "step_clients", 0);
		err = cut_row(s, &p, e);
	}
	return err;
}

/* --- the set --- */

static int name_set(struct set *s, const char *name, struct err *e)
{
	if (!s->name)
		s->name = strdup(name);
	if (!s->name)
		return no_memory(e);
	err_make_printable(s->name);
	return 0;
}

/* Anew: the files may have moved, and points borrow from them. */
static int cut_all(struct set *s, struct err *e)
{
	int err = 0;
	size_t i;

	s->nr_points = 0;
	for (i = 0; i < s->nr_files && !err; i++)
		err = cut(s, &s->files[i], e);
	return err;
}

int set_add_document(struct set *s, const char *name, json_t *doc,
		     struct err *e)
{
	int err = keep(s, name, doc, e);

	if (!err)
		err = name_set(s, name, e);
	return err ? err : cut_all(s, e);
}

int set_add(struct set *s, const char *path, struct err *e)
{
	size_t before = s->nr_files;
	struct stat st;
	int err = name_set(s, path, e);

	if (err)
		return err;
	if (stat(path, &st))
		return err_set(e, -errno, "cannot open \"%s\": %s", path,
			       strerror(errno));
	err = S_ISDIR(st.st_mode) ? add_folder(s, path, 0, e)
				  : add_file(s, path, e);
	if (!err && s->nr_files == before)
		err = err_set(e, -ENOENT,
			      "\"%s\": no result in that folder%s%s", path,
			      s->nr_warnings ? "; the first of what is there: "
					     : "",
			      s->nr_warnings ? s->warnings[0] : "");
	return err ? err : cut_all(s, e);
}

int set_read(struct set *s, const char *path, struct err *e)
{
	memset(s, 0, sizeof(*s));
	return set_add(s, path, e);
}

void set_release(struct set *s)
{
	size_t i;

	for (i = 0; i < s->nr_files; i++) {
		json_decref(s->files[i].doc);
		free(s->files[i].path);
	}
	for (i = 0; i < s->nr_warnings; i++)
		free(s->warnings[i]);
	free(s->files);
	free(s->warnings);
	free(s->points);
	free(s->name);
	memset(s, 0, sizeof(*s));
}

bool file_is_virtual(const struct result_file *f)
{
	const json_t *o = json_object_get(f->doc, "lunbench");

	return json_is_true(json_object_get(json_object_get(o, "run"),
					    "is_virtual_time")) ||
	       strstr(text_of(json_object_get(o, "host"), "lab"),
		      "virtual time");
}

bool set_has_arrays(const struct set *s)
{
	size_t i;

	for (i = 1; i < s->nr_points; i++)
		if (strcmp(s->points[i].array, s->points[0].array) != 0)
			return true;
	return false;
}

bool set_has_tests(const struct set *s)
{
	size_t i;

	for (i = 1; i < s->nr_points; i++)
		if (strcmp(s->points[i].test, s->points[0].test) != 0)
			return true;
	return false;
}

bool point_is_like(const struct point *a, const struct point *b)
{
	return a->op == b->op && a->nth == b->nth && a->step == b->step &&
	       !strcmp(a->name, b->name);
}

bool point_is_repeat_of(const struct point *a, const struct point *b)
{
	return point_is_like(a, b) && !strcmp(a->test, b->test) &&
	       !strcmp(a->array, b->array);
}

/* What tells a point from its repeats: nothing where it has none. */
static void describe_repeat(const struct set *s, const struct point *p,
			    char *buf, size_t size)
{
	const char *path = p->file->path, *slash = strrchr(path, '/');
	bool in_file = false, elsewhere = false;
	const struct point *o;
	char number[32] = "";

	for (o = s->points; o < s->points + s->nr_points; o++) {
		if (o == p || !point_is_repeat_of(o, p))
			continue;
		if (o->file == p->file)
			in_file = true;
		else
			elsewhere = true;
	}
	if (in_file)
		snprintf(number, sizeof(number), "%srepeat %u",
			 elsewhere ? ", " : "", p->repeat);
	if (in_file || elsewhere)
		snprintf(buf, size, " (%.200s%s)",
			 elsewhere ? slash ? slash + 1 : path : "", number);
}

static char *describe(const struct set *s, const struct point *p, bool with_op,
		      bool with_repeat, char *buf, size_t size)
{
	bool arrays = set_has_arrays(s) && *p->array;
	bool tests = set_has_tests(s) && *p->test;
	char text[1024], nth[32] = "", step[32] = "", repeat[256] = "";

	if (p->step)
		snprintf(step, sizeof(step), " %u client%s", p->step,
			 p->step == 1 ? "" : "s");
	if (p->nth)
		snprintf(nth, sizeof(nth), " #%zu", p->nth + 1);
	if (with_repeat)
		describe_repeat(s, p, repeat, sizeof(repeat));
	snprintf(text, sizeof(text), "%.100s%s%.100s%s%.200s%s%s%s%s%s",
		 arrays ? p->array : "", arrays ? " " : "",
		 tests ? p->test : "", tests ? " " : "", p->name, step, nth,
		 with_op ? " " : "", with_op ? op_name(p->op) : "", repeat);
	text_clean(buf, size, text);
	return buf;
}

char *point_label(const struct set *s, const struct point *p, char *buf,
		  size_t size)
{
	return describe(s, p, true, false, buf, size);
}

int point_stem(const struct point *p)
{
	size_t name = strlen(p->name), op = strlen(op_name(p->op));

	if (name > op + 1 && strchr("-_ ", p->name[name - op - 1]) &&
	    !strcmp(p->name + name - op, op_name(p->op)))
		return (int)(name - op - 1);
	return (int)name;
}

char *point_title(const struct set *s, const struct point *p, char *buf,
		  size_t size)
{
	return describe(s, p, true, true, buf, size);
}

char *point_row_title(const struct set *s, const struct point *p, char *buf,
		      size_t size)
{
	return describe(s, p, false, true, buf, size);
}

const char *point_setting(const struct point *p, const char *key)
{
	const json_t *job = json_array_get(
		json_object_get(p->file->doc, "jobs"), p->row_index);
	const json_t *v =
		json_object_get(json_object_get(job, "job options"), key);

	if (!v)
		v = json_object_get(
			json_object_get(p->file->doc, "global options"), key);
	return json_string_value(v);
}

bool point_is_open(const struct point *p)
{
	return strcmp(text_of(p->row, "pace"), "open") == 0;
}

const json_t *point_latency(const struct point *p)
{
	if (p->op == OP_FLUSH) /* one kind in fio's form */
		return json_object_get(p->fio, "lat_ns");
	return json_object_get(p->fio, point_is_open(p) ? "lat_ns" : "clat_ns");
}
