#include "commands/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/beside_watch.h"
#include "commands/capture.h"
#include "commands/commands.h"
#include "commands/live_line.h"
#include "commands/passes.h"
#include "commands/signals.h"
#include "report/table.h"

/* What the result says of the bundled target. */
static size_t target_facts(const struct prepared *p, struct fact *f)
{
	const struct tgt_status *t = &p->target;
	size_t n = 0;

	if (!p->is_ours)
		return 0;
	f[n++] = (struct fact){"name", (char *)t->name};
	f[n++] = (struct fact){"store", (char *)t->store};
	f[n++] = (struct fact){"durable", t->is_durable ? "yes" : "no"};
	f[n++] = (struct fact){"settings", t->stock ? "stock" : "tuned"};
	f[n++] = (struct fact){"backing", (char *)t->backing};
	f[n++] = (struct fact){"tgt", (char *)t->tgt_version};
	if (p->lab[0])
		f[n++] = (struct fact){"lab", (char *)p->lab};
	if (t->array[0]) {
		f[n++] = (struct fact){"array", (char *)t->array};
		f[n++] = (struct fact){"members", (char *)t->members};
	}
	if (t->md_state.chunk[0])
		f[n++] = (struct fact){"chunk", (char *)t->md_state.chunk};
	if (t->md_state.layout[0])
		f[n++] = (struct fact){"layout", (char *)t->md_state.layout};
	if (t->md_state.stripe_cache[0])
		f[n++] = (struct fact){"stripe_cache",
				       (char *)t->md_state.stripe_cache};
	if (t->md_state.sync_speed_min[0])
		f[n++] = (struct fact){"sync_speed_min",
				       (char *)t->md_state.sync_speed_min};
	if (t->md_state.degraded[0])
		f[n++] =
			(struct fact){"degraded", (char *)t->md_state.degraded};
	return n;
}

/*
 * A LUN that grew or shrank under the run: targets do not always tell (SBC-3's
 * unit attention CAPACITY DATA HAS CHANGED), so look again. "" if all is as it
 * was, or cannot be seen any more.
 */
static void check_size(const struct prepared *p, const struct request *r,
		       char *text, size_t size)
{
	char was[32], is[32];
	struct lun now;

	text[0] = '\0';
	if (!(transport_caps(&r->url) & IS_NETWORK) || signals_seen ||
	    transport_probe(&r->url, &r->run.initiator, &now, NULL, NULL) ||
	    now.blocks == p->probed_blocks)
		return;
	snprintf(text, size,
		 "the LUN changed its size during the run, from %" PRIu64
		 " blocks (%s) to %" PRIu64 " (%s); the run used the old size",
		 p->probed_blocks,
		 units_bytes(was, sizeof(was),
			     p->probed_blocks * p->lun.block_bytes),
		 now.blocks, units_bytes(is, sizeof(is), lun_bytes(&now)));
}

/* A jbod is one disk to whoever uses one of its LUNs. "" if it is none. */
static void note_jbod(const struct prepared *p, const struct request *r,
		      char *text, size_t size)
{
	text[0] = '\0';
	if (p->is_ours && p->target.array[0] && p->target.nr_luns > 1)
		snprintf(text, size,
			 "%s: LUN %u of %u is measured, which is one disk; the "
			 "others are idle",
			 p->target.array, r->url.lun, p->target.nr_luns);
}

/* NULL without memory: then nothing is known. The caller frees it. */
static struct beside *seen_beside(const struct beside_watch *w,
				  const struct run_result *run)
{
	struct beside *all = calloc(run->nr_rows + 1, sizeof(*all));
	size_t i;

	for (i = 0; all && i < run->nr_rows; i++)
		beside_watch_result(w, i, &all[i]);
	return all;
}

static json_t *build(const struct prepared *p, const struct request *r,
		     const struct run_result *run, const struct beside *beside,
		     struct err *e)
{
	struct fact facts[20];
	char resized[256], others[128], captured[512], *warnings[3];
	struct result_input in = {
		.plan = &p->plan,
		.run = run,
		.url = r->url.display,
		.transport = r->url.scheme,
		.job_name = p->job_path ? p->job_name : NULL,
		.session = p->session,
		.nr_session = p->nr_session,
		.keys = p->keys,
		.nr_keys = p->nr_keys,
		.target = facts,
		.nr_target = target_facts(p, facts),
		.warnings = warnings,
		.beside = beside,
	};

	note_jbod(p, r, others, sizeof(others));
	if (others[0])
		warnings[in.nr_warnings++] = others;
	capture_note(r, captured, sizeof(captured));
	if (captured[0])
		warnings[in.nr_warnings++] = captured;
	resized[0] = '\0';
	if (run->end == RUN_COMPLETE)
		check_size(p, r, resized, sizeof(resized));
	if (resized[0])
		warnings[in.nr_warnings++] = resized;
	return result_build(&in, e);
}

static unsigned int terminal_width(void)
{
	struct winsize w = {0};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) ? 0 : w.ws_col;
}

