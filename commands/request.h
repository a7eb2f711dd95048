#ifndef COMMANDS_REQUEST_H
#define COMMANDS_REQUEST_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/run.h"
#include "workloads/jobfile.h"

/*
 * What a command line asks for. The same options mean the same in every
 * subcommand that takes them; their tables are in request.c, and the job keys
 * come from options_table().
 */

enum { /* which groups of options and arguments a subcommand takes */
       REQUEST_JOB = 1,	     /* JOB and the job keys */
       REQUEST_URL = 2,	     /* a LUN's URL */
       REQUEST_PORTAL = 4,   /* HOST[:PORT], or a URL without a LUN */
       REQUEST_CONNECT = 8,  /* how to connect and log in */
       REQUEST_RUN = 16,     /* how to run, and what to do with the result */
       REQUEST_CAPTURE = 32, /* --pcap: whoever takes it calls capture_open() */
};

struct request {
	char *job; /* owned; a path or a shipped name, NULL: keys alone */
	struct setting *keys; /* owned; given as options, in order */
	size_t nr_keys;

	struct url url;
	bool has_url;

	struct run_opts run; /* url, transport and stop are set by prepare and
				measure; initiator.capture is owned here */
	uint64_t seed;	     /* 0: from the job */
	uint64_t wait_ns;    /* retry the first connect that long */
	const char *expect_serial; /* borrowed from argv */
	bool overwrite;
	bool verbose;
	bool quick;
	bool no_prepare;

	bool json;	    /* the document on stdout, all else on stderr */
	const char *file;   /* -o; borrowed from argv */
	const char *folder; /* --out; borrowed; NULL: "results" */
	bool quiet;

	const char *pcap_file; /* --pcap; borrowed from argv */
	bool has_snaplen;
	uint32_t pcap_keep; /* see pcap_open() */

	/* By index in argv: words that say which job, and what is shown and
	 * kept of it, and those that request_set_aside() was told of. The
	 * others say how it runs. */
	bool *set_aside; /* owned */
};

struct request_form {
	unsigned int takes;	       /* REQUEST_* */
	const char *args_doc;	       /* "[JOB] URL" */
	const char *doc;	       /* for --help */
	const struct argp_option *own; /* the subcommand's own options, or NULL;
					  they win over job keys of that name */
	error_t (*parse_own)(int key, char *arg, struct argp_state *state);
	void *own_input; /* its state->input */
};

/* Parses argv into @r. STATUS_OK, or another exit status after saying why.
 * Secrets in argv are overwritten. The caller releases @r in both cases. */
int request_parse(struct request *r, const struct request_form *form, int argc,
		  char **argv);
void request_release(struct request *r);

/* Adds key=value as if it had been given as an option. */
int request_add_key(struct request *r, const char *key, const char *value);

/* For parse_own: the option that is being parsed is set aside. */
void request_set_aside(struct request *r, const struct argp_state *state,
		       const char *arg);

/* "3", "500ms": a duration in seconds unless it has a unit. For parse_own, too:
 * 0, or EINVAL after saying why. */
error_t request_time(const char *option, const char *text, uint64_t *ns);

#endif
