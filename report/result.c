#include "report/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/checks.h"
#include "report/curves.h"
#include "report/environment.h"
#include "report/evidence.h"
#include "report/figures.h"
#include "report/fio_json.h"
#include "report/row.h"

static void put_lun(struct put *p, json_t *o, const struct lun *l)
{
	json_t *lun = put_object(p, o, "lun");

	put_text(p, lun, "vendor", l->vendor);
	put_text(p, lun, "product", l->product);
	put_text(p, lun, "revision", l->revision);
	put_text(p, lun, "serial", l->serial);
	put_text(p, lun, "naa", l->naa);
	put_int(p, lun, "bytes", lun_bytes(l));
	put_int(p, lun, "blocks", l->blocks);
	put_int(p, lun, "block_bytes", l->block_bytes);
	put_int(p, lun, "physical_block_bytes", l->physical_block_bytes);
	put_int(p, lun, "max_transfer_blocks", l->max_transfer_blocks);
	put_int(p, lun, "optimal_transfer_blocks", l->optimal_transfer_blocks);
	put_int(p, lun, "max_unmap_blocks", l->max_unmap_blocks);
	put_int(p, lun, "max_unmap_descriptors", l->max_unmap_descriptors);
	put_int(p, lun, "unmap_granularity_blocks",
		l->unmap_granularity_blocks);
	put_bool(p, lun, "can_unmap", l->can_unmap);
	put_bool(p, lun, "unmap_zeroes", l->unmap_zeroes);
	put_bool(p, lun, "is_thin", l->is_thin);
	put_bool(p, lun, "is_read_only", l->is_read_only);
	if (l->write_cache_known)
		put_bool(p, lun, "write_cache", l->write_cache);
	else
		put_value(p, lun, "write_cache", json_null());
	put_bool(p, lun, "keeps_data", l->keeps_data);
}

static void put_plan_rows(struct put *p, json_t *o, const struct plan *plan)
{
	json_t *rows = put_array(p, o, "rows"), *row, *ops;
	size_t i, op;

	for (i = 0; i < plan->nr_rows; i++) {
		row = put_object(p, rows, NULL);
		put_text(p, row, "name", plan->rows[i].name);
		put_int(p, row, "groupid", plan->rows[i].groupid);
		put_int(p, row, "group", plan->rows[i].group);
		put_int(p, row, "job", plan->rows[i].job);
		put_int(p, row, "clients", plan->rows[i].nr_clients);
		ops = put_array(p, row, "ops");
		for (op = 0; op < OP_COUNT; op++)
			if (plan->rows[i].ops & OP_BIT(op))
				put_text(p, ops, NULL, op_name(op));
	}
}

/* Seeds use all 64 bits, more than JSON's integers hold everywhere: text. */
static void put_seed(struct put *p, json_t *o, uint64_t seed)
{
	put_format(p, o, "seed", "%llu", (unsigned long long)seed);
}

static void put_plan_clients(struct put *p, json_t *o, const struct plan *plan)
{
	json_t *clients = put_array(p, o, "clients"), *one;
	size_t i;

	for (i = 0; i < plan->nr_clients; i++) {
		const struct plan_client *c = &plan->clients[i];

		one = put_object(p, clients, NULL);
		put_int(p, one, "row", c->row);
		put_int(p, one, "group", c->group);
		put_int(p, one, "job", c->job);
		put_int(p, one, "clone", c->clone);
		put_int(p, one, "number", c->number);
		put_int(p, one, "offset_bytes", c->offset_bytes);
		put_int(p, one, "length_bytes", c->length_bytes);
		put_int_or_null(p, one, "io_bytes", c->io_bytes);
		put_int_or_null(p, one, "number_ios", c->number_ios);
		put_seed(p, one, c->seed);
	}
}

static void put_plan(struct put *p, json_t *o, const struct plan *plan)
{
	json_t *out = put_object(p, o, "plan"), *all, *one;
	size_t i;

	put_bool(p, out, "writes", plan->writes);
	all = put_array(p, out, "groups");
	for (i = 0; i < plan->nr_groups; i++) {
		one = put_object(p, all, NULL);
		put_int(p, one, "first_client", plan->groups[i].first_client);
		put_int(p, one, "clients", plan->groups[i].nr_clients);
		put_int_or_null(p, one, "expected_ns",
				plan->groups[i].expected_ns);
	}
	put_plan_rows(p, out, plan);
	put_plan_clients(p, out, plan);
	all = put_array(p, out, "notes");
	for (i = 0; i < plan->nr_notes; i++)
		put_text(p, all, NULL, plan->notes[i]);
	all = put_array(p, out, "not_applicable");
	for (i = 0; i < plan->set->nr_not_applicable; i++)
		put_text(p, all, NULL, plan->set->not_applicable[i]);
}