static void print_time(const struct plan *plan, FILE *out)
{
	struct plan_expected e = {.may_end_early =
					  plan->until.kind != UNTIL_NONE};
	char text[128];
	size_t i;

	for (i = 0; i < plan->nr_groups; i++)
		plan_expect(&e, &plan->groups[i]);
	fprintf(out, "%s%s", e.ns ? "takes " : "",
		plan_format_expected(&e, text, sizeof(text)));
}

/* The plan in a few lines; with --verbose, and for `lunbench plan`, all of it.
 */
static void print_plan(const struct prepared *p, const struct request *r,
		       FILE *out)
{
	const struct plan *plan = &p->plan;
	const struct lun *l = &plan->lun;
	char size[32];
	size_t i;

	if (r->verbose) {
		plan_print(plan, true, out);
		return;
	}
	fprintf(out, "%s\n  %s, blocks of %u bytes%s%s%s%s\n", r->url.display,
		units_bytes(size, sizeof(size), lun_bytes(l)), l->block_bytes,
		l->vendor[0] ? ", " : "", l->vendor, l->product[0] ? " " : "",
		l->product);
	fprintf(out, "%s: ", p->job_name);
	if (plan->nr_groups > plan->nr_parts)
		fprintf(out, "%s%zu measurements, ",
			plan->until.kind != UNTIL_NONE ? "up to " : "",
			plan->nr_groups);
	else if (plan->nr_rows > 1)
		fprintf(out, "%zu jobs in %zu groups, ", plan->nr_rows,
			plan->nr_groups);
	print_time(plan, out);
	fprintf(out, ", %s, seed %" PRIu64 "\n",
		plan->writes ? "writes" : "reads only", plan->seed);
	for (i = 0; i < plan->set->nr_departs; i++)
		fprintf(out, "  departs: %s\n", plan->set->departs[i]);
	for (i = 0; i < plan->nr_notes; i++)
		fprintf(out, "  %s\n", plan->notes[i]);
}

/* Writes what there is and says how the run ended. */
static int finish(const struct prepared *p, const struct request *r,
		  struct output *o, const struct run_result *run,
		  const struct beside_watch *watch)
{
	struct beside *beside = seen_beside(watch, run);
	struct err e = {0};
	json_t *result;
	int status;

	result = build(p, r, run, beside, &e);
	free(beside);
	if (!result)
		return say_err(&e, STATUS_TARGET);
	if (p->addition && p->addition->add(p->addition->user, result, &e)) {
		json_decref(result);
		return say_err(&e, STATUS_TARGET);
	}
	if (p->addition) {
		p->addition->print(p->addition->user,
				   r->json ? stderr : stdout);
		fflush(stdout);
	} else if (r->json) {
		table_print_warnings(result, stderr);
	} else {
		table_print(result, terminal_width(), stdout);
		fflush(stdout);
	}
	status = output_write(o, result);
	json_decref(result);
	if (o->has_file && !r->json)
		printf("result: %s\n", o->path);
	if (run->end == RUN_INTERRUPTED) {
		say("interrupted; the result is partial");
		return status ? status : STATUS_INTERRUPTED;
	}
	if (run->end == RUN_FAILED) {
		say("%s; the result is partial", run->error.text);
		return STATUS_TARGET;
	}
	return status;
}

/* What until left out is not in the result, nor what a stop cut off before it
 * began. */
static void end_early(struct plan *p, struct run_result *run)
{
	bool reached;

	if (p->until.kind == UNTIL_NONE)
		return;
	reached = run->end == RUN_COMPLETE &&
		  passes_fulfil(p, run, run->nr_passes);
	plan_end_early(p, run->nr_passes, reached);
	run_result_cut(run, p->nr_rows, p->nr_groups);
}

int measure(struct prepared *p, struct request *r, struct output *o)
{
	struct run_result run = {0};
	struct array_watch array = {0};
	struct beside_watch beside;
	struct live_line live;
	struct err e = {0};
	int rc, status;

	if (!r->quiet) {
		print_plan(p, r, r->json ? stderr : stdout);
		fflush(stdout);
	}
	live_line_init(&live, r->quiet);
	live_line_attach(&live, &r->run);
	r->run.url = &r->url;
	r->run.transport = p->transport;
	r->run.stop = &signals_seen;
	if (p->plan.until.kind != UNTIL_NONE) {
		r->run.on_pass = passes_are_enough;
		r->run.pass_user = &p->plan;
	}
	/* What is in a lab has other CPUs and disks than these. */
	beside_watch_attach(&beside, p->plan.nr_rows,
			    p->is_ours && !p->lab[0] ? &p->target : NULL,
			    &r->run);
	if (p->is_ours)
		array_watch_attach(&array, &p->target, p->array_steps, &r->run);
	rc = run_plan(&p->plan, &r->run, &run, &e);
	live_line_end(&live);
	if (!rc) {
		end_early(&p->plan, &run);
		status = finish(p, r, o, &run, &beside);
	} else if (signals_seen)
		status = STATUS_INTERRUPTED;
	else
		status = say_err(&e, STATUS_TARGET);
	if (!array_watch_end(&array, &e) && !status)
		status = say_err(&e, STATUS_TARGET);
	beside_watch_release(&beside);
	run_result_release(&run);
	return status;
}
