#include "report/pooled.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

enum { KINDS_SHOWN = 24, TEXT = 1024 };

struct kind {
	char shape[TEXT_SHAPE];
	const char *text; /* borrowed; the first of them */
	char arrays[200]; /* "raid0, raid5" */
	size_t nr;
};

struct kinds {
	struct kind *kind; /* owned */
	size_t nr;
};

static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at = list;

	for (; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') &&
		    (!at[len] || at[len] == ','))
			return true;
	return false;
}

static void add_array(struct kind *k, const char *array)
{
	size_t n = strlen(k->arrays);

	if (*array && !has_name(k->arrays, array))
		snprintf(k->arrays + n, sizeof(k->arrays) - n, "%s%.40s",
			 n ? ", " : "", array);
}

/* NULL without memory. */
static struct kind *find(struct kinds *all, const char *text)
{
	char shape[TEXT_SHAPE];
	struct kind *more;

	text_shape(shape, text);
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->kind[i].shape, shape))
			return &all->kind[i];
	more = realloc(all->kind, (all->nr + 1) * sizeof(*more));
	if (!more)
		return NULL;
	all->kind = more;
	more[all->nr] = (struct kind){.text = text};
	strcpy(more[all->nr].shape, shape);
	return &more[all->nr++];
}

static void add(struct kinds *all, const char *text, const char *array)
{
	struct kind *k = find(all, text);

	if (!k)
		return;
	k->nr++;
	add_array(k, array);
}

/* "warning (raid0, raid5): ..." */
static void print(const struct kind *k, FILE *out)
{
	char clean[TEXT];

	text_clean(clean, sizeof(clean), k->arrays);
	fputs("warning", out);
	if (*clean)
		fprintf(out, " (%s)", clean);
	else if (k->nr > 1)
		fprintf(out, " (%zu times)", k->nr);
	text_clean(clean, sizeof(clean), k->text);
	fprintf(out, ": %s\n", clean);
}

void pooled_warnings_print(const struct set *s, FILE *out)
{
	struct kinds all = {0};

	for (size_t i = 0; i < s->nr_files; i++) {
		const json_t *own =
			json_object_get(s->files[i].doc, "lunbench");
		const json_t *warnings = json_object_get(own, "warnings");
		const char *array =
			text_of(json_object_get(own, "target"), "array");

		const json_t *text;
		size_t w;

		json_array_foreach(warnings, w, text) if (json_is_string(text))
			add(&all, json_string_value(text), array);
	}
	for (size_t i = 0; i < all.nr && i < KINDS_SHOWN; i++)
		print(&all.kind[i], out);
	if (all.nr > KINDS_SHOWN)
		fprintf(out, "... and %zu more, in the results\n",
			all.nr - KINDS_SHOWN);
	free(all.kind);
}