/* Absent where no login was seen. */
static void put_negotiated(struct put *p, json_t *o,
			   const struct result_input *in)
{
	json_t *all, *one;
	size_t i;

	if (!in->nr_keys)
		return;
	all = put_array(p, o, "negotiated");
	for (i = 0; i < in->nr_keys; i++) {
		one = put_object(p, all, NULL);
		put_text(p, one, "key", in->keys[i].key);
		put_text(p, one, "offered", in->keys[i].offered);
		put_text(p, one, "answered", in->keys[i].answered);
		put_text(p, one, "result", in->keys[i].result);
	}
}

static void put_facts(struct put *p, json_t *o, const char *key,
		      const struct fact *facts, size_t nr)
{
	json_t *out = put_object(p, o, key);
	size_t i;

	for (i = 0; i < nr; i++)
		put_text(p, out, facts[i].key, facts[i].value);
}

static void put_run(struct put *p, json_t *o, const struct run_result *run)
{
	static const char *const ends[] = {[RUN_COMPLETE] = "complete",
					   [RUN_INTERRUPTED] = "interrupted",
					   [RUN_FAILED] = "failed"};
	json_t *out = put_object(p, o, "run"), *groups, *one;
	size_t i;

	put_text(p, out, "end", ends[run->end]);
	if (run->end == RUN_FAILED) {
		one = put_object(p, out, "error");
		put_int(p, one, "errno",
			run->error.code < 0 ? -run->error.code
					    : run->error.code);
		put_text(p, one, "text", run->error.text);
	} else {
		put_value(p, out, "error", json_null());
	}
	put_int(p, out, "duration_ns", run->duration_ns);
	put_int(p, out, "workers", run->nr_workers);
	put_bool(p, out, "is_virtual_time", run->is_virtual_time);
	groups = put_array(p, out, "groups");
	for (i = 0; i < run->nr_groups; i++) {
		one = put_object(p, groups, NULL);
		put_int_or_null(p, one, "start_ns", run->group_start_ns[i]);
		put_int_or_null(p, one, "end_ns", run->group_end_ns[i]);
	}
}

static void put_events(struct put *p, json_t *o, const struct run_result *run)
{
	static const char *const kinds[] = {[EVENT_PHASE] = "phase",
					    [EVENT_DISCONNECT] = "disconnect",
					    [EVENT_RECONNECT] = "reconnect",
					    [EVENT_ERROR] = "error",
					    [EVENT_NOTICE] = "notice",
					    [EVENT_ARRAY] = "array"};
	json_t *events = put_array(p, o, "events"), *one;
	size_t i;

	for (i = 0; i < run->nr_events; i++) {
		one = put_object(p, events, NULL);
		put_int(p, one, "at_ns", run->events[i].at_ns);
		put_text(p, one, "kind", kinds[run->events[i].kind]);
		put_int(p, one, "group", run->events[i].group);
		put_text(p, one, "text", run->events[i].text);
	}
}

static void put_findings(struct put *p, json_t *o,
			 const struct result_input *in)
{
	const struct jobset *set = in->plan->set;
	json_t *checks = put_array(p, o, "checks");
	json_t *warnings = put_array(p, o, "warnings"), *list;
	size_t i;

	for (i = 0; i < set->nr_warnings; i++)
		put_text(p, warnings, NULL, set->warnings[i]);
	for (i = 0; i < in->nr_warnings; i++)
		put_text(p, warnings, NULL, in->warnings[i]);
	checks_put(p, checks, warnings, in);
	list = put_array(p, o, "not_measured");
	for (i = 0; fio_json_not_measured[i]; i++)
		put_text(p, list, NULL, fio_json_not_measured[i]);
	if (in->run->is_virtual_time) {
		put_text(p, list, NULL, "usr_cpu");
		put_text(p, list, NULL, "sys_cpu");
		put_text(p, list, NULL, "ctx");
	}
}

/* What the result is not, or more than, a job as it stands in its file. */
static void put_departures(struct put *p, json_t *o, const struct jobset *set)
{
	json_t *departs;
	size_t i;

	if (set->is_quick)
		put_bool(p, o, "quick", true);
	if (!set->nr_departs)
		return;
	departs = put_array(p, o, "departs");
	for (i = 0; i < set->nr_departs; i++)
		put_text(p, departs, NULL, set->departs[i]);
}

