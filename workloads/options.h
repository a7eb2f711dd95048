#ifndef WORKLOADS_OPTIONS_H
#define WORKLOADS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * One job's typed options, and the ONE table they come from: parser, --help,
 * the man page's list and the result's "job options" all read it. Semantics
 * are fio's (HOWTO); where we differ the table's help says so.
 */

enum io_op { OP_READ, OP_WRITE, OP_TRIM, OP_FLUSH, OP_COUNT };
/* Ops that have sizes and rates of their own ("a,b,c" lists): read, write,
 * trim. */
enum { OP_DATA_COUNT = 3 };
#define OP_BIT(op) (1u << (op))

const char *op_name(enum io_op op); /* "read" "write" "trim" "flush" */

/* An amount as written: bytes, or percent of the LUN (resolved by the plan). */
struct amount {
	bool set;
	bool is_percent;
	uint64_t bytes;
	double percent;
};

struct bs_share { /* bssplit: @percent of the I/Os are @bytes long */
	uint32_t bytes;
	double percent;
};

enum distribution_kind {
	DIST_RANDOM, /* uniform */
	DIST_ZIPF,   /* param: theta > 0, != 1 */
	DIST_PARETO, /* param: h in (0, 1) */
	DIST_NORMAL, /* param: deviation in percent of the range */
	DIST_ZONED,
};

struct zone { /* @access percent of the I/Os go to the next @size percent */
	double access;
	double size;
};

struct distribution {
	enum distribution_kind kind;
	double param;
	double center;	    /* fraction of the range; negative: not given */
	struct zone *zones; /* owned */
	size_t nr_zones;
};

enum rate_process { RATE_LINEAR, RATE_POISSON };

enum { PERCENTILES_MAX = 20, PATTERN_MAX = 512, STEPS_MAX = 256 };

/* What ends repeats before there are as many as asked for. */
enum until_kind { UNTIL_NONE, UNTIL_CI, UNTIL_STEADY };

struct until {
	enum until_kind kind;
	double percent; /* UNTIL_CI: half width of the interval of the mean */
};

enum misfit { MISFIT_ERROR, MISFIT_SKIP, MISFIT_ADAPT };
enum view { VIEW_NONE, VIEW_BARS, VIEW_CDM, VIEW_COPY };

struct job_opts {
	char *name;	   /* owned; the section's name */
	char *description; /* owned or NULL */

	unsigned int ops; /* OP_BIT(s) of read, write, trim that rw names */
	bool is_random;
	unsigned int sequence; /* rw=randread:8 -> 8, rw=read:4k -> see step */
	int64_t step_bytes;    /* rw=read:4k adds this hole after each I/O */
	uint32_t bs[OP_DATA_COUNT];
	struct bs_share *bssplit[OP_DATA_COUNT]; /* owned */
	size_t nr_bssplit[OP_DATA_COUNT];
	uint32_t blockalign[OP_DATA_COUNT]; /* 0: as bs */
	unsigned int iodepth;
	unsigned int numjobs; /* that many clones, each with the full region */
	unsigned int clients; /* sessions of each clone, with disjoint equal
				 slices of the region; of a sweep its most */

	struct amount size, io_size, offset, offset_increment;
	uint64_t filesize;   /* bytes of the LUN that are used; 0: all */
	uint64_t number_ios; /* 0 no limit */
	uint64_t runtime_ns; /* 0 no limit */
	uint64_t ramp_ns;
	uint64_t startdelay_ns;
	bool time_based;
	unsigned int loops;
	bool stonewall; /* wait for all jobs before this one */
	bool new_group; /* starts a new reporting group */
	bool group_reporting;

	unsigned int rwmixread;			       /* percent */
	unsigned int percentage_random[OP_DATA_COUNT]; /* 0..100 */
	struct distribution distribution;
	bool norandommap;
	bool randrepeat; /* same seed every run (default) */
	bool randseed_set;
	uint64_t randseed;

