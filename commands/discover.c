#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/capture.h"
#include "commands/commands.h"
#include "commands/request.h"
#include "commands/signals.h"
#include "initiator/discover.h"

enum { KEY_OUTPUT_FORMAT = 0x2000 };

enum { /* SPC-4 table 142 */
       TYPE_DISK = 0x00,
       TYPE_CONTROLLER = 0x0c,
};

static const struct argp_option own_options[] = {
	{"output-format", KEY_OUTPUT_FORMAT, "text|json", 0,
	 "json: one document on stdout, all else on stderr", 0},
	{0},
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	if (key != KEY_OUTPUT_FORMAT)
		return ARGP_ERR_UNKNOWN;
	r->json = !strcmp(arg, "json");
	if (r->json || !strcmp(arg, "text"))
		return 0;
	say("--output-format: \"%s\" is neither text nor json", arg);
	return EINVAL;
}

/* --- for a person --- */

static const char *type_name(unsigned int type, char *buf, size_t size)
{
	if (type == TYPE_CONTROLLER)
		return "controller";
	snprintf(buf, size, "type 0x%02x", type);
	return buf;
}

static const char *max_transfer(const struct lun *l, char *buf, size_t size)
{
	if (!l->max_transfer_blocks)
		return "any";
	return units_bytes(buf, size,
			   (uint64_t)l->max_transfer_blocks * l->block_bytes);
}

static void print_disk(const struct found_lun *f)
{
	const struct lun *l = &f->info;
	char size[32], transfer[32];

	printf("  %5u %10s %6u  %-8s %-16s %-4s  %-5s %-5s %-8s %s%s\n", f->lun,
	       units_bytes(size, sizeof(size), lun_bytes(l)), l->block_bytes,
	       l->vendor, l->product, l->revision,
	       l->is_thin ? "thin" : "thick",
	       !l->write_cache_known ? "?"
	       : l->write_cache	     ? "on"
				     : "off",
	       max_transfer(l, transfer, sizeof(transfer)),
	       l->naa[0] ? l->naa : l->serial,
	       l->is_read_only ? " (read-only)" : "");
}

static void print_lun(const struct found_lun *f)
{
	char type[32];

	if (f->problem[0])
		printf("  %5u %s\n", f->lun, f->problem);
	else if (f->device_type != TYPE_DISK)
		printf("  %5u %10s\n", f->lun,
		       type_name(f->device_type, type, sizeof(type)));
	else
		print_disk(f);
}

static void print_target(const struct found_target *t)
{
	size_t i;

	printf("%s\n ", t->name);
	for (i = 0; i < t->nr_portals; i++)
		printf(" %s", t->portals[i]);
	putchar('\n');
	if (t->problem[0]) {
		printf("  %s\n", t->problem);
		return;
	}
	printf("  %5s %10s %6s  %-8s %-16s %-4s  %-5s %-5s %-8s %s\n", "LUN",
	       "size", "block", "vendor", "product", "rev", "prov.", "cache",
	       "max I/O", "name");
	for (i = 0; i < t->nr_luns; i++)
		print_lun(&t->luns[i]);
}

/* --- for a program --- */

static json_t *lun_json(const struct found_lun *f)
{
	const struct lun *l = &f->info;
	json_t *j = json_pack("{s:i, s:i}", "lun", (int)f->lun, "device_type",
			      (int)f->device_type);

	if (f->problem[0])
		json_object_set_new(j, "problem", json_string(f->problem));
	if (f->problem[0] || f->device_type != TYPE_DISK)
		return j;
	json_object_update_missing_new(
		j,
		json_pack("{s:I, s:i, s:i, s:I, s:b, s:b, s:b, s:o, s:s, s:s, "
			  "s:s, s:s, s:s}",
			  "size_bytes", (json_int_t)lun_bytes(l), "block_bytes",
			  (int)l->block_bytes, "physical_block_bytes",
			  (int)l->physical_block_bytes, "max_transfer_bytes",
			  (json_int_t)l->max_transfer_blocks * l->block_bytes,
			  "thin", l->is_thin, "unmap", l->can_unmap,
			  "read_only", l->is_read_only, "write_cache",
			  l->write_cache_known ? json_boolean(l->write_cache)
					       : json_null(),
			  "vendor", l->vendor, "product", l->product,
			  "revision", l->revision, "serial", l->serial, "naa",
			  l->naa));
	return j;
}

static json_t *target_json(const struct found_target *t)
{
	json_t *portals = json_array(), *luns = json_array(), *j;
	size_t i;

	for (i = 0; i < t->nr_portals; i++)
		json_array_append_new(portals, json_string(t->portals[i]));
	for (i = 0; i < t->nr_luns; i++)
		json_array_append_new(luns, lun_json(&t->luns[i]));
	j = json_pack("{s:s, s:o, s:o}", "name", t->name, "portals", portals,
		      "luns", luns);
	if (t->problem[0])
		json_object_set_new(j, "problem", json_string(t->problem));
	return j;
}

static int print_json(const struct discovery *d)
{
	json_t *targets = json_array(), *doc;
	size_t i;
	int rc;

	for (i = 0; i < d->nr_targets; i++)
		json_array_append_new(targets, target_json(&d->targets[i]));
	doc = json_pack("{s:s, s:o}", "lunbench version", LUNBENCH_VERSION,
			"targets", targets);
	rc = json_dumpf(doc, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ||
	     fflush(stdout);
	json_decref(doc);
	if (rc)
		say("stdout: the list could not be written");
	return rc ? STATUS_TARGET : STATUS_OK;
}

/* --- the command --- */

static void on_progress(void *user, const char *target, size_t done,
			size_t total)
{
	(void)user;
	fprintf(stderr, "\r%.50s: LUN %zu of %zu\033[K", target, done, total);
	if (done == total)
		fputs("\r\033[K", stderr);
}

static int discover_and_print(const struct request *r)
{
	struct discovery d = {0};
	struct err e = {0};
	int status = STATUS_OK;
	size_t i;

	if (discover(&d, &r->url, &r->run.initiator,
		     isatty(STDERR_FILENO) ? on_progress : NULL, NULL, &e))
		status = say_err(&e, STATUS_TARGET);
	else if (r->json)
		status = print_json(&d);
	else
		for (i = 0; i < d.nr_targets; i++)
			print_target(&d.targets[i]);
	if (!status && !d.nr_targets)
		say("\"%s\": offers no target to this initiator; look at its "
		    "access list",
		    r->url.display);
	discovery_release(&d);
	return status;
}

int command_discover(int argc, char **argv)
{
	struct request r;
	const struct request_form form = {
		.takes = REQUEST_PORTAL | REQUEST_CONNECT | REQUEST_CAPTURE,
		.args_doc = "HOST[:PORT]|URL",
		.doc = "Lists what a portal offers: targets, their LUNs, and "
		       "what each LUN can do. A target in the URL lists that "
		       "one alone.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = &r,
	};
	int status;

	signals_init();
	signals_end_at_once(true);
	status = request_parse(&r, &form, argc, argv);
	if (!status)
		status = capture_open(&r);
	if (!status)
		status = capture_end(&r, discover_and_print(&r));
	request_release(&r);
	return status;
}
