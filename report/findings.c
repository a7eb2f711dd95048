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

	/* The rows of a job follow each other, by and large. */
	for (k = f->kinds + f->nr_kinds; k-- > f->kinds;)
		if (k->op == v->op && !strcmp(k->check, v->check) &&
		    !strcmp(k->name, v->row->plan->name))
			return k;
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

/* What put_text() made of the first is UTF-8. */
void findings_end(struct findings *f)
{
	const struct findings_kind *k;
	const char *first;
	json_t *longer;

	for (k = f->kinds; k < f->kinds + f->nr_kinds; k++) {
		first = json_string_value(
			json_array_get(f->warnings, k->warning));
		if (!k->more || !first)
			continue;
		longer = json_sprintf("%s (%zu more of this job like it)",
				      first, k->more);
		if (json_array_set_new(f->warnings, k->warning, longer))
			f->p->failed = true;
	}
	free(f->kinds);
	f->kinds = NULL;
	f->nr_kinds = f->cap_kinds = 0;
}
