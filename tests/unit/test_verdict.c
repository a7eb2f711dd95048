#include "base/clock.h"
#include "report/bottlenecks.h"
#include "report/evidence.h"
#include "tests/unit/result_sample.h"
#include "tests/unit/unit.h"

/* --- the rules, on rows that each have one thing at its limit --- */

/* The bundled target on this host, seen whole, with nothing at its limit. */
static struct evidence calm(void)
{
	return (struct evidence){
		.bytes_per_s = 40960000,
		.ios_per_s = 10000,
		.service_ns = 3200000,
		.in_flight = 32,
		.depth = 32,
		.has_workers = true,
		.workers = 1,
		.worker_busiest = 0.41,
		.workers_all = 0.41,
		.worker_waits = 2000,
		.has_host = true,
		.cpus = 4,
		.host_used = 0.3,
		.has_target = true,
		.thread_busiest = 0.5,
		.threads_all = 0.7,
		.has_disks = true,
		.disks = 4,
		.disk_busy = 0.5,
		.disk_queue = 0.7,
		.disks_busy_mean = 0.4,
		.disk_name = "sdb",
		.has_window = true,
		.outstanding = 32,
		.has_stages = true,
		.queued_here = 0.03,
		.r2t_wait = 0.02,
		.sending = 0.01,
		.at_target = 0.94,
		.is_network = true,
		.is_loopback = true,
	};
}

static void expect(const struct evidence *e, enum bottleneck what,
		   const char *part)
{
	struct verdict_of_row v;

	verdict_make(&v, e);
	CU_ASSERT_EQUAL(v.what, what);
	CU_ASSERT_PTR_NOT_NULL(strstr(v.why, part));
	if (v.what != what || !strstr(v.why, part))
		printf("# wanted %s with \"%s\", got %s: %s\n",
		       what ? bottleneck_name(what) : "unknown", part,
		       v.what ? bottleneck_name(v.what) : "unknown", v.why);
}

static void test_nothing_at_its_limit(void)
{
	struct evidence e = calm();

	expect(&e, BOTTLENECK_DEPTH,
	       "with 32 in flight, each waits 3.20 ms for the target (lunbench "
	       "used 41 % of a core, tgtd's busiest thread 50 %");
	/* Just under each limit. */
	e.worker_busiest = e.thread_busiest = 0.80;
	e.worker_starved = e.thread_starved = 0.09;
	e.disk_busy = 0.89;
	e.disk_queue = 9;
	e.host_used = 0.94;
	e.held = 7.9;
	e.r2t_wait = 0.24;
	e.sending = 0.49;
	e.sockets = (struct ceiling){true, 40960000 / 0.89};
	e.null_lun = e.device = e.sockets;
	expect(&e, BOTTLENECK_DEPTH, "nothing that was seen is at its limit");
}

static void test_initiator(void)
{
	struct evidence e = calm();

	e.worker_busiest = e.workers_all = 0.90;
	expect(&e, BOTTLENECK_INITIATOR,
	       "lunbench used 90 % of a core; it waited 2000 times a second;"
	       " tgtd's busiest thread 50 % of one");
	e.worker_waits = 0;
	expect(&e, BOTTLENECK_INITIATOR, "it never waited");
	e.workers = 3;
	e.workers_all = 1.2;
	expect(&e, BOTTLENECK_INITIATOR,
	       "busiest worker used 90 % of a core, its 3 together 120 %");
	/* The fuller of two holds the other up. */
	e.thread_busiest = 0.99;
	expect(&e, BOTTLENECK_TARGET_CPU, "used 99 % of its core");
	e.worker_busiest = 1;
	expect(&e, BOTTLENECK_INITIATOR, "tgtd's busiest thread 99 %");
}

static void test_target_cpu(void)
{
	struct evidence e = calm();

	e.thread_busiest = e.threads_all = 0.99;
	expect(&e, BOTTLENECK_TARGET_CPU,
	       "tgtd's busiest thread used 99 % of its core; lunbench used "
	       "41 % of a core");
	/* On a busy machine it does not get what it wants. */
	e.thread_busiest = 0.7;
	e.thread_starved = 0.25;
	expect(&e, BOTTLENECK_TARGET_CPU,
	       "used 70 % of its core and was ready without one for 25 % of "
	       "the time");
	/* The reason for its work is told, too. */
	e.r2t_wait = 0.41;
	expect(&e, BOTTLENECK_TARGET_CPU,
	       "41 % of the commands' time was waiting for R2Ts");
	e.has_target = false;
	expect(&e, BOTTLENECK_R2T, "41 %");
}

