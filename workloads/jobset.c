#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/jobfile.h"

/* What a job file and the command line make together: typed jobs. */

static const char *place_of(const struct setting *s)
{
	return s->place ? s->place : "command line";
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* --- lists of sentences, each once --- */

static int add_once(char ***list, size_t *nr, const char *text)
{
	char **grown;
	size_t i;

	for (i = 0; i < *nr; i++)
		if (!strcmp((*list)[i], text))
			return 0;
	grown = reallocarray(*list, *nr + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*nr] = strdup(text);
	if (!grown[*nr])
		return -ENOMEM;
	++*nr;
	return 0;
}

enum { WARNINGS_MAX = 100 };

static int add_warning(struct jobset *set, const char *place,
		       const char *warning)
{
	char text[768];

	if (set->nr_warnings == WARNINGS_MAX)
		return 0;
	if (set->nr_warnings == WARNINGS_MAX - 1)
		snprintf(text, sizeof(text),
			 "there are more warnings, which are left out");
	else
		snprintf(text, sizeof(text), "%s: %s", place, warning);
	return add_once(&set->warnings, &set->nr_warnings, text);
}

/* --- lists of settings, the later wins --- */

static void release_setting(struct setting *s)
{
	free(s->key);
	free(s->value);
	free(s->place);
}

static void release_settings(struct setting *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		release_setting(&list[i]);
	free(list);
}

static int copy_setting(struct setting *to, const struct setting *from,
			const char *key)
{
	to->key = strdup(key);
	to->value = from->value ? strdup(from->value) : NULL;
	to->place = strdup(place_of(from));
	return to->key && to->place && (!from->value || to->value) ? 0
								   : -ENOMEM;
}

/* Under the option's own name, whatever alias was written. */
static int put_setting(struct setting **list, size_t *nr,
		       const struct setting *s)
{
	const struct option_desc *d = option_find(s->key);
	const char *key = d ? d->name : s->key;
	struct setting *grown, *slot;
	size_t i;

	for (i = 0; i < *nr && strcmp((*list)[i].key, key) != 0; i++)
		;
	if (i < *nr) {
		slot = &(*list)[i];
		free(slot->key);
		free(slot->value);
		free(slot->place);
	} else {
		grown = reallocarray(*list, *nr + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*list = grown;
		slot = &grown[(*nr)++];
	}
	memset(slot, 0, sizeof(*slot));
	return copy_setting(slot, s, key);
}

/* Sentences for readers, not settings; and there may be several. */
static bool is_setting(const struct setting *s)
{
	return strcmp(s->key, "departs") != 0;
}

static int put_settings(struct setting **list, size_t *nr,
			const struct setting *from, size_t nr_from)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr_from; i++)
		if (is_setting(&from[i]))
			ret = put_setting(list, nr, &from[i]);
	return ret;
}

/* --- applying --- */

static int err_unknown(const struct setting *s, struct err *e)
{
	const char *near = option_nearest(s->key);

	if (near)
		return err_set(e, -EINVAL,
			       "%s: unknown key \"%.80s\"; did you mean "
			       "\"%s\"?",
			       place_of(s), s->key, near);
	return err_set(e, -EINVAL,
		       "%s: unknown key \"%.80s\"; see `lunbench run --help` "
		       "for all keys",
		       place_of(s), s->key);
}

static int apply(struct jobset *set, struct job_opts *o,
		 const struct setting *s, struct err *e)
{
	const struct option_desc *d = option_find(s->key);
	char warning[512], text[768];
	int ret;

	if (!d)
		return err_unknown(s, e);
	ret = option_set(o, d, s->value, o->kb_base, warning, sizeof(warning),
			 e);
	if (ret) {
		err_prefix(e, "%s", place_of(s));
		return ret;
	}
	if (*warning && add_warning(set, place_of(s), warning))
		return no_memory(e);
	if (d->kind == OPTION_NOT_APPLICABLE) {
		snprintf(text, sizeof(text), "%s: %s", d->name, d->help);
		if (add_once(&set->not_applicable, &set->nr_not_applicable,
			     text))
			return no_memory(e);
	}
	return 0;
}

/* As in fio kb_base goes for the whole section, wherever in it it stands. */
static int apply_all(struct jobset *set, struct job_opts *o,
		     const struct setting *list, size_t nr, struct err *e)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		if (!strcmp(list[i].key, "kb_base"))
			ret = apply(set, o, &list[i], e);
	for (i = 0; !ret && i < nr; i++)
		ret = apply(set, o, &list[i], e);
	return ret;
}

