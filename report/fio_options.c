#include "report/fio_options.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"

/* Job files may carry keys for other engines. A LUN's URL holds
 * user%password@, fio's http and nfs engines have keys for theirs. */
static bool key_is_secret(const char *key)
{
	static const char *const parts[] = {"pass", "secret", "token", "_key"};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcasestr(key, parts[i]))
			return true;
	return false;
}

static void put_option(struct put *p, json_t *o, const struct setting *s)
{
	const struct option_desc *d = option_find(s->key);
	const char *key = d ? d->name : s->key;
	char *value;

	if (!s->value) { /* a bare key means 1 */
		put_text(p, o, key, "1");
		return;
	}
	if (key_is_secret(key)) {
		put_text(p, o, key, "***");
		return;
	}
	value = strdup(s->value);
	if (!value) {
		p->failed = true;
		return;
	}
	text_mask_urls(value);
	put_text(p, o, key, value);
	free(value);
}

static const char *rw_text(const struct job_opts *o)
{
	static const char *const names[8][2] = {
		[OP_BIT(OP_READ)] = {"read", "randread"},
		[OP_BIT(OP_WRITE)] = {"write", "randwrite"},
		[OP_BIT(OP_READ) | OP_BIT(OP_WRITE)] = {"rw", "randrw"},
		[OP_BIT(OP_TRIM)] = {"trim", "randtrim"},
		[OP_BIT(OP_TRIM) | OP_BIT(OP_WRITE)] = {"trimwrite",
							"randtrimwrite"},
	};
	const char *name = names[o->ops & 7][o->is_random];

	return name ? name : "read";
}

/* The options that fio-plot and others cannot do without, where the job left
 * them at their default. */
static void put_defaults(struct put *p, json_t *options, const struct row *r)
{
	const struct job_opts *o = r->job;
	size_t op = 0;

	if (!json_object_get(options, "name"))
		put_text(p, options, "name", r->plan->name);
	if (!json_object_get(options, "rw"))
		put_text(p, options, "rw", rw_text(o));
	if (!json_object_get(options, "bs")) {
		while (op < OP_DATA_COUNT - 1 && !(o->ops & OP_BIT(op)))
			op++;
		put_format(p, options, "bs", "%u", o->bs[op]);
	}
	if (!json_object_get(options, "iodepth"))
		put_format(p, options, "iodepth", "%u", o->iodepth);
	if (!json_object_get(options, "numjobs"))
		put_format(p, options, "numjobs", "%u", o->numjobs);
}

void fio_options_put_job(struct put *p, json_t *job, const struct row *r)
{
	const struct jobset *set = r->in->plan->set;
	json_t *options = put_object(p, job, "job options");
	size_t i, n = set->nr_given ? set->nr_given[r->plan->job] : 0;

	for (i = 0; i < n; i++)
		put_option(p, options, &set->given[r->plan->job][i]);
	put_defaults(p, options, r);
}

void fio_options_put_global(struct put *p, json_t *document,
			    const struct jobset *set)
{
	json_t *options = put_object(p, document, "global options");
	size_t i;

	for (i = 0; i < set->nr_global; i++)
		put_option(p, options, &set->global[i]);
}
