#include "report/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/environment.h"
#include "report/text.h"

enum { BASELINE_SCHEMA_VERSION = 1, BASELINE_BYTES_MAX = 1 << 20 };

const char *baseline_name(enum baseline_what w)
{
	static const char *const names[BASELINES] = {
		[BASELINE_SOCKETS] = "sockets",
		[BASELINE_NULL] = "null LUN",
		[BASELINE_DEVICE] = "device",
	};

	return names[w];
}

static void put_row(struct put *p, json_t *rows, enum baseline_what what,
		    const struct baseline_row *r)
{
	json_t *o = put_object(p, rows, NULL);

	put_text(p, o, "what", baseline_name(what));
	put_bool(p, o, "applies", r->applies);
	put_text(p, o, "of", r->of);
	put_text(p, o, "note", r->note);
	if (!r->is_measured)
		return;
	put_real(p, o, "bytes_per_s", r->bytes_per_s);
	put_real(p, o, "ios_per_s", r->ios_per_s);
	put_real(p, o, "ns_per_io", r->ios_per_s ? 1e9 / r->ios_per_s : 0);
	if (r->mean_ns)
		put_real(p, o, "mean_ns", r->mean_ns);
	put_real(p, o, "cpu_ns_per_io", r->cpu_ns);
}

json_t *baseline_build(const struct baseline *b, uint64_t start_wall_ns,
		       struct err *e)
{
	struct put p = {false};
	json_t *document = json_object(), *o, *rows;
	size_t i;

	o = put_object(&p, document, "baseline");
	put_int(&p, o, "schema", BASELINE_SCHEMA_VERSION);
	put_text(&p, o, "version", LUNBENCH_VERSION);
	put_text(&p, o, "url", b->url);
	put_text(&p, o, "rw", b->rw);
	put_int(&p, o, "block_bytes", b->block_bytes);
	put_int(&p, o, "iodepth", b->iodepth);
	environment_put(&p, o, start_wall_ns);
	rows = put_array(&p, o, "rows");
	for (i = 0; i < BASELINES; i++)
		put_row(&p, rows, i, &b->row[i]);
	if (!p.failed)
		return document;
	json_decref(document);
	err_set(e, -ENOMEM, "no memory for the baseline");
	return NULL;
}

static void take_row(struct baseline *b, const json_t *o)
{
	struct baseline_row *r;
	size_t i;

	for (i = 0; i < BASELINES; i++)
		if (!strcmp(text_of(o, "what"), baseline_name(i)))
			break;
	if (i == BASELINES)
		return;
	r = &b->row[i];
	r->applies = json_is_true(json_object_get(o, "applies"));
	snprintf(r->of, sizeof(r->of), "%s", text_of(o, "of"));
	snprintf(r->note, sizeof(r->note), "%s", text_of(o, "note"));
	r->bytes_per_s = number_of(o, "bytes_per_s");
	r->ios_per_s = number_of(o, "ios_per_s");
	r->mean_ns = number_of(o, "mean_ns");
	r->cpu_ns = number_of(o, "cpu_ns_per_io");
	r->is_measured = r->ios_per_s > 0;
}

int baseline_parse(struct baseline *b, const char *name, const char *text,
		   struct err *e)
{
	json_error_t why;
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	const json_t *o = json_object_get(document, "baseline");
	const json_t *rows = json_object_get(o, "rows");
	int r = 0;
	size_t i;

	memset(b, 0, sizeof(*b));
	if (!document)
		r = err_set(e, -EINVAL, "\"%s\": is no JSON: line %d: %s", name,
			    why.line, why.text);
	else if (!json_is_array(rows))
		r = err_set(e, -EINVAL,
			    "\"%s\": is no baseline; make one with lunbench "
			    "baseline URL -o FILE",
			    name);
	else if (int_of(o, "schema") != BASELINE_SCHEMA_VERSION)
		r = err_set(e, -EINVAL,
			    "\"%s\": has version %lld of the form, this "
			    "lunbench reads %d; measure it again",
			    name, (long long)int_of(o, "schema"),
			    BASELINE_SCHEMA_VERSION);
	if (!r) {
		snprintf(b->url, sizeof(b->url), "%s", text_of(o, "url"));
		snprintf(b->rw, sizeof(b->rw), "%s", text_of(o, "rw"));
		b->block_bytes = int_of(o, "block_bytes");
		b->iodepth = int_of(o, "iodepth");
		for (i = 0; i < json_array_size(rows); i++)
			take_row(b, json_array_get(rows, i));
	}
	json_decref(document);
	return r;
}

int baseline_read(struct baseline *b, const char *path, struct err *e)
{
	char *text;
	size_t len;
	int r = file_read(path, BASELINE_BYTES_MAX, &text, &len, e);

	if (r)
		return r;
	r = baseline_parse(b, path, text, e);
	free(text);
	return r;
}