/* --- one job --- */

static bool has_any(const uint64_t list[OP_DATA_COUNT])
{
	int op;

	for (op = 0; op < OP_DATA_COUNT; op++)
		if (list[op])
			return true;
	return false;
}

/* What is wrong, or makes no sense together, whatever the LUN is. */
static int check_job(struct jobset *set, struct job_opts *o, const char *place,
		     struct err *e)
{
	char text[256];

	if (has_any(o->rate) && has_any(o->rate_iops))
		return err_set(e, -EINVAL,
			       "%s: job \"%.80s\" sets rate and rate_iops; "
			       "give one of them",
			       place, o->name);
	if (o->pattern_len) /* as in fio it wins, whatever came last */
		o->zero_buffers = false;
	if (o->time_based && !o->runtime_ns) {
		snprintf(text, sizeof(text),
			 "job \"%.80s\": time_based without a runtime is "
			 "ignored, as in fio; give runtime=SECONDS",
			 o->name);
		o->time_based = false;
		if (add_warning(set, place, text))
			return no_memory(e);
	}
	return 0;
}

static int reserve_job(struct jobset *set)
{
	size_t nr = set->nr_jobs + 1;
	void *p;

	p = reallocarray(set->jobs, nr, sizeof(*set->jobs));
	if (!p)
		return -ENOMEM;
	set->jobs = p;
	p = reallocarray(set->given, nr, sizeof(*set->given));
	if (!p)
		return -ENOMEM;
	set->given = p;
	p = reallocarray(set->nr_given, nr, sizeof(*set->nr_given));
	if (!p)
		return -ENOMEM;
	set->nr_given = p;
	return 0;
}

/*
 * Of the command line a prepare job takes what its data and errors are like.
 * Whatever else is asked for is asked of the jobs that are measured: --clients,
 * --runtime or --rw must not change what they find on the LUN.
 */
static bool goes_for_prepare(const struct setting *s)
{
	static const char *const keys[] = {
		"buffer_compress_percentage",
		"buffer_pattern",
		"continue_on_error",
		"fit",
		"kb_base",
		"misfit",
		"randrepeat",
		"randseed",
		"refill_buffers",
		"zero_buffers",
	};
	const struct option_desc *d = option_find(s->key);
	size_t i;

	for (i = 0; d && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(d->name, keys[i]))
			return true;
	return false;
}

static bool names(const struct setting *list, size_t nr, const char *key)
{
	const struct option_desc *d;

	for (size_t i = 0; i < nr; i++) {
		d = option_find(list[i].key);
		if (d && !strcmp(d->name, key))
			return true;
	}
	return false;
}

/* A bssplit wins over a bs beside it, as in fio; but a bs on the command line
 * is meant to win over the job file. */
static void drop_bssplit(struct jobset *set, size_t n)
{
	struct setting *given = set->given[n];
	size_t left = 0;

	for (int op = 0; op < OP_DATA_COUNT; op++) {
		free(set->jobs[n].bssplit[op]);
		set->jobs[n].bssplit[op] = NULL;
		set->jobs[n].nr_bssplit[op] = 0;
	}
	for (size_t i = 0; i < set->nr_given[n]; i++)
		if (strcmp(given[i].key, "bssplit"))
			given[left++] = given[i];
		else
			release_setting(&given[i]);
	set->nr_given[n] = left;
}

static int apply_over(struct jobset *set, size_t n, const struct setting *over,
		      size_t nr_over, struct err *e)
{
	struct job_opts *o = &set->jobs[n];
	bool is_prepare = o->prepare;
	size_t i;
	int ret = 0;

	if (!is_prepare && names(over, nr_over, "bs") &&
	    !names(over, nr_over, "bssplit"))
		drop_bssplit(set, n);
	if (!is_prepare)
		ret = apply_all(set, o, over, nr_over, e);
	for (i = 0; !ret && i < nr_over; i++) {
		if (is_prepare && !goes_for_prepare(&over[i]))
			continue;
		if (is_prepare)
			ret = apply(set, o, &over[i], e);
		if (!ret && put_settings(&set->given[n], &set->nr_given[n],
					 &over[i], 1))
			ret = no_memory(e);
	}
	return ret;
}

