#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/result.h"

/* A result of hundreds of rows and clients is some ten MiB. */
#define RESULT_BYTES_MAX ((size_t)256 << 20)

/* --- shapes --- */

enum shape_type { A_TEXT, AN_INT, A_NUMBER, A_BOOL, AN_OBJECT, AN_ARRAY };

static const char *const type_names[] = {"text",   "an integer", "a number",
					 "a bool", "an object",	 "an array"};

struct shape {
	const char *key; /* NULL ends a list */
	enum shape_type type;
	bool may_be_null;
	const struct shape *fields; /* of the object, or of the objects in the
				       array */
};

/* clang-format off */
#define HAS(k, t)	  {.key = (k), .type = (t)}
#define MAY(k, t)	  {.key = (k), .type = (t), .may_be_null = true}
#define HOLDS(k, t, f)	  {.key = (k), .type = (t), .fields = (f)}
#define MAY_HOLD(k, t, f) {.key = (k), .type = (t), .may_be_null = true, \
			   .fields = (f)}
#define END		  {.key = NULL}
/* clang-format on */

/* What readers of a result lean on. The whole form is in
 * docs/result.schema.json; this much must be there for a table not to lie. */

static const struct shape latency_ns[] = {
	HAS("min", AN_INT),	 HAS("max", AN_INT), HAS("mean", A_NUMBER),
	HAS("stddev", A_NUMBER), HAS("N", AN_INT),   END,
};

static const struct shape direction[] = {
	HAS("io_bytes", AN_INT),
	HAS("bw_bytes", AN_INT),
	HAS("iops", A_NUMBER),
	HAS("total_ios", AN_INT),
	HOLDS("slat_ns", AN_OBJECT, latency_ns),
	HOLDS("clat_ns", AN_OBJECT, latency_ns),
	HOLDS("lat_ns", AN_OBJECT, latency_ns),
	END,
};

static const struct shape sync[] = {
	HAS("total_ios", AN_INT),
	HOLDS("lat_ns", AN_OBJECT, latency_ns),
	END,
};

static const struct shape job[] = {
	HAS("jobname", A_TEXT),
	HAS("groupid", AN_INT),
	HAS("error", AN_INT),
	HAS("job options", AN_OBJECT),
	HOLDS("read", AN_OBJECT, direction),
	HOLDS("write", AN_OBJECT, direction),
	HOLDS("trim", AN_OBJECT, direction),
	HOLDS("sync", AN_OBJECT, sync),
	END,
};

static const struct shape lun[] = {
	HAS("vendor", A_TEXT),	    HAS("product", A_TEXT),
	HAS("serial", A_TEXT),	    HAS("bytes", AN_INT),
	HAS("block_bytes", AN_INT), END,
};

static const struct shape host[] = {HAS("start_time", A_TEXT), END};

static const struct shape run[] = {
	HAS("end", A_TEXT),	    MAY("error", AN_OBJECT),
	HAS("duration_ns", AN_INT), HAS("workers", AN_INT),
	HAS("groups", AN_ARRAY),    END,
};

static const struct shape latency[] = {
	HAS("of", A_TEXT),
	HAS("mean_ns", A_NUMBER),
	HAS("p50_ns", AN_INT),
	HAS("p99_ns", AN_INT),
	HAS("p99_9_ns", AN_INT),
	HAS("max_ns", AN_INT),
	END,
};

static const struct shape op[] = {
	HAS("ios", AN_INT),
	HAS("bytes", AN_INT),
	HAS("errors", AN_INT),
	HAS("bytes_per_s", A_NUMBER),
	HAS("ios_per_s", A_NUMBER),
	MAY_HOLD("latency", AN_OBJECT, latency),
	END,
};

static const struct shape cpu[] = {
	HAS("user_ns_per_io", A_NUMBER),
	HAS("system_ns_per_io", A_NUMBER),
	HAS("core_percent", A_NUMBER),
	END,
};

static const struct shape fairness[] = {
	HAS("clients", AN_INT),
	HAS("jain", A_NUMBER),
	END,
};

