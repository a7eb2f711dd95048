#include "commands/check_tell.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

enum { TOLD_MAX = 20 };

static const char *const verdicts[] = {[CHECK_KEPT] = "kept",
				       [CHECK_BROKEN] = "broken",
				       [CHECK_UNKNOWN] = "unknown"};

char *check_kinds(const struct verify_totals *t, char *text, size_t size)
{
	size_t n = 0;
	int k;

	text[0] = '\0';
	for (k = 0; k < STAMP_KINDS && n < size; k++)
		if (stamp_is_broken(k) && t->blocks[k])
			n += snprintf(text + n, size - n, "%s%s", n ? ", " : "",
				      stamp_kind_name(k));
	return text;
}

/* --- the document --- */

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *put_promises(const struct check_facts *f)
{
	json_t *all = json_array();
	int k;

	for (k = 0; k < STAMP_KINDS; k++)
		if (stamp_is_broken(k) && f->totals.blocks[k])
			json_array_append_new(
				all, json_pack("{s:s, s:s, s:o}", "kind",
					       stamp_kind_key(k), "promise",
					       stamp_kind_promise(k), "blocks",
					       count(f->totals.blocks[k])));
	return all;
}

/* Seeds and run numbers use all 64 bits: text. */
static json_t *put_stamp(const struct stamp_found *found)
{
	char run[20];

	if (!found->has_stamp)
		return json_null();
	snprintf(run, sizeof(run), "%016" PRIx64, found->stamp.run);
	return json_pack("{s:s, s:o, s:o, s:o}", "run", run, "lba",
			 count(found->stamp.lba), "generation",
			 count(found->stamp.generation), "client",
			 count(found->stamp.client));
}

static json_t *put_finding(const struct finding *f)
{
	char text[400];

	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:s?, s:s}",
		"kind", stamp_kind_key(f->kind), "lba", count(f->lba),
		"acknowledged", count(f->low), "sent", count(f->high), "found",
		put_stamp(&f->found), "first_wrong_byte",
		count(f->found.first_wrong), "transient", f->is_transient,
		"overwritten", f->is_overwritten, "pair_lba",
		f->has_pair ? count(f->pair_lba) : json_null(), "file",
		f->file[0] ? f->file : NULL, "text",
		finding_describe(f, text, sizeof(text)));
}

static json_t *put_compared(const struct verify_totals *t)
{
	json_t *o = json_object();
	int k;

	for (k = 0; k < STAMP_KINDS; k++)
		json_object_set_new(o, stamp_kind_key(k), count(t->blocks[k]));
	return o;
}

static json_t *put_io(const struct check_facts *f)
{
	const struct verify_totals *t = &f->totals;

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "writes",
		count(t->writes), "fua_writes", count(t->fua_writes), "trims",
		count(t->trims), "reads", count(t->reads), "second_reads",
		count(t->second_reads), "failed_writes",
		count(t->failed_writes), "errors", count(f->io_errors), "raced",
		count(t->raced), "seen_again", count(t->seen_again));
}

static json_t *put_region(const struct genmap_shape *s)
{
	return json_pack("{s:o, s:o, s:o, s:f}", "first_lba",
			 count(s->first_lba), "blocks", count(s->blocks),
			 "block_bytes", count(s->block_bytes), "lun_share",
			 (double)s->blocks / s->lun_blocks);
}

/* Among the checks and warnings of a run, so that every view of the result
 * tells. */
static int put_finding_of_run(const struct check_facts *f, json_t *own)
{
	uint64_t broken = verify_broken(&f->totals);
	char text[400], kinds[256];
	json_t *check;

	if (f->verdict == CHECK_UNKNOWN)
		snprintf(text, sizeof(text), "integrity: unknown: %s",
			 f->why_unknown);
	else
		snprintf(text, sizeof(text),
			 "integrity: broken: %s; %" PRIu64 " blocks in all",
			 check_kinds(&f->totals, kinds, sizeof(kinds)), broken);
	if (f->verdict != CHECK_KEPT &&
	    json_array_append_new(json_object_get(own, "warnings"),
				  json_string(text)))
		return -ENOMEM;
	if (f->verdict == CHECK_UNKNOWN)
		return 0;
	check = json_pack("{s:s, s:n, s:n, s:b, s:o, s:i}", "check",
			  "integrity", "row", "op", "ok", !broken, "value",
			  count(broken), "limit", 0);
	return json_array_append_new(json_object_get(own, "checks"), check)
		       ? -ENOMEM
		       : 0;
}

