#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_parts.h"
#include "report/text.h"

/* "copy-large" is the test of the job of that name, and of rows "copy-large",
 * "copy-large-up", "copy-large write". */
static bool names_test(const struct point *p, const char *test)
{
	size_t n = strlen(test);

	if (!strcmp(p->test, test))
		return true;
	return !strncmp(p->name, test, n) &&
	       (!p->name[n] || strchr("-_ .", p->name[n]));
}

/* What a job file does beside its copies (writing what is then read) is none of
 * them. */
static bool is_beside(const struct point *p)
{
	const json_t *rows = json_object_get(
		json_object_get(p->file->doc, "lunbench"), "rows");
	size_t i;

	if (!strcmp(p->view, "copy"))
		return false;
	for (i = 0; i < json_array_size(rows); i++)
		if (!strcmp(text_of(json_array_get(rows, i), "view"), "copy"))
			return true;
	return false;
}

static bool is_of(const struct point *p, const struct reference_line *l,
		  enum io_op op)
{
	return p->op == op && !strcmp(p->array, l->volume) &&
	       names_test(p, l->test) && !is_beside(p);
}

static void put_label(char *buf, size_t size, const struct reference_line *l,
		      const struct point *p)
{
	bool up = p->op == OP_WRITE;
	char text[512];

	/* Of a copy nothing else is known, or needed. */
	if (!strcmp(p->view, "copy"))
		snprintf(text, sizeof(text), "%s %s %s", l->volume, l->test,
			 up ? "up" : "down");
	else
		snprintf(text, sizeof(text), "%s %s, %.200s %s", l->volume,
			 l->test, p->name, up ? "write" : "read");
	text_clean(buf, size, text);
}

/* Rows of one name are repeats of each other, in one file or in several. */
static int compare_rows(struct comparison *c, const struct reference_line *l,
			const struct set *b, const struct point *first,
			struct err *e)
{
	const struct point **list = calloc(b->nr_points + 1, sizeof(*list));
	struct comparison_item item = {.metric = METRIC_MB_S,
				       .has_a = true,
				       .line = l,
				       .point = first};
	const struct point *p;
	size_t nr = 0;
	int err;

	if (!list)
		return err_set(e, -ENOMEM, "no memory to compare");
	for (p = first; p < b->points + b->nr_points; p++)
		if (is_of(p, l, first->op) && !strcmp(p->name, first->name))
			list[nr++] = p;
	put_label(item.label, sizeof(item.label), l, first);
	item.a.estimate.mean =
		first->op == OP_WRITE ? l->up_mb_s : l->down_mb_s;
	sample_make_exact(&item.a);
	item.has_b = sample_take(&item.b, list, nr, METRIC_MB_S);
	err = comparison_add(c, &item, e);
	free(list);
	return err;
}

static int compare_line(struct comparison *c, const struct reference_line *l,
			const struct set *b, enum io_op op, struct err *e)
{
	const struct point *p, *before;
	int err = 0;
	size_t i;

	for (i = 0; i < b->nr_points && !err; i++) {
		p = &b->points[i];
		if (!is_of(p, l, op))
			continue;
		for (before = b->points; before < p; before++)
			if (is_of(before, l, op) &&
			    !strcmp(before->name, p->name))
				break;
		if (before == p)
			err = compare_rows(c, l, b, p, e);
	}
	return err;
}

static int nothing_matched(const struct reference *r, const struct set *b,
			   const struct compare_opts *o, struct err *e)
{
	const struct point *p = b->points;

	if (!b->nr_points)
		return err_set(e, -ENOENT, "\"%s\": nothing was measured",
			       b->name);
	return err_set(e, -ENOENT,
		       "\"%s\": no figure of it is in \"%s\" with protocol %s: "
		       "it is matched by test (here \"%s\", \"%s\") and volume "
		       "(target.array of the result, here \"%s\")",
		       b->name, r->name, o->protocol, p->test, p->name,
		       p->array);
}

int compare_reference(struct comparison *c, const struct reference *r,
		      const struct set *b, const struct compare_opts *o,
		      struct err *e)
{
	const struct reference_line *l;
	int err;

	*c = (struct comparison){
		.a = r->name, .b = b->name, .max_regress = o->max_regress};
	err = comparison_note_set(c, b)
		      ? 0
		      : err_set(e, -ENOMEM, "no memory to compare");
	for (l = r->lines; l < r->lines + r->nr_lines && !err; l++) {
		if (strcmp(l->protocol, o->protocol) != 0)
			continue;
		err = compare_line(c, l, b, OP_WRITE, e);
		if (!err)
			err = compare_line(c, l, b, OP_READ, e);
	}
	if (!err && !c->nr_items)
		err = nothing_matched(r, b, o, e);
	return err;
}