static const struct shape row[] = {
	HAS("name", A_TEXT),
	HAS("has_run", A_BOOL),
	HAS("pace", A_TEXT),
	MAY("iodepth", AN_INT),
	HAS("total_depth", AN_INT),
	HAS("ops", AN_OBJECT), /* of op, by name: see check_ops() */
	MAY_HOLD("cpu", AN_OBJECT, cpu),
	HOLDS("fairness", AN_OBJECT, fairness),
	HAS("series", AN_OBJECT),
	END,
};

static const struct shape event[] = {
	HAS("at_ns", AN_INT),
	HAS("kind", A_TEXT),
	HAS("text", A_TEXT),
	END,
};

static const struct shape lunbench[] = {
	HAS("version", A_TEXT),
	MAY("job", A_TEXT),
	HAS("url", A_TEXT),
	HAS("transport", A_TEXT),
	HAS("seed", A_TEXT),
	HOLDS("host", AN_OBJECT, host),
	HOLDS("lun", AN_OBJECT, lun),
	HAS("session", AN_OBJECT),
	HAS("target", AN_OBJECT),
	HAS("plan", AN_OBJECT),
	HOLDS("run", AN_OBJECT, run),
	HOLDS("rows", AN_ARRAY, row),
	HOLDS("events", AN_ARRAY, event),
	HAS("checks", AN_ARRAY),
	HAS("warnings", AN_ARRAY),
	END,
};

static const struct shape document[] = {
	HAS("fio version", A_TEXT),
	HOLDS("jobs", AN_ARRAY, job),
	HOLDS("lunbench", AN_OBJECT, lunbench),
	END,
};

/* --- checking --- */

struct reader {
	const char *name; /* of the file */
	char place[256];  /* "lunbench.rows[3]." */
	struct err *e;
};

static bool fits(const json_t *v, enum shape_type type)
{
	switch (type) {
	case A_TEXT:
		return json_is_string(v);
	case AN_INT:
		return json_is_integer(v);
	case A_NUMBER:
		return json_is_number(v);
	case A_BOOL:
		return json_is_boolean(v);
	case AN_OBJECT:
		return json_is_object(v);
	case AN_ARRAY:
		return json_is_array(v);
	}
	return false;
}

static int wrong(struct reader *r, const char *key, const char *what)
{
	return err_set(r->e, -EINVAL,
		       "result \"%s\" is damaged: %s%s %s; measure again, or "
		       "take the file from where it was written",
		       r->name, r->place, key, what);
}

static int check_object(struct reader *r, const json_t *o,
			const struct shape *fields);

/* Goes into @v, the value of @s in the object that r->place names. */
static int check_inside(struct reader *r, const json_t *v,
			const struct shape *s)
{
	size_t length = strlen(r->place), i;
	int err = 0;

	if (json_is_object(v)) {
		snprintf(r->place + length, sizeof(r->place) - length, "%s.",
			 s->key);
		err = check_object(r, v, s->fields);
	}
	for (i = 0; !err && json_is_array(v) && i < json_array_size(v); i++) {
		snprintf(r->place + length, sizeof(r->place) - length,
			 "%s[%zu]", s->key, i);
		if (!json_is_object(json_array_get(v, i)))
			return wrong(r, "", "is not an object");
		strncat(r->place, ".", sizeof(r->place) - strlen(r->place) - 1);
		err = check_object(r, json_array_get(v, i), s->fields);
	}
	if (!err) /* else the place tells where it was */
		r->place[length] = '\0';
	return err;
}

