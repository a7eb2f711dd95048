#ifndef TESTS_UNIT_RESULT_SAMPLE_H
#define TESTS_UNIT_RESULT_SAMPLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "report/result.h"

/*
 * A plan and its result made by hand, for tests of what reads them: three rows
 * in three groups, of which each test spoils what it wants before
 * result_build().
 *
 *   0 "mixed"  random reads, writes, flushes; closed loop, 2 clients of depth
 * 4, 10 s with 1 s of ramp 1 "paced"  reads at 1000 a second, open loop, one
 * client, 4 s 2 "trims"  trims, one client, 2 s
 */
enum { SAMPLE_ROWS = 3, SAMPLE_CLIENTS = 4 };

struct sample {
	struct jobset set;
	struct job_opts jobs[SAMPLE_ROWS];
	struct setting settings[SAMPLE_ROWS][4];
	struct setting global[2];
	struct setting *given[SAMPLE_ROWS];
	size_t nr_given[SAMPLE_ROWS];
	struct plan plan;
	struct plan_client clients[SAMPLE_CLIENTS];
	struct plan_row rows[SAMPLE_ROWS];
	struct plan_group groups[SAMPLE_ROWS];
	struct run_result run; /* owned: release with sample_release() */
	struct fact session[2], target[2];
	struct result_input in;
};

static inline void sample_client(struct sample *s, size_t i, size_t row,
				 unsigned int number)
{
	s->clients[i] = (struct plan_client){
		.job = row,
		.row = row,
		.group = row,
		.number = number,
		.offset_bytes = number * (512ULL << 20),
		.length_bytes = 512ULL << 20,
		.io_bytes = UINT64_MAX,
		.number_ios = UINT64_MAX,
		.seed = rng_derive(42, i),
	};
}

static inline void sample_job(struct sample *s, size_t row, char *name,
			      unsigned int ops, uint32_t bs,
			      unsigned int iodepth)
{
	struct job_opts *o = &s->jobs[row];

	job_opts_init(o);
	o->ops = ops & ~OP_BIT(OP_FLUSH);
	o->is_random = true;
	o->iodepth = iodepth;
	o->bs[OP_READ] = o->bs[OP_WRITE] = o->bs[OP_TRIM] = bs;
	s->given[row] = s->settings[row];
	s->rows[row] = (struct plan_row){.name = name,
					 .groupid = row,
					 .group = row,
					 .job = row,
					 .nr_clients = row ? 1 : 2,
					 .ops = ops};
	s->groups[row] = (struct plan_group){.first_client = row ? row + 1 : 0,
					     .nr_clients = row ? 1 : 2,
					     .expected_ns = 10 * NS_PER_SEC};
}

static inline void sample_plan(struct sample *s)
{
	static char name_mixed[] = "mixed", name_paced[] = "paced",
		    name_trims[] = "trims";

	sample_job(s, 0, name_mixed,
		   OP_BIT(OP_READ) | OP_BIT(OP_WRITE) | OP_BIT(OP_FLUSH), 4096,
		   4);
	sample_job(s, 1, name_paced, OP_BIT(OP_READ), 65536, 8);
	sample_job(s, 2, name_trims, OP_BIT(OP_TRIM), 1 << 20, 1);
	s->jobs[1].rate_iops[OP_READ] = 1000;
	sample_client(s, 0, 0, 0);
	sample_client(s, 1, 0, 1);
	sample_client(s, 2, 1, 0);
	sample_client(s, 3, 2, 0);
	s->set = (struct jobset){.jobs = s->jobs,
				 .given = s->given,
				 .nr_given = s->nr_given,
				 .nr_jobs = SAMPLE_ROWS};
	s->plan = (struct plan){.set = &s->set,
				.seed = 42,
				.clients = s->clients,
				.nr_clients = SAMPLE_CLIENTS,
				.rows = s->rows,
				.nr_rows = SAMPLE_ROWS,
				.groups = s->groups,
				.nr_groups = SAMPLE_ROWS,
				.writes = true};
	s->plan.lun = (struct lun){.blocks = 2 << 20,
				   .block_bytes = 512,
				   .can_unmap = true,
				   .keeps_data = true,
				   .vendor = "IET",
				   .product = "VIRTUAL-DISK",
				   .revision = "0001",
				   .serial = "beaf11",
				   .naa = "naa.6000000000000001"};
}

/* @nr I/Os, one each @gap_ns from @from_ns on; what Little's law needs is kept
 * true by adding up the service times. */
