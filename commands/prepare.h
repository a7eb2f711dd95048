#ifndef COMMANDS_PREPARE_H
#define COMMANDS_PREPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/array_watch.h"
#include "commands/request.h"
#include "report/result.h"
#include "target/tgt.h"
#include "workloads/plan.h"

/* What a command adds to a result, and tells of it instead of the table. */
struct measure_addition {
	int (*add)(void *user, json_t *document, struct err *e);
	void (*print)(void *user, FILE *out);
	void *user;
};

/*
 * From a request to a plan, and to the leave to run it: everything that `plan`,
 * `run` and `bench` do before a byte is measured. All functions return an exit
 * status, after saying why it is not STATUS_OK.
 */
struct prepared {
	char *job_path;	    /* owned; NULL: keys alone */
	char job_name[128]; /* for file names */
	struct jobfile file;
	struct jobset set;
	const struct transport *transport;
	struct lun lun;		/* as probed, bounded to what may be used */
	uint64_t probed_blocks; /* before that bound */
	struct fact *session;	/* owned; negotiated keys */
	struct login_key *keys; /* owned; of the login */
	size_t nr_keys;
	size_t nr_session;
	bool is_ours;		  /* the LUN of a bundled target that runs */
	struct tgt_status target; /* valid if is_ours */
	char lab[128];		  /* the lab that it runs in; "" for none */
	/* borrowed; what is done to its array meanwhile; NULL: nothing */
	const struct array_steps *array_steps;
	const struct measure_addition *addition; /* borrowed; or NULL */
	struct plan plan;
};

/* The job file and the keys: looks at no target. _read leaves it to another
 * lunbench, which runs the job, to say its warnings. */
int prepare_read(struct prepared *p, const struct request *r);
int prepare_load(struct prepared *p, const struct request *r);

/* A job file of a command's own, from memory. */
int prepare_text(struct prepared *p, const struct request *r, const char *name,
		 const char *text);

/* Probes the LUN, retrying for r->wait_ns: for commands whose job depends on
 * it. */
int prepare_lun(struct prepared *p, const struct request *r);

/* Plans the job on the LUN, which it probes unless that is done. Writes nothing
 * to it. */
int prepare_plan(struct prepared *p, const struct request *r);

/* Whether the plan writes to what is not ours: run then wants --overwrite. */
bool prepare_wants_leave(const struct prepared *p);

/* Refuses a plan that would write to what is not ours; reads, never writes. */
int prepare_guard(const struct prepared *p, const struct request *r);

/* Takes a zeroed one, too. */
void prepare_release(struct prepared *p);

#endif