	uint64_t thinktime_ns;
	unsigned int thinktime_blocks;
	uint64_t rate[OP_DATA_COUNT];	   /* bytes/s, 0 none */
	uint64_t rate_iops[OP_DATA_COUNT]; /* I/O per s, 0 none */
	enum rate_process rate_process;

	unsigned int fsync, fdatasync; /* flush after every N writes, 0 never */
	bool end_fsync;

	unsigned int compress_percent; /* buffer_compress_percentage */
	uint8_t pattern[PATTERN_MAX];
	size_t pattern_len; /* 0: none */
	bool zero_buffers, refill_buffers;

	double percentiles[PERCENTILES_MAX]; /* ascending */
	size_t nr_percentiles;

	unsigned int continue_on_error; /* OP_BIT mask of ops whose errors do
					   not end the job */
	unsigned int kb_base; /* 1024 or 1000: how sizes in the same section
				 and below were read */

	/* Keys of ours, which fio has not (see also clients). */
	unsigned int *steps;	  /* owned; clients=LIST: a sweep, ascending */
	size_t nr_steps;	  /* 0: no sweep */
	uint64_t workspace_bytes; /* of each client; 0: a slice of the region */
	bool prepare; /* makes the LUN ready for the other jobs: runs once */
	unsigned int repeats;  /* 0: not given */
	bool repeats_together; /* they follow each other at once */
	struct until until;
	enum misfit misfit; /* what to do where it does not fit the LUN */
	uint64_t fit_bytes; /* what adapt and skip take the LUN for at most */
	enum view view;
	char **departs; /* owned sentences */
	size_t nr_departs;
};

enum option_kind {
	OPTION_WORKS,
	OPTION_NOT_APPLICABLE, /* accepted: means nothing for a LUN */
	OPTION_UNSUPPORTED,    /* would change what is measured: refused, unless
				  its value asks for nothing (verify=0) */
};

struct option_desc {
	const char *name;
	const char *alias; /* or NULL */
	enum option_kind kind;
	const char *heading; /* in --help and man, above this and the following
				keys; NULL: the group goes on */
	const char *arg;     /* "SIZE", "N", "0|1", ...; NULL unless WORKS */
	const char *default_text; /* for --help and man, NULL none; for
				     UNSUPPORTED: the values, separated by
				     spaces, that are accepted */
	const char *help;	  /* one line, with units; why, unless WORKS */
	bool value_optional;	  /* `stonewall` alone means 1 */
	/* the rest is private to options.c and option_types.c */
	int type;
	size_t field;
	uint64_t min, max;
	uint64_t unit_ns;
};

/* "bars", "cdm", "copy"; NULL for VIEW_NONE. */
const char *view_name(enum view v);

/* "ci:2%", "steady"; "" for UNTIL_NONE. */
void until_format(const struct until *u, char *text, size_t size);

/* The table, ended by a NULL name, in the order --help shows it: first all
 * that work, under headings, then the not applicable, then the unsupported. */
const struct option_desc *options_table(void);

/* By name or alias; NULL if there is none. */
const struct option_desc *option_find(const char *name);

/* The known key nearest to @name (edit distance), or NULL if none is near. */
const char *option_nearest(const char *name);

/* fio's defaults (bs 4k, iodepth 1, numjobs 1, rw read, ...). */
void job_opts_init(struct job_opts *o);
int job_opts_copy(struct job_opts *to, const struct job_opts *from); /* deep */
void job_opts_release(struct job_opts *o);

/*
 * Sets one key. @value may be NULL where value_optional. A NOT_APPLICABLE key
 * changes nothing, whatever its value. Errors name key and value, not the
 * place: the caller prefixes "file:line". On success @warning (size
 * @warning_size) holds a sentence (the KiB trap), or "". @o is whole also after
 * an error.
 */
int option_set(struct job_opts *o, const struct option_desc *d,
	       const char *value, unsigned int kb_base, char *warning,
	       size_t warning_size, struct err *e);

#endif
