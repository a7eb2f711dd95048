#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/text.h"

/* Warnings, those of one kind together, and how presets depart from what they
 * stand for. */

enum { TOLD_MOST = 40 };

static const json_t *own_of(const struct result_file *f)
{
	return json_object_get(f->doc, "lunbench");
}

/* A kind of warning: sentences that differ in names and figures alone. */
struct kind {
	char shape[TEXT_SHAPE];
	const char *text; /* the first; borrowed */
	size_t nr;
};

struct kinds {
	struct kind *kind; /* owned */
	size_t nr;
};

static bool is_of(const struct kind *k, const char *text)
{
	char shape[TEXT_SHAPE];

	text_shape(shape, text);
	return !strcmp(k->shape, shape);
}

static bool add(struct kinds *all, const char *text)
{
	struct kind *more;
	size_t i;

	for (i = 0; i < all->nr; i++)
		if (is_of(&all->kind[i], text)) {
			all->kind[i].nr++;
			return true;
		}
	more = realloc(all->kind, (all->nr + 1) * sizeof(*more));
	if (!more)
		return false;
	all->kind = more;
	more[all->nr] = (struct kind){.text = text, .nr = 1};
	text_shape(more[all->nr++].shape, text);
	return true;
}

typedef void visit_fn(struct page *g, const struct result_file *from,
		      const char *text, void *user);

static void each_warning(struct page *g, visit_fn *visit, void *user)
{
	const json_t *all;
	const char *text;
	size_t i, k;

	for (i = 0; i < g->set->nr_files; i++) {
		all = json_object_get(own_of(&g->set->files[i]), "warnings");
		for (k = 0; k < json_array_size(all); k++) {
			text = json_string_value(json_array_get(all, k));
			visit(g, &g->set->files[i], text ? text : "?", user);
		}
	}
}

static void collect(struct page *g, const struct result_file *from,
		    const char *text, void *user)
{
	(void)from;
	if (!add(user, text))
		g->put.failed = true;
}

/* --- as a list --- */

struct telling {
	const struct kind *kind;
	size_t told;
};

static void tell(struct page *g, const struct result_file *from,
		 const char *text, void *user)
{
	struct telling *t = user;

	if (!is_of(t->kind, text) || t->told++ >= TOLD_MOST)
		return;
	page_format(g, "<li>");
	if (g->set->nr_files > 1) {
		page_text(g, from->path);
		page_format(g, ": ");
	}
	page_text(g, text);
	page_format(g, "</li>\n");
}

static void put_kind(struct page *g, const struct kind *k)
{
	struct telling t = {.kind = k};

	page_format(g, "<li>");
	page_text(g, k->text);
	if (k->nr > 1) {
		page_format(
			g, "<details><summary>%zu of this kind</summary><ul>\n",
			k->nr);
		each_warning(g, tell, &t);
		if (t.told > TOLD_MOST)
			page_format(g,
				    "<li>... and %zu more, in the result files"
				    "</li>\n",
				    t.told - TOLD_MOST);
		page_format(g, "</ul></details>");
	}
	page_format(g, "</li>\n");
}

size_t page_count_warnings(struct page *g, size_t *all)
{
	struct kinds kinds = {0};
	size_t nr, i;

	each_warning(g, collect, &kinds);
	nr = kinds.nr;
	for (*all = 0, i = 0; i < kinds.nr; i++)
		*all += kinds.kind[i].nr;
	free(kinds.kind);
	return nr;
}

void page_put_warnings(struct page *g)
{
	struct kinds kinds = {0};
	size_t i;

	each_warning(g, collect, &kinds);
	if (!kinds.nr)
		return;
	page_heading(g, "warnings", "Warnings");
	page_format(g, "<ul class=\"warnings\">\n");
	for (i = 0; i < kinds.nr; i++)
		put_kind(g, &kinds.kind[i]);
	page_format(g, "</ul>\n");
	free(kinds.kind);
}

/* --- departures --- */

/* Whether an earlier file said the same of the same job. */
static bool is_known(const struct page *g, size_t file, const char *text)
{
	const json_t *own = own_of(&g->set->files[file]), *other, *list;
	size_t i, k;

	for (i = 0; i < file; i++) {
		other = own_of(&g->set->files[i]);
		if (strcmp(text_of(other, "job"), text_of(own, "job")) != 0)
			continue;
		list = json_object_get(other, "departs");
		for (k = 0; k < json_array_size(list); k++)
			if (!strcmp(text,
				    json_string_value(json_array_get(list, k))))
				return true;
	}
	return false;
}

static void put_departures_of(struct page *g, size_t file, bool *has)
{
	const json_t *own = own_of(&g->set->files[file]);
	const json_t *list = json_object_get(own, "departs");
	const char *text, *job = text_of(own, "job");
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		text = json_string_value(json_array_get(list, i));
		if (!text || is_known(g, file, text))
			continue;
		if (!*has) {
			page_heading(
				g, "departures",
				"How jobs depart from what they stand for");
			page_format(g, "<ul>\n");
		}
		*has = true;
		page_format(g, "<li><strong>");
		page_text(g, *job ? job : "command line");
		page_format(g, "</strong>: ");
		page_text(g, text);
		page_format(g, "</li>\n");
	}
}

void page_put_departures(struct page *g)
{
	bool has = false;
	size_t i;

	for (i = 0; i < g->set->nr_files; i++)
		put_departures_of(g, i, &has);
	if (has)
		page_format(g, "</ul>\n");
}
