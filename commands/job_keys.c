#include "commands/job_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/spelling.h"

/* The text argp shows: the table's, and the default. */
static char *key_doc(const struct option_desc *d)
{
	char *doc = NULL;

	if (asprintf(&doc,
		     d->kind == OPTION_WORKS && d->default_text
			     ? "%s (default %s)"
			     : "%s",
		     d->help, d->default_text) < 0)
		return NULL;
	return doc;
}

/* Up to three rows of argp's table: a heading, the key, its alias. */
static size_t add_key(struct argp_option *o, const struct option_desc *d,
		      int key, const char *doc, const struct argp_child *others)
{
	const char *arg = d->arg ? d->arg : "VALUE";
	/* fio takes some without a value. Were it required, a bare --thread
	 * would swallow the option after it, and change what is measured. */
	int flags = d->kind != OPTION_WORKS
			    ? OPTION_HIDDEN | OPTION_ARG_OPTIONAL
		    : d->value_optional ? OPTION_ARG_OPTIONAL
					: 0;
	bool has_name = !spelling_find(others, d->name);
	size_t n = 0;

	if (d->heading)
		o[n++] = (struct argp_option){.doc = d->heading};
	if (has_name)
		o[n++] = (struct argp_option){d->name, key, arg, flags, doc, 0};
	if (d->alias && !spelling_find(others, d->alias)) {
		/* An alias needs the row before it. */
		flags |= has_name ? OPTION_ALIAS : OPTION_HIDDEN;
		o[n++] = (struct argp_option){d->alias, key,  arg,
					      flags,	NULL, 0};
	}
	return n;
}

int job_keys_init(struct job_keys *k, const struct argp_child *others)
{
	size_t i, n = 0;

	k->table = options_table();
	while (k->table[k->nr].name)
		k->nr++;
	k->options = calloc(3 * k->nr + 1, sizeof(*k->options));
	k->docs = calloc(k->nr + 1, sizeof(*k->docs));
	if (!k->options || !k->docs)
		return -ENOMEM;
	for (i = 0; i < k->nr; i++) {
		k->docs[i] = key_doc(&k->table[i]);
		if (!k->docs[i])
			return -ENOMEM;
		n += add_key(k->options + n, &k->table[i],
			     JOB_KEYS_FIRST + (int)i, k->docs[i], others);
	}
	return 0;
}

const struct option_desc *job_keys_find(const struct job_keys *k, int key)
{
	if (key < JOB_KEYS_FIRST || key >= JOB_KEYS_FIRST + (int)k->nr)
		return NULL;
	return &k->table[key - JOB_KEYS_FIRST];
}

void job_keys_release(struct job_keys *k)
{
	size_t i;

	for (i = 0; k->docs && i < k->nr; i++)
		free(k->docs[i]);
	free(k->docs);
	free(k->options);
}