static void test_host_cpu(void)
{
	struct evidence e = calm();

	e.cpus = 2;
	e.host_used = 0.97;
	e.worker_busiest = e.workers_all = 0.8;
	e.thread_busiest = e.threads_all = 0.75;
	expect(&e, BOTTLENECK_INITIATOR,
	       "this host's 2 CPUs were all in use: lunbench 80 % of a core, "
	       "tgtd 75 %, others 39 %");
	e.threads_all = 0.85;
	expect(&e, BOTTLENECK_TARGET_CPU, "tgtd 85 %");
	e.workers_all = e.threads_all = 0.3;
	expect(&e, BOTTLENECK_HOST_CPU, "others 134 %");
	/* What they would do with more is not known; what is full is. */
	e.thread_busiest = e.threads_all = 0.5;
	e.thread_starved = 0.45;
	expect(&e, BOTTLENECK_HOST_CPU, "tgtd 50 %, others 114 %");
	e.thread_starved = 0.05;
	e.thread_busiest = 0.92;
	expect(&e, BOTTLENECK_TARGET_CPU, "used 92 % of its core");
	e.thread_busiest = 0.5;
	/* A neighbour's share is no use to us either. */
	e.host_used = 0.5;
	e.host_steal = 0.46;
	expect(&e, BOTTLENECK_HOST_CPU, "46 % of all went to other machines");
}

static void test_disks(void)
{
	struct evidence e = calm();

	e.disk_busy = 0.99;
	e.disk_queue = 7.8;
	expect(&e, BOTTLENECK_DISKS,
	       "sdb, the busiest of 4 disks, was in use 99 % of the time (on "
	       "average 40 %), with 7.8 requests in it");
	/* Busy once a tick: a fast disk that is mostly idle. */
	e.disk_queue = 0.2;
	expect(&e, BOTTLENECK_DEPTH, "nothing that was seen");
	e.device = (struct ceiling){true, 41000000};
	expect(&e, BOTTLENECK_DISKS, "100 % of what the device below gives");
}

static void test_waits(void)
{
	struct evidence e = calm();

	e.held = 24;
	e.held_sends = 0.98;
	expect(&e, BOTTLENECK_WINDOW,
	       "shut at 98 % of the sends: of 32.0 commands 24.0 waited for it "
	       "here, which is 75 % of their time");
	e = calm();
	e.r2t_wait = 0.41;
	e.at_target = 0.56;
	expect(&e, BOTTLENECK_R2T,
	       "41 % of the commands' time was waiting for the target to ask "
	       "for the data (R2T), 56 % for its answer");
	e = calm();
	e.sending = 0.6;
	e.at_target = 0.3;
	expect(&e, BOTTLENECK_WIRE, "60 % of the commands' time");
	e = calm();
	e.sockets = (struct ceiling){true, 42000000};
	expect(&e, BOTTLENECK_WIRE,
	       "40.96 MB/s are 98 % of what two sockets of this host pass");
	e.null_lun = e.sockets;
	e.sockets.bytes_per_s = 9e9;
	expect(&e, BOTTLENECK_WIRE, "what the null LUN gives");
	/* Faster than that: there is a cache, and no ceiling. */
	e.null_lun.bytes_per_s = 30000000;
	expect(&e, BOTTLENECK_DEPTH, "nothing that was seen");
	e.null_lun.bytes_per_s = 42000000;
	/* Those are this host's: they say nothing of a network. */
	e.is_loopback = false;
	expect(&e, BOTTLENECK_DEPTH, "nothing that was seen");
}

static void test_pace(void)
{
	struct evidence e = calm();

	e.is_paced = true;
	expect(&e, BOTTLENECK_DEPTH, "nothing that was seen");
	e.in_flight = 3.2;
	expect(&e, BOTTLENECK_PACE, "kept 3.2 of 32 slots in use");
}