static int check_object(struct reader *r, const json_t *o,
			const struct shape *fields)
{
	const struct shape *s;
	const json_t *v;
	char what[64];
	int err;

	for (s = fields; s->key; s++) {
		v = json_object_get(o, s->key);
		if (!v)
			return wrong(r, s->key, "is missing");
		if (s->may_be_null && json_is_null(v))
			continue;
		if (!fits(v, s->type)) {
			snprintf(what, sizeof(what), "is not %s",
				 type_names[s->type]);
			return wrong(r, s->key, what);
		}
		err = s->fields ? check_inside(r, v, s) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* lunbench.rows[].ops holds objects under the names of the row's ops. */
static int check_ops(struct reader *r, json_t *rows)
{
	struct shape s = HOLDS(NULL, AN_OBJECT, op);
	size_t i, k;
	json_t *ops, *v;
	int err;

	for (i = 0; i < json_array_size(rows); i++) {
		ops = json_object_get(json_array_get(rows, i), "ops");
		for (k = 0; k < OP_COUNT; k++) {
			s.key = op_name(k);
			v = json_object_get(ops, s.key);
			if (!v)
				continue;
			snprintf(r->place, sizeof(r->place),
				 "lunbench.rows[%zu].ops.", i);
			if (!json_is_object(v))
				return wrong(r, s.key, "is not an object");
			err = check_inside(r, v, &s);
			if (err)
				return err;
		}
	}
	r->place[0] = '\0';
	return 0;
}

static int check_warnings(struct reader *r, const json_t *warnings)
{
	size_t i;

	for (i = 0; i < json_array_size(warnings); i++)
		if (!json_is_string(json_array_get(warnings, i)))
			return wrong(r, "lunbench.warnings",
				     "holds a non-text");
	return 0;
}

/* Whose it is and which version, before any detail of its form. */
static int check_kind(struct reader *r, const json_t *d)
{
	const json_t *own = json_object_get(d, "lunbench");
	const json_t *schema = json_object_get(own, "schema");
	const char *version =
		json_string_value(json_object_get(own, "version"));

	if (!json_is_object(own))
		return err_set(r->e, -EINVAL,
			       "\"%s\" is not a lunbench result: no "
			       "\"lunbench\" object%s",
			       r->name,
			       json_object_get(d, "fio version")
				       ? "; it is fio's own output"
				       : "");
	if (!json_is_integer(schema))
		return wrong(r, "lunbench.schema", "is not an integer");
	if (json_integer_value(schema) != RESULT_SCHEMA_VERSION)
		return err_set(
			r->e, -EPROTONOSUPPORT,
			"result \"%s\" has schema version %lld, and this "
			"lunbench (%s) reads %d; read it with the one "
			"that wrote it (%.32s)",
			r->name, (long long)json_integer_value(schema),
			LUNBENCH_VERSION, RESULT_SCHEMA_VERSION,
			version ? version : "unknown");
	return 0;
}

static int check_document(struct reader *r, const json_t *d)
{
	json_t *own = json_object_get(d, "lunbench");
	json_t *rows = json_object_get(own, "rows");
	int err = check_kind(r, d);

	if (!err)
		err = check_object(r, d, document);
	if (!err)
		err = check_ops(r, rows);
	if (!err)
		err = check_warnings(r, json_object_get(own, "warnings"));
	if (!err && json_array_size(rows) !=
			    json_array_size(json_object_get(d, "jobs")))
		err = wrong(r, "lunbench.rows", "has not one entry a job");
	return err;
}

/* --- reading --- */

/* jansson quotes what it stumbled over, whatever that is. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

/* Cut between two tokens, or inside one ("tru", "0."), which is then the last
 * thing of what began as an object. */
static bool is_cut_off(const json_error_t *error, const char *text, size_t len)
{
	if (json_error_code(error) == json_error_premature_end_of_input)
		return true;
	return text[0] == '{' && error->position >= 0 &&
	       (size_t)error->position >= len;
}

static void explain(const char *name, const char *text, size_t len,
		    json_error_t *error, struct err *e)
{
	if (is_cut_off(error, text, len)) {
		err_set(e, -EINVAL,
			"result \"%s\" is cut off at line %d; measure again, "
			"or "
			"take the file from where it was written",
			name, error->line);
		return;
	}
	make_printable(error->text);
	err_set(e, -EINVAL, "\"%s\" is not a lunbench result: line %d: %s",
		name, error->line, error->text);
}

json_t *result_parse(const char *name, const char *text, size_t len,
		     struct err *e)
{
	struct reader r = {.name = name, .e = e};
	json_error_t error;
	json_t *d;

	if (!len) {
		err_set(e, -EINVAL, "result \"%s\" is empty; measure again",
			name);
		return NULL;
	}
	d = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!d) {
		explain(name, text, len, &error, e);
		return NULL;
	}
	if (check_document(&r, d)) {
		json_decref(d);
		return NULL;
	}
	return d;
}

json_t *result_read(const char *path, struct err *e)
{
	json_t *d;
	char *text;
	size_t len;

	if (file_read(path, RESULT_BYTES_MAX, &text, &len, e))
		return NULL;
	d = result_parse(path, text, len, e);
	free(text);
	return d;
}