static inline void sample_ios(struct row_result *rr, enum io_op op,
			      uint32_t bytes, uint64_t from_ns, uint64_t gap_ns,
			      size_t nr, uint64_t wait_ns)
{
	uint64_t start = 1000 * NS_PER_SEC, due, submit, service;
	struct rng r;
	bool counted;
	size_t i;

	rng_init(&r, op);
	for (i = 0; i < nr; i++) {
		due = from_ns + i * gap_ns;
		submit = due + wait_ns;
		service = 50000 - 40000 * log(1 - rng_double(&r));
		counted = due >= rr->window_start_ns && due < rr->window_end_ns;
		meter_record(&rr->meter, op, bytes, counted, start + due,
			     start + submit, start + submit + service,
			     submit + service);
		if (!counted)
			continue;
		rr->meter.outstanding_ns += service;
		rr->clients[i % rr->nr_clients].ios++;
		rr->clients[i % rr->nr_clients].bytes += bytes;
	}
}

static inline void sample_row(struct sample *s, size_t row, uint64_t start_ns,
			      uint64_t end_ns)
{
	struct row_result *rr = &s->run.rows[row];
	size_t i;

	meter_init(&rr->meter, s->rows[row].ops, NS_PER_SEC, NULL);
	rr->window_start_ns = start_ns;
	rr->window_end_ns = end_ns;
	rr->nr_clients = s->rows[row].nr_clients;
	rr->clients = calloc(rr->nr_clients, sizeof(*rr->clients));
	for (i = 0; i < rr->nr_clients; i++)
		rr->clients[i].client = s->groups[row].first_client + i;
	rr->user_cpu_ns = 300 * NS_PER_MSEC;
	rr->system_cpu_ns = 100 * NS_PER_MSEC;
	rr->context_switches = 77;
}

static inline void sample_event(struct sample *s, uint64_t at_ns,
				enum event_kind kind, const char *text)
{
	struct run_result *run = &s->run;
	struct run_event *ev;

	run->events = realloc(run->events, (run->nr_events + 1) * sizeof(*ev));
	ev = &run->events[run->nr_events++];
	*ev = (struct run_event){.at_ns = at_ns, .kind = kind};
	snprintf(ev->text, sizeof(ev->text), "%s", text);
}

static inline void sample_run(struct sample *s)
{
	static const uint64_t starts[] = {0, 11, 16}, ends[] = {11, 15, 18};
	struct run_result *run = &s->run;
	size_t i;

	run->nr_rows = run->nr_groups = SAMPLE_ROWS;
	run->rows = calloc(SAMPLE_ROWS, sizeof(*run->rows));
	run->group_start_ns = calloc(SAMPLE_ROWS, sizeof(uint64_t));
	run->group_end_ns = calloc(SAMPLE_ROWS, sizeof(uint64_t));
	for (i = 0; i < SAMPLE_ROWS; i++) {
		run->group_start_ns[i] = starts[i] * NS_PER_SEC;
		run->group_end_ns[i] = ends[i] * NS_PER_SEC;
	}
	run->start_wall_ns = 1767225600 * NS_PER_SEC + 5 * NS_PER_MSEC;
	run->duration_ns = 18 * NS_PER_SEC;
	run->nr_workers = 1;
	sample_row(s, 0, NS_PER_SEC, 11 * NS_PER_SEC);
	sample_row(s, 1, 0, 4 * NS_PER_SEC);
	sample_row(s, 2, 0, 2 * NS_PER_SEC);
	sample_ios(&run->rows[0], OP_READ, 4096, 0, 200000, 55000, 0);
	sample_ios(&run->rows[0], OP_WRITE, 4096, 0, 400000, 27500, 0);
	sample_ios(&run->rows[0], OP_FLUSH, 0, 0, 3200000, 3437, 0);
	sample_ios(&run->rows[1], OP_READ, 65536, 0, 1000000, 4000, 20000);
	sample_ios(&run->rows[2], OP_TRIM, 1 << 20, 0, 1000000, 2000, 0);
	sample_event(s, 0, EVENT_PHASE, "group 0 started");
}

static inline void sample_init(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	sample_plan(s);
	sample_run(s);
	s->session[0] = (struct fact){(char *)"HeaderDigest", (char *)"None"};
	s->session[1] = (struct fact){(char *)"InitialR2T", (char *)"No"};
	s->target[0] = (struct fact){(char *)"store", (char *)"rdwr"};
	s->target[1] = (struct fact){(char *)"durable", (char *)"yes"};
	s->in = (struct result_input){
		.plan = &s->plan,
		.run = &s->run,
		.url = "iscsi://10.0.0.5/iqn.2026-11.dev.example:disk/1",
		.transport = "iscsi",
		.job_name = "sample.fio",
		.session = s->session,
		.nr_session = 2,
		.target = s->target,
		.nr_target = 2,
	};
}

static inline void sample_set(struct sample *s, size_t row, const char *key,
			      const char *value)
{
	s->settings[row][s->nr_given[row]++] =
		(struct setting){.key = (char *)key, .value = (char *)value};
}

static inline void sample_release(struct sample *s)
{
	run_result_release(&s->run);
}

#endif
