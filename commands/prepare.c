#include "commands/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/lab_target.h"
#include "commands/shipped.h"
#include "commands/signals.h"
#include "initiator/guard.h"
#include "workloads/quick.h"

/* --- the job --- */

/* "basic" of "workloads/basic.fio"; what a file name cannot hold becomes _. */
static void set_job_name(struct prepared *p)
{
	const char *name =
		p->job_path ? basename(p->job_path) : p->set.jobs[0].name;
	char *dot, *c;

	snprintf(p->job_name, sizeof(p->job_name), "%s", name);
	dot = strrchr(p->job_name, '.');
	if (p->job_path && dot && dot > p->job_name)
		*dot = 0;
	for (c = p->job_name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
}

int prepare_read(struct prepared *p, const struct request *r)
{
	char path[PATH_MAX];
	struct err e = {0};

	if (r->job) {
		if (shipped_resolve(r->job, path, sizeof(path), &e))
			return say_err(&e, STATUS_USAGE);
		p->job_path = strdup(path);
		if (!p->job_path || jobfile_read(&p->file, path, &e))
			return say_err(&e, STATUS_USAGE);
	}
	if (jobset_build(&p->set, r->job ? &p->file : NULL, r->keys, r->nr_keys,
			 &e))
		return say_err(&e, STATUS_USAGE);
	p->set.no_prepare = r->no_prepare;
	if (r->quick && quick_scale(&p->set, &e))
		return say_err(&e, STATUS_TARGET);
	set_job_name(p);
	return STATUS_OK;
}

int prepare_text(struct prepared *p, const struct request *r, const char *name,
		 const char *text)
{
	struct err e = {0};

	if (jobfile_parse(&p->file, name, text, strlen(text), &e) ||
	    jobset_build(&p->set, &p->file, r->keys, r->nr_keys, &e))
		return say_err(&e, STATUS_TARGET);
	snprintf(p->job_name, sizeof(p->job_name), "%s", name);
	return STATUS_OK;
}

int prepare_load(struct prepared *p, const struct request *r)
{
	int status = prepare_read(p, r);

	for (size_t i = 0; !status && i < p->set.nr_warnings; i++)
		say("%s", p->set.warnings[i]);
	return status;
}

/* --- the LUN --- */

static void keep_fact(void *user, const char *key, const char *value)
{
	struct prepared *p = user;
	struct fact *f =
		reallocarray(p->session, p->nr_session + 1, sizeof(*f));

	if (!f)
		return;
	p->session = f;
	f += p->nr_session;
	f->key = strdup(key);
	f->value = strdup(value);
	p->nr_session++;
}

static void keep_key(void *user, const struct negotiated *key)
{
	struct prepared *p = user;
	struct login_key *k = reallocarray(p->keys, p->nr_keys + 1, sizeof(*k));

	if (!k)
		return;
	p->keys = k;
	k += p->nr_keys++;
	k->key = strdup(key->key);
	k->offered = strdup(key->offered);
	k->answered = strdup(key->answered);
	k->result = strdup(key->result);
}

static void drop_facts(struct prepared *p)
{
	size_t i;

	for (i = 0; i < p->nr_session; i++) {
		free(p->session[i].key);
		free(p->session[i].value);
	}
	free(p->session);
	p->session = NULL;
	p->nr_session = 0;
	for (i = 0; i < p->nr_keys; i++) {
		free(p->keys[i].key);
		free(p->keys[i].offered);
		free(p->keys[i].answered);
		free(p->keys[i].result);
	}
	free(p->keys);
	p->keys = NULL;
	p->nr_keys = 0;
}

/* What waiting cannot mend: the question is wrong, or the secret is. */
static bool is_final(int code)
{
	return code == -EINVAL || code == -EACCES || code == -EPERM ||
	       code == -EOPNOTSUPP || code == -ENOMEM;
}

static int probe(struct prepared *p, const struct request *r, struct err *e)
{
	const struct probe_events found = {
		.emit = keep_fact, .on_key = keep_key, .user = p};
	const struct timespec pause = {.tv_nsec = 200 * NS_PER_MSEC};
	uint64_t end_ns = clock_now_ns() + r->wait_ns;
	bool is_told = false;
	int rc;

	for (;;) {
		rc = transport_probe(&r->url, &r->run.initiator, &p->lun,
				     &found, e);
		if (!rc || is_final(rc) || clock_now_ns() >= end_ns ||
		    signals_seen)
			return rc;
		if (!is_told)
			say("%s; trying again", e->text);
		is_told = true;
		drop_facts(p);
		nanosleep(&pause, NULL);
	}
}

/* A null store answers for 1 TiB, whatever its user asked for. */
static void bound_to_target(struct prepared *p, const struct request *r)
{
	uint64_t blocks;

	p->is_ours = !strcmp(r->url.scheme, "iscsi") &&
		     (tgt_owns(r->url.host, r->url.port, r->url.target,
			       &p->target) ||
		      lab_target_owns(r->url.host, r->url.port, r->url.target,
				      &p->target, p->lab));
	if (!p->is_ours)
		return;
	blocks = p->target.size_bytes / p->lun.block_bytes;
	if (blocks && blocks < p->lun.blocks)
		p->lun.blocks = blocks;
	if (!strcmp(p->target.store, "null"))
		p->lun.keeps_data = false;
}

static int check_serial(const struct prepared *p, const struct request *r)
{
	const struct lun *l = &p->lun;

	if (!r->expect_serial || !strcmp(r->expect_serial, l->serial) ||
	    !strcmp(r->expect_serial, l->naa))
		return STATUS_OK;
	say("\"%s\": its serial number is \"%s\" (%s), not \"%s\"; is it the "
	    "right LUN?",
	    r->url.display, l->serial, l->naa[0] ? l->naa : "no NAA name",
	    r->expect_serial);
	return STATUS_USAGE;
}

int prepare_lun(struct prepared *p, const struct request *r)
{
	struct err e = {0};
	int rc;

	p->transport = transport_find(r->url.scheme, &e);
	if (!p->transport)
		return say_err(&e, STATUS_USAGE);
	rc = probe(p, r, &e);
	if (rc)
		return say_err(&e, rc == -EOPNOTSUPP || rc == -EINVAL
					   ? STATUS_USAGE
					   : STATUS_TARGET);
	p->probed_blocks = p->lun.blocks;
	bound_to_target(p, r);
	return check_serial(p, r);
}

int prepare_plan(struct prepared *p, const struct request *r)
{
	int rc = p->transport ? STATUS_OK : prepare_lun(p, r);
	uint64_t seed = r->seed;
	struct err e = {0};

	if (rc)
		return rc;
	if (!seed && jobset_wants_new_seed(&p->set) &&
	    getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = clock_wall_ns();
	if (plan_build(&p->plan, &p->set, &p->lun, seed, &e))
		return say_err(&e, STATUS_USAGE);
	return STATUS_OK;
}

/* --- the leave to write --- */

/* A disk that is mounted, or a part of md or LVM, is never written to: the
 * kernel refuses to open it exclusively. */
static int check_in_use(const struct request *r)
{
	struct stat st;
	int fd;

	if (strcmp(r->url.scheme, "block") || stat(r->url.rest, &st) ||
	    !S_ISBLK(st.st_mode))
		return STATUS_OK;
	fd = open(r->url.rest, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || errno != EBUSY)
		return STATUS_OK;
	say("\"%s\": is in use (mounted, or a part of md, LVM or another "
	    "device); a job that writes would destroy it under its user; "
	    "unmount it first",
	    r->url.display);
	return STATUS_USAGE;
}

/* Nothing can be lost where nothing is kept. A bundled target may serve a file
 * or device of its user's: that one is not ours to write to. */
bool prepare_wants_leave(const struct prepared *p)
{
	return p->plan.writes && p->lun.keeps_data &&
	       !(p->is_ours && p->target.backing_is_ours);
}

int prepare_guard(const struct prepared *p, const struct request *r)
{
	char found[512] = "", size[32];
	bool all_zero = false;
	struct err e = {0};

	if (!prepare_wants_leave(p))
		return STATUS_OK;
	if (check_in_use(r))
		return STATUS_USAGE;
	if (r->overwrite)
		return STATUS_OK;
	if (guard_inspect(&r->url, &r->run.initiator, &p->lun, found,
			  sizeof(found), &all_zero, &e))
		return say_err(&e, STATUS_TARGET);
	units_bytes(size, sizeof(size), lun_bytes(&p->lun));
	if (!found[0])
		snprintf(found, sizeof(found), "%s",
			 all_zero ? "no known signature, and zeros at both ends"
				  : "data without a known signature");
	say("\"%s\": this job writes to a LUN that lunbench did not create "
	    "(%s); found there: %s; add --overwrite to destroy it",
	    r->url.display, size, found);
	return STATUS_USAGE;
}

void prepare_release(struct prepared *p)
{
	plan_release(&p->plan);
	jobset_release(&p->set);
	jobfile_release(&p->file);
	drop_facts(p);
	free(p->job_path);
	memset(p, 0, sizeof(*p));
}