static void test_far_target(void)
{
	struct evidence e = calm();

	/* An appliance: neither its CPU nor its disks are seen. */
	e.has_target = e.has_disks = e.is_loopback = false;
	e.disks = 0;
	expect(&e, BOTTLENECK_TARGET,
	       "94 % of each command's 3.20 ms went by at the target or in the "
	       "network to it; lunbench used 41 % of a core");
	e.has_stages = false;
	expect(&e, BOTTLENECK_UNKNOWN,
	       "cannot be told: neither the target nor the way to it was "
	       "seen");
	e.has_window = true;
	e.held = 24;
	expect(&e, BOTTLENECK_WINDOW, "waited for it here");
}

/* Each piece that is missing takes "nothing is at its limit" away. */
static void test_never_a_guess(void)
{
	struct evidence e = calm();

	e.has_host = false;
	e.has_stages = false;
	expect(&e, BOTTLENECK_UNKNOWN, "too short to see this host's CPUs");
	e = calm();
	e.has_stages = false;
	e.has_disks = false;
	e.disks = 0;
	expect(&e, BOTTLENECK_UNKNOWN, "the disks below were not seen");
	e.has_stages = true;
	expect(&e, BOTTLENECK_TARGET,
	       "something below it that cannot be seen from here");
	e.at_target = 0.45;
	e.queued_here = 0.35;
	e.r2t_wait = 0.2;
	expect(&e, BOTTLENECK_UNKNOWN,
	       "36 % went by here, 20 % waiting for R2Ts, 45 % at the target");
	e = calm();
	e.in_flight = 3;
	expect(&e, BOTTLENECK_UNKNOWN, "only 3.0 of 32 slots were in use");
	e = (struct evidence){.depth = 32};
	expect(&e, BOTTLENECK_UNKNOWN, "nothing was measured");
}

static void test_servers(void)
{
	struct evidence e = {.ios_per_s = 2000,
			     .bytes_per_s = 8192000,
			     .service_ns = 16e6,
			     .in_flight = 32,
			     .depth = 32,
			     .has_servers = true,
			     .servers = 4,
			     .servers_busy = 1};

	expect(&e, BOTTLENECK_TARGET,
	       "its 4 simulated servers were 100 % busy");
	e.servers_busy = 0.5;
	expect(&e, BOTTLENECK_DEPTH, "(its 4 servers were 50 % busy)");
}

/* --- from a document --- */

static struct beside seen[SAMPLE_ROWS];

static json_t *build(struct sample *s)
{
	static const struct worker_share share = {.number = 0,
						  .span_ns = NS_PER_SEC,
						  .cpu_ns = 410000000,
						  .waits = 5000};
	json_t *document;
	size_t i;

	for (i = 0; i < SAMPLE_ROWS; i++) {
		s->run.rows[i].workers = malloc(sizeof(share));
		*s->run.rows[i].workers = share;
		s->run.rows[i].nr_workers = 1;
		seen[i] = (struct beside){.has_host = true,
					  .cpus = 4,
					  .used = 0.3,
					  .has_target = true,
					  .threads = 17,
					  .busiest = 0.97,
					  .all = 1.1,
					  .has_disks = true};
	}
	s->in.beside = seen;
	document = result_build(&s->in, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	return document;
}

static json_t *row_of(const json_t *document, size_t i)
{
	return json_array_get(
		json_object_get(json_object_get(document, "lunbench"), "rows"),
		i);
}

static void test_from_a_document(void)
{
	const json_t *why, *law;
	struct evidence e;
	struct sample s;
	json_t *document;

	sample_init(&s);
	document = build(&s);
	evidence_of(&e, document, 0, NULL);
	law = json_object_get(row_of(document, 0), "littles_law");
	CU_ASSERT_DOUBLE_EQUAL(e.ios_per_s,
			       json_number_value(json_object_get(law, "x_hz")),
			       0.001);
	CU_ASSERT_EQUAL(e.depth, 8);
	CU_ASSERT_DOUBLE_EQUAL(e.worker_busiest, 0.41, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.worker_waits, 500, 1e-9); /* of 10 s */
	CU_ASSERT_DOUBLE_EQUAL(e.thread_busiest, 0.97, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.threads_all, 1.1, 1e-9);
	CU_ASSERT(e.has_disks && !e.disks);
	CU_ASSERT(e.is_network && !e.is_loopback && !e.is_paced);
	why = json_object_get(row_of(document, 0), "bottleneck");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(why, "what")),
			       "target cpu");
	/* The rate was kept: 0.09 of 8 slots in use. */
	why = json_object_get(row_of(document, 1), "bottleneck");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(why, "what")),
			       "pace");
	json_decref(document);
	sample_release(&s);
}