int check_put(const struct check_facts *f, json_t *document, struct err *e)
{
	json_t *own = json_object_get(document, "lunbench");
	json_t *findings = json_array(), *check;
	char run[20];
	size_t i;

	for (i = 0; i < f->nr_findings; i++)
		json_array_append_new(findings, put_finding(&f->findings[i]));
	snprintf(run, sizeof(run), "%016" PRIx64, f->shape->run);
	check = json_pack("{s:s, s:s?, s:o, s:s, s:b, s:s?, s:s?, s:o, s:o, "
			  "s:{s:o, s:o, s:o, s:o}, s:o, s:o, s:o}",
			  "integrity", verdicts[f->verdict], "why",
			  f->verdict == CHECK_UNKNOWN ? f->why_unknown : NULL,
			  "promises_broken", put_promises(f), "run", run,
			  "resumed", f->is_resumed, "journal", f->journal,
			  "folder", f->totals.nr_saved ? f->folder : NULL,
			  "region", put_region(f->shape), "max_atomic_blocks",
			  count(f->max_atomic_blocks), "blocks", "written",
			  count(f->counts.written), "unknown",
			  count(f->counts.unknown), "trimmed",
			  count(f->counts.trimmed), "unwritten",
			  count(f->counts.unwritten), "compared",
			  put_compared(&f->totals), "io", put_io(f), "findings",
			  findings);
	if (!check || json_object_set_new(own, "check", check) ||
	    put_finding_of_run(f, own))
		return err_set(e, -ENOMEM, "no memory for the verdict");
	return 0;
}

/* --- the text --- */

static void print_region(const struct check_facts *f, FILE *out)
{
	const struct genmap_shape *s = f->shape;
	char part[32], all[32];

	fprintf(out, "  checked    %s",
		units_bytes(part, sizeof(part), s->blocks * s->block_bytes));
	if (s->blocks != s->lun_blocks)
		fprintf(out, " of %s (%.3g %%)",
			units_bytes(all, sizeof(all),
				    s->lun_blocks * s->block_bytes),
			100.0 * s->blocks / s->lun_blocks);
	fprintf(out, ": LBA %" PRIu64 " to %" PRIu64 ", blocks of %u bytes\n",
		s->first_lba, s->first_lba + s->blocks - 1, s->block_bytes);
	fprintf(out, "  blocks     %" PRIu64 " written", f->counts.written);
	if (f->counts.unknown)
		fprintf(out, ", %" PRIu64 " old or new (a write failed)",
			f->counts.unknown);
	if (f->counts.trimmed)
		fprintf(out, ", %" PRIu64 " trimmed", f->counts.trimmed);
	if (f->counts.unwritten)
		fprintf(out, ", %" PRIu64 " never written",
			f->counts.unwritten);
	fputc('\n', out);
}

static void print_io(const struct check_facts *f, FILE *out)
{
	const struct verify_totals *t = &f->totals;

	if (t->writes)
		fprintf(out,
			"  written    %" PRIu64 " writes, %" PRIu64
			" of them with FUA\n",
			t->writes, t->fua_writes);
	fprintf(out, "  compared   %" PRIu64 " blocks in %" PRIu64 " reads",
		t->blocks[STAMP_OK] + verify_broken(t), t->reads);
	if (t->second_reads)
		fprintf(out, ", %" PRIu64 " second reads", t->second_reads);
	fputc('\n', out);
	if (f->io_errors)
		fprintf(out, "  errors     %" PRIu64 " I/Os failed\n",
			f->io_errors);
}

static void print_findings(const struct check_facts *f, FILE *out)
{
	uint64_t all = verify_broken(&f->totals);
	size_t n = f->nr_findings < TOLD_MAX ? f->nr_findings : TOLD_MAX, i;
	char text[400];
	int k;

	for (k = 0; k < STAMP_KINDS; k++)
		if (stamp_is_broken(k) && f->totals.blocks[k])
			fprintf(out,
				"  BROKEN     \"%s\": %s, %" PRIu64
				" block%s\n",
				stamp_kind_promise(k), stamp_kind_name(k),
				f->totals.blocks[k],
				f->totals.blocks[k] == 1 ? "" : "s");
	for (i = 0; i < n; i++)
		fprintf(out, "    %s\n",
			finding_describe(&f->findings[i], text, sizeof(text)));
	if (all > n)
		fprintf(out, "    and %" PRIu64 " more\n", all - n);
	if (f->totals.nr_saved)
		fprintf(out, "  the first %" PRIu64 " blocks: %s\n",
			f->totals.nr_saved, f->folder);
}

void check_print(const struct check_facts *f, FILE *out)
{
	fprintf(out, "\nintegrity: %s\n", verdicts[f->verdict]);
	if (f->verdict == CHECK_UNKNOWN)
		fprintf(out, "  %s\n", f->why_unknown);
	print_region(f, out);
	print_io(f, out);
	print_findings(f, out);
	if (f->journal)
		fprintf(out, "journal: %s\n", f->journal);
}
