#include "report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one job, check and op. */
struct findings_kind {
	const char *check, *name, *op;
	size_t warning; /* the first one's place */
	size_t more;
};

/* Each of these has a cause of its own, which its sentence tells. */
static bool stands_alone(const struct verdict *v)
{
	return !v->row || !strcmp(v->check, "errors") ||
	       !strcmp(v->check, "outages");
}

static struct findings_kind *kind_of(struct findings *f,
				     const struct verdict *v)
{
	struct findings_kind *k;
	size_t i;

	/* The rows of a job follow each other, by and large. */
	for (i = f->nr_kinds; i-- > 0;) {
		k = &f->kinds[i];
		if (k->op == v->op && !strcmp(k->check, v->check) &&
		    !strcmp(k->name, v->row->plan->name))
			return k;
	}
	return NULL;
}

static void add_kind(struct findings *f, const struct verdict *v)
{
	size_t cap = f->cap_kinds ? 2 * f->cap_kinds : 16;
	struct findings_kind *more = f->kinds;

	if (f->nr_kinds == f->cap_kinds) {
		more = realloc(f->kinds, cap * sizeof(*more));
		if (!more) {
			f->p->failed = true;
			return;
		}
		f->kinds = more;
		f->cap_kinds = cap;
	}
	more[f->nr_kinds++] = (struct findings_kind){
		.check = v->check,
		.name = v->row->plan->name,
		.op = v->op,
		.warning = json_array_size(f->warnings),
	};
}

static void warn(struct findings *f, const struct verdict *v, const char *text)
{
	struct findings_kind *k = NULL;

	if (!stands_alone(v)) {
		k = kind_of(f, v);
		if (k) {
			k->more++;
			return;
		}
		add_kind(f, v);
	}
	put_text(f->p, f->warnings, NULL, text);
}

void findings_add(struct findings *f, const struct verdict *v, const char *fmt,
		  ...)
{
	json_t *o = put_object(f->p, f->checks, NULL);
	char text[1024];
	va_list ap;

	put_text(f->p, o, "check", v->check);
	put_int_or_null(f->p, o, "row", v->row ? v->row->index : UINT64_MAX);
	put_text(f->p, o, "op", v->op);
	put_bool(f->p, o, "ok", v->ok);
	put_real(f->p, o, "value", v->value);
	put_real(f->p, o, "limit", v->limit);
	if (v->ok)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	warn(f, v, text);
}

/* Sentences that differ in names and figures alone: more of one check than this
 * are one. */
enum { SENTENCES_MOST = 4 };

static bool is_of_check(const struct findings_kind *a,
			const struct findings_kind *b)
{
	return !strcmp(a->check, b->check);
}

/* How many kinds @k's check has, and rows in them beside @k's own. */
static size_t count_check(const struct findings *f,
			  const struct findings_kind *k, size_t *others)
{
	const struct findings_kind *o;
	size_t n = 0;

	*others = 0;
	for (o = f->kinds; o < f->kinds + f->nr_kinds; o++) {
		if (!is_of_check(o, k))
			continue;
		n++;
		if (o != k)
			*others += 1 + o->more;
	}
	return n;
}

static bool is_first_of_check(const struct findings *f,
			      const struct findings_kind *k)
{
	const struct findings_kind *o;

	for (o = f->kinds; o < k; o++)
		if (is_of_check(o, k))
			return false;
	return true;
}

/* What put_text() made of the sentence is UTF-8. */
static void lengthen(struct findings *f, const struct findings_kind *k,
		     size_t others)
{
	json_t *longer = json_array_get(f->warnings, k->warning);
	const char *text = json_string_value(longer);

	if (!text || (!k->more && !others))
		return;
	if (!others)
		longer = json_sprintf("%s (%zu more of this job like it)", text,
				      k->more);
	else
		longer =
			json_sprintf("%s (%zu more like it, in other jobs too)",
				     text, k->more + others);
	if (json_array_set_new(f->warnings, k->warning, longer))
		f->p->failed = true;
}

/* From the last on, so that places before it stay what they are. */
void findings_end(struct findings *f)
{
	const struct findings_kind *k;
	size_t others, i;

	for (i = f->nr_kinds; i-- > 0;) {
		k = &f->kinds[i];
		if (count_check(f, k, &others) <= SENTENCES_MOST)
			lengthen(f, k, 0);
		else if (is_first_of_check(f, k))
			lengthen(f, k, others);
		else
			json_array_remove(f->warnings, k->warning);
	}
	free(f->kinds);
	f->kinds = NULL;
	f->nr_kinds = f->cap_kinds = 0;
}