/* The tap's stages, as they stand in a row; and rows whose fields are of any
 * type, for a result may come from anywhere. */
static void test_stages_of_a_document(void)
{
	static const char *const odd[] = {"wire",	    "beside", "cpu",
					  "command_window", "ops",    "window",
					  "littles_law"};
	struct evidence e;
	struct sample s;
	json_t *document, *row;
	struct put p = {false};
	size_t i;

	sample_init(&s);
	document = build(&s);
	row = row_of(document, 0);
	json_object_del(row, "beside");
	json_object_set_new(row, "wire",
			    json_loads("{\"time_went\": {\"queued_here\": "
				       "0.03, \"r2t_wait\": 0.41, "
				       "\"sending\": 0.02, \"target\": "
				       "0.54}}",
				       0, NULL));
	evidence_of(&e, document, 0, NULL);
	CU_ASSERT(e.has_stages);
	CU_ASSERT_EQUAL(e.queued_here, 0.03);
	CU_ASSERT_EQUAL(e.r2t_wait, 0.41);
	CU_ASSERT_EQUAL(e.sending, 0.02);
	CU_ASSERT_EQUAL(e.at_target, 0.54);
	expect(&e, BOTTLENECK_R2T, "41 % of the commands' time");
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		json_object_set_new(row, odd[i], json_string("odd"));
	evidence_put(&p, document, NULL);
	CU_ASSERT(!p.failed);
	json_decref(document);
	sample_release(&s);
}

static void test_baseline_fits_or_not(void)
{
	struct baseline b = {.rw = "randread",
			     .block_bytes = 4096,
			     .iodepth = 8,
			     .row = {[BASELINE_SOCKETS] = {.is_measured = true,
							   .applies = true,
							   .bytes_per_s = 7}}};
	struct evidence e;
	struct sample s;
	json_t *document;

	sample_init(&s);
	/* Flushes have no bytes: give row 0 reads alone. */
	meter_release(&s.run.rows[0].meter);
	meter_init(&s.run.rows[0].meter, OP_BIT(OP_READ), NS_PER_SEC, NULL);
	sample_ios(&s.run.rows[0], OP_READ, 4096, 0, 200000, 55000, 0);
	sample_set(&s, 0, "rw", "randread");
	document = build(&s);
	evidence_of(&e, document, 0, &b);
	CU_ASSERT(e.sockets.is_known && !e.null_lun.is_known);
	CU_ASSERT_EQUAL(e.sockets.bytes_per_s, 7);
	b.iodepth = 4;
	evidence_of(&e, document, 0, &b);
	CU_ASSERT(!e.sockets.is_known);
	b.iodepth = 8;
	b.block_bytes = 8192;
	evidence_of(&e, document, 0, &b);
	CU_ASSERT(!e.sockets.is_known);
	b.block_bytes = 4096;
	strcpy(b.rw, "randwrite");
	evidence_of(&e, document, 0, &b);
	CU_ASSERT(!e.sockets.is_known);
	json_decref(document);
	sample_release(&s);
}