/* How many there were, and what ended them; nothing without repeats. */
static void put_repeats(struct put *p, json_t *o, const struct plan *plan)
{
	unsigned int passes = 0;
	json_t *repeats;
	char until[64];
	size_t i;

	for (i = 0; i < plan->nr_rows; i++)
		if (plan->rows[i].repeat > passes)
			passes = plan->rows[i].repeat;
	if (passes < 2 && plan->until.kind == UNTIL_NONE)
		return;
	repeats = put_object(p, o, "repeats");
	put_int(p, repeats, "passes", passes);
	if (plan->until.kind == UNTIL_NONE) {
		put_value(p, repeats, "until", json_null());
		put_value(p, repeats, "reached", json_null());
		return;
	}
	until_format(&plan->until, until, sizeof(until));
	put_text(p, repeats, "until", until);
	put_bool(p, repeats, "reached", plan->until_reached);
}

static bool has_analysis(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_rows; i++)
		if (plan->rows[i].clients || plan->rows[i].repeat > 1)
			return true;
	return false;
}

/* What the rows say together, by the functions that read results. */
static int put_analysis(struct put *p, json_t *document, struct err *e)
{
	json_t *o = json_object_get(document, "lunbench");
	struct figures figures = {0};
	struct curves curves = {0};
	struct set set = {0};
	int err;

	err = set_add_document(&set, "", json_incref(document), e);
	if (!err)
		err = figures_of(&figures, &set, e);
	if (!err)
		err = curves_of(&curves, &set, true, e);
	if (!err && curves.nr)
		curves_put(p, put_array(p, o, "sweeps"), &curves, false);
	if (!err && figures_have_repeats(&figures))
		figures_put(p, put_array(p, o, "summary"), &figures);
	curves_release(&curves);
	figures_release(&figures);
	set_release(&set);
	return err;
}

static void put_lunbench(struct put *p, json_t *document,
			 const struct result_input *in)
{
	json_t *o = put_object(p, document, "lunbench"), *rows;
	struct row r;
	size_t i;

	put_int(p, o, "schema", RESULT_SCHEMA_VERSION);
	put_text(p, o, "version", LUNBENCH_VERSION);
	put_text(p, o, "job", in->job_name);
	put_departures(p, o, in->plan->set);
	put_text(p, o, "url", in->url);
	put_text(p, o, "transport", in->transport);
	put_seed(p, o, in->plan->seed);
	environment_put(p, o, in->run->start_wall_ns);
	put_lun(p, o, &in->plan->lun);
	put_facts(p, o, "session", in->session, in->nr_session);
	put_negotiated(p, o, in);
	put_facts(p, o, "target", in->target, in->nr_target);
	put_plan(p, o, in->plan);
	put_run(p, o, in->run);
	put_repeats(p, o, in->plan);
	rows = put_array(p, o, "rows");
	for (i = 0; i < row_count(in); i++) {
		row_init(&r, in, i);
		row_put(p, rows, &r);
	}
	put_events(p, o, in->run);
	put_findings(p, o, in);
}

json_t *result_build(const struct result_input *in, struct err *e)
{
	struct put p = {false};
	json_t *document = json_object(), *jobs;
	struct row r;
	size_t i;

	fio_json_put_head(&p, document, in);
	jobs = put_array(&p, document, "jobs");
	for (i = 0; i < row_count(in); i++) {
		row_init(&r, in, i);
		fio_json_put_job(&p, jobs, &r);
	}
	put_lunbench(&p, document, in);
	evidence_put(&p, document, NULL);
	if (!p.failed && has_analysis(in->plan) &&
	    put_analysis(&p, document, e))
		p.failed = true;
	if (p.failed) {
		json_decref(document);
		err_set(e, -ENOMEM, "no memory for the result");
		return NULL;
	}
	return document;
}

char *result_format(const json_t *result, struct err *e)
{
	/* Ten digits are more than any clock here has. */
	char *text =
		json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
	char *line = text ? realloc(text, strlen(text) + 2) : NULL;

	if (!line) {
		free(text);
		err_set(e, -ENOMEM, "no memory for the result's text");
		return NULL;
	}
	strcat(line, "\n");
	return line;
}

/* What a user can do about a file that could not be written. */
static const char *write_advice(int code)
{
	switch (code) {
	case -ENOSPC:
	case -EDQUOT:
		return "free some space there, or name another place with -o "
		       "or --out";
	case -ENOENT:
		return "make that folder first, or name another with -o or "
		       "--out";
	case -EACCES:
	case -EROFS:
	case -EPERM:
		return "name a place that you may write to with -o or --out";
	default:
		return "name another place with -o or --out";
	}
}

int result_write(const json_t *result, const char *path, struct err *e)
{
	char *text = result_format(result, e);
	struct err why;
	int code;

	if (!text)
		return -ENOMEM;
	code = file_write_atomic(path, text, strlen(text), &why);
	free(text);
	if (!code)
		return 0;
	return err_set(e, code, "result not kept: %s; %s", why.text,
		       write_advice(code));
}