/* @s NULL: a job from the command line alone. */
static int add_job(struct jobset *set, const struct job_opts *global,
		   const struct section *s, const struct setting *over,
		   size_t nr_over, struct err *e)
{
	const struct setting *own = s ? s->settings : NULL;
	size_t i, n = set->nr_jobs, nr_own = s ? s->nr_settings : 0;
	struct job_opts *o;
	int ret;

	if (reserve_job(set))
		return no_memory(e);
	o = &set->jobs[n];
	set->given[n] = NULL;
	set->nr_given[n] = 0;
	if (job_opts_copy(o, global))
		return no_memory(e);
	set->nr_jobs++;
	ret = apply_all(set, o, own, nr_own, e);
	if (ret)
		return ret;
	if (put_settings(&set->given[n], &set->nr_given[n], set->global,
			 set->nr_global) ||
	    put_settings(&set->given[n], &set->nr_given[n], own, nr_own))
		return no_memory(e);
	ret = apply_over(set, n, over, nr_over, e);
	if (ret)
		return ret;
	if (!o->name)
		o->name = strdup(s ? s->name : "lunbench");
	if (!o->name)
		return no_memory(e);
	for (i = 0; i < o->nr_departs; i++)
		if (add_once(&set->departs, &set->nr_departs, o->departs[i]))
			return no_memory(e);
	return check_job(set, o, s ? s->place : "command line", e);
}

static int check_duplicate(const struct jobfile *f, size_t n, struct err *e)
{
	const struct section *s = &f->sections[n];
	size_t i;

	for (i = 0; i < n; i++)
		if (!f->sections[i].is_global &&
		    !strcmp(f->sections[i].name, s->name))
			return err_set(e, -EEXIST,
				       "%s: section [%.80s] is there already, "
				       "at %s; give each job its own name",
				       s->place, s->name, f->sections[i].place);
	return 0;
}

static int add_section(struct jobset *set, struct job_opts *global,
		       const struct jobfile *f, size_t n,
		       const struct setting *over, size_t nr_over,
		       struct err *e)
{
	const struct section *s = &f->sections[n];
	int ret;

	if (!s->is_global) {
		ret = check_duplicate(f, n, e);
		return ret ? ret : add_job(set, global, s, over, nr_over, e);
	}
	ret = apply_all(set, global, s->settings, s->nr_settings, e);
	if (!ret && put_settings(&set->global, &set->nr_global, s->settings,
				 s->nr_settings))
		ret = no_memory(e);
	return ret;
}

int jobset_build(struct jobset *set, const struct jobfile *f,
		 const struct setting *over, size_t nr_over, struct err *e)
{
	struct job_opts global;
	size_t i;
	int ret = 0;

	memset(set, 0, sizeof(*set));
	job_opts_init(&global);
	/* As for fio a kb_base before the job file goes for the file, too. */
	for (i = 0; !ret && i < nr_over; i++)
		if (!strcmp(over[i].key, "kb_base"))
			ret = apply(set, &global, &over[i], e);
	if (!ret && !f)
		ret = add_job(set, &global, NULL, over, nr_over, e);
	for (i = 0; !ret && f && i < f->nr_sections; i++)
		ret = add_section(set, &global, f, i, over, nr_over, e);
	if (!ret && !set->nr_jobs)
		ret = err_set(e, -EINVAL,
			      "there is no job; add a section such as [job1]");
	job_opts_release(&global);
	if (ret)
		jobset_release(set);
	return ret;
}

int jobset_warn(struct jobset *set, const char *text, struct err *e)
{
	return add_once(&set->warnings, &set->nr_warnings, text) ? no_memory(e)
								 : 0;
}

bool jobset_wants_new_seed(const struct jobset *set)
{
	size_t i;

	for (i = 0; i < set->nr_jobs; i++)
		if (!set->jobs[i].randrepeat && !set->jobs[i].randseed_set)
			return true;
	return false;
}

static void release_texts(char **list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(list[i]);
	free(list);
}

void jobset_release(struct jobset *set)
{
	size_t i;

	for (i = 0; i < set->nr_jobs; i++) {
		job_opts_release(&set->jobs[i]);
		release_settings(set->given[i], set->nr_given[i]);
	}
	free(set->jobs);
	free(set->given);
	free(set->nr_given);
	release_settings(set->global, set->nr_global);
	release_texts(set->warnings, set->nr_warnings);
	release_texts(set->departs, set->nr_departs);
	release_texts(set->not_applicable, set->nr_not_applicable);
	memset(set, 0, sizeof(*set));
}