static void test_baseline_comes_back(void)
{
	struct baseline b = {.url = "iscsi://h/t/1",
			     .rw = "randread",
			     .block_bytes = 4096,
			     .iodepth = 32},
			back;
	struct err e;
	json_t *document;
	char *text;

	b.row[BASELINE_SOCKETS] = (struct baseline_row){.is_measured = true,
							.applies = true,
							.of = "a pair",
							.bytes_per_s = 4e9,
							.ios_per_s = 1e6,
							.mean_ns = 1000,
							.cpu_ns = 900};
	b.row[BASELINE_DEVICE] = (struct baseline_row){.note = "not ours"};
	document = baseline_build(&b, NS_PER_SEC, NULL);
	text = json_dumps(document, 0);
	CU_ASSERT_EQUAL_FATAL(baseline_parse(&back, "b", text, &e), 0);
	CU_ASSERT_STRING_EQUAL(back.url, b.url);
	CU_ASSERT_EQUAL(back.block_bytes, 4096);
	CU_ASSERT_EQUAL(back.row[BASELINE_SOCKETS].bytes_per_s, 4e9);
	CU_ASSERT(back.row[BASELINE_SOCKETS].applies);
	CU_ASSERT(!back.row[BASELINE_DEVICE].is_measured);
	CU_ASSERT_STRING_EQUAL(back.row[BASELINE_DEVICE].note, "not ours");
	free(text);
	json_decref(document);
	CU_ASSERT_EQUAL(baseline_parse(&back, "b", "{", &e), -EINVAL);
	CU_ASSERT_EQUAL(baseline_parse(&back, "b", "[]", &e), -EINVAL);
	CU_ASSERT_EQUAL(baseline_parse(&back, "b", "{\"lunbench\":{}}", &e),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "is no baseline"));
	CU_ASSERT_EQUAL(
		baseline_parse(&back, "b",
			       "{\"baseline\":{\"schema\":9,\"rows\":[]}}", &e),
		-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "version 9"));
	CU_ASSERT_EQUAL(
		baseline_parse(
			&back, "b",
			"{\"baseline\":{\"schema\":1,\"rows\":[1,{},"
			"{\"what\":7},{\"what\":\"device\",\"of\":[]}]}}",
			&e),
		0);
}

/* --- told together --- */

static void test_lines(void)
{
	struct bottleneck_line l;
	size_t at = 0;
	json_t *rows = json_loads(
		"[{\"name\":\"a\",\"step_clients\":1,"
		"\"bottleneck\":{\"what\":\"depth\",\"why\":\"x\"}},"
		"{\"name\":\"a\",\"step_clients\":4,"
		"\"bottleneck\":{\"what\":\"depth\",\"why\":\"y\"}},"
		"{\"name\":\"b\"},"
		"{\"name\":\"c\",\"bottleneck\":{\"why\":\"z\"}},"
		"{\"name\":\"a\",\"step_clients\":8,"
		"\"bottleneck\":{\"what\":\"target\",\"why\":\"t\"}},"
		"{\"name\":\"c\",\"bottleneck\":{\"why\":\"w\"}}]",
		0, NULL);

	CU_ASSERT(bottleneck_next(rows, &at, &l));
	CU_ASSERT_STRING_EQUAL(l.title, "a, 1 to 4 clients");
	CU_ASSERT_STRING_EQUAL(l.why, "y");
	CU_ASSERT(bottleneck_next(rows, &at, &l));
	CU_ASSERT_STRING_EQUAL(l.title, "c (2 times)");
	CU_ASSERT_STRING_EQUAL(l.what, "");
	CU_ASSERT_STRING_EQUAL(l.why, "w");
	CU_ASSERT(bottleneck_next(rows, &at, &l));
	CU_ASSERT_STRING_EQUAL(l.title, "a, 8 clients");
	CU_ASSERT(!bottleneck_next(rows, &at, &l));
	json_decref(rows);
}

UNIT_TESTS("verdict", {"nothing at its limit", test_nothing_at_its_limit},
	   {"initiator cpu", test_initiator}, {"target cpu", test_target_cpu},
	   {"host cpu", test_host_cpu}, {"member disks", test_disks},
	   {"window, r2t, wire", test_waits}, {"pace", test_pace},
	   {"a target far away", test_far_target},
	   {"never a guess", test_never_a_guess},
	   {"simulated servers", test_servers},
	   {"from a document", test_from_a_document},
	   {"stages of a document", test_stages_of_a_document},
	   {"a baseline fits or not", test_baseline_fits_or_not},
	   {"a baseline comes back", test_baseline_comes_back},
	   {"lines", test_lines})
