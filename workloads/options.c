#include "workloads/options.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "workloads/option_types.h"

#define WORKS(n, a, argument, dflt)                                   \
	.name = n, .alias = a, .kind = OPTION_WORKS, .arg = argument, \
	.default_text = dflt
#define FIELD(t, f) .type = TYPE_##t, .field = offsetof(struct job_opts, f)
#define RANGE(low, high) .min = low, .max = high
#define NOT_APPLICABLE(n, a, why)                                     \
	{                                                             \
		.name = n, .alias = a, .kind = OPTION_NOT_APPLICABLE, \
		.help = why                                           \
	}
#define UNSUPPORTED(n, a, harmless, why)                           \
	{                                                          \
		.name = n, .alias = a, .kind = OPTION_UNSUPPORTED, \
		.default_text = harmless, .help = why              \
	}

enum { BS_MAX = 1 << 30 };

static const struct option_desc table[] = {
	{.heading = "What to do",
	 WORKS("rw", "readwrite", "KIND", "read"),
	 FIELD(RW, ops),
	 .help = "read write trim rw randread randwrite randtrim randrw; "
		 "randread:8 draws an address every 8 I/Os, read:4k leaves "
		 "holes of 4k"},
	{WORKS("bs", "blocksize", "SIZE[,SIZE[,SIZE]]", "4k"),
	 FIELD(SIZE_LIST, bs), RANGE(1, BS_MAX),
	 .help = "bytes per I/O; for reads, writes, trims apart with commas"},
	{WORKS("bssplit", NULL, "SIZE/P:SIZE/P...", NULL),
	 FIELD(BSSPLIT, bssplit), RANGE(1, BS_MAX),
	 .help = "mix of sizes with percentages, blank ones share the rest; "
		 "per operation with commas"},
	{WORKS("blockalign", "ba", "SIZE[,SIZE[,SIZE]]", "bs"),
	 FIELD(SIZE_LIST, blockalign), RANGE(1, BS_MAX),
	 .help = "random addresses are multiples of this many bytes"},
	{WORKS("rwmixread", NULL, "PERCENT", "50"), FIELD(UINT, rwmixread),
	 RANGE(0, 100), .help = "reads among the I/Os of rw and randrw"},
	{WORKS("rwmixwrite", NULL, "PERCENT", "50"),
	 FIELD(RWMIXWRITE, rwmixread), RANGE(0, 100),
	 .help = "the same, said of the writes"},
	{WORKS("percentage_random", NULL, "P[,P[,P]]", "100"),
	 FIELD(PERCENT_LIST, percentage_random), RANGE(0, 100),
	 .help = "random I/Os among those of a rand... job; the rest go on "
		 "where the last ended"},
	{WORKS("random_distribution", NULL, "MODEL", "random"),
	 FIELD(DISTRIBUTION, distribution),
	 .help = "random, zipf:THETA, pareto:H, normal:DEVIATION (with "
		 ":CENTER), zoned:ACCESS/SIZE:... in percent"},
	{WORKS("norandommap", NULL, "0|1", "0"), FIELD(BOOL, norandommap),
	 .value_optional = true,
	 .help = "draw addresses freely; otherwise each block once a pass"},
	{.heading = "How much and where",
	 WORKS("size", NULL, "SIZE|P%", "rest of the LUN"),
	 FIELD(AMOUNT, size),
	 .help = "length of the region in bytes, or in percent of the LUN"},
	{WORKS("offset", "fileoffset", "SIZE|P%", "0"), FIELD(AMOUNT, offset),
	 .help = "start of the region"},
	{WORKS("offset_increment", NULL, "SIZE|P%", "0"),
	 FIELD(AMOUNT, offset_increment),
	 .help = "clone number N starts N times this further on"},
	{WORKS("filesize", NULL, "SIZE", "whole LUN"), FIELD(U64, filesize),
	 RANGE(0, UINT64_MAX),
	 .help = "use that much of the LUN; size is then an amount in it"},
	{WORKS("io_size", "io_limit", "SIZE|P%", "size"),
	 FIELD(AMOUNT, io_size),
	 .help = "bytes to transfer, or percent of size"},
	{WORKS("number_ios", NULL, "N", "0"), FIELD(U64, number_ios),
	 RANGE(0, UINT64_MAX), .help = "end after N I/Os; 0: no limit"},
	{WORKS("loops", NULL, "N", "1"), FIELD(UINT, loops),
	 RANGE(1, UINT32_MAX), .help = "do it N times over"},
	{.heading = "How hard",
	 WORKS("iodepth", NULL, "N", "1"),
	 FIELD(UINT, iodepth),
	 RANGE(1, 65536),
	 .help = "I/Os in flight in each session"},
	{WORKS("numjobs", NULL, "N", "1"), FIELD(UINT, numjobs),
	 RANGE(1, 65536),
	 .help = "clones of the job, each with the whole region"},
	{WORKS("thinktime", NULL, "TIME", "0"), FIELD(TIME, thinktime_ns),
	 .unit_ns = NS_PER_USEC,
	 .help = "pause after thinktime_blocks I/Os; in us without a unit"},
	{WORKS("thinktime_blocks", NULL, "N", "1"),
	 FIELD(UINT, thinktime_blocks), RANGE(1, UINT32_MAX),
	 .help = "I/Os between two pauses"},
	{WORKS("rate", NULL, "SIZE[,SIZE[,SIZE]]", "0"), FIELD(RATE_LIST, rate),
	 RANGE(0, UINT64_MAX),
	 .help = "open loop: bytes a second of each clone; 0: as fast as it "
		 "goes"},
	{WORKS("rate_iops", NULL, "N[,N[,N]]", "0"),
	 FIELD(RATE_LIST, rate_iops), RANGE(0, UINT64_MAX),
	 .help = "open loop: I/Os a second of each clone; 0: as fast as it "
		 "goes"},
	{WORKS("rate_process", NULL, "MODEL", "linear"),
	 FIELD(RATE_PROCESS, rate_process),
	 .help = "arrivals of the open loop: linear or poisson"},
	{WORKS("fsync", NULL, "N", "0"), FIELD(UINT, fsync),
	 RANGE(0, UINT32_MAX),
	 .help = "SYNCHRONIZE CACHE after every N writes; 0: never"},
	{WORKS("fdatasync", NULL, "N", "0"), FIELD(UINT, fdatasync),
	 RANGE(0, UINT32_MAX), .help = "the same as fsync on a LUN"},
	{WORKS("end_fsync", "fsync_on_close", "0|1", "0"),
	 FIELD(BOOL, end_fsync),
	 .help = "SYNCHRONIZE CACHE at the end of the job"},
	{.heading = "How long",
	 WORKS("runtime", "timeout", "TIME", "0"),
	 FIELD(TIME, runtime_ns),
	 .unit_ns = NS_PER_SEC,
	 .help = "end after this time; in seconds without a unit; 0: no limit"},
	{WORKS("time_based", NULL, "0|1", "0"), FIELD(BOOL, time_based),
	 .value_optional = true, .help = "start over until runtime is reached"},
	{WORKS("ramp_time", NULL, "TIME", "0"), FIELD(TIME, ramp_ns),
	 .unit_ns = NS_PER_SEC,
	 .help = "load before measuring starts, in addition to runtime"},
	{WORKS("startdelay", NULL, "TIME", "0"), FIELD(TIME, startdelay_ns),
	 .unit_ns = NS_PER_SEC, .help = "wait before the job starts"},
	{WORKS("stonewall", "wait_for_previous", "0|1", "0"),
	 FIELD(BOOL, stonewall), .value_optional = true,
	 .help = "start when all jobs before have ended"},
	{.heading = "The data of writes",
	 WORKS("zero_buffers", NULL, "0|1", "0"),
	 FIELD(BOOL, zero_buffers),
	 .value_optional = true,
	 .help = "write zeros"},
	{WORKS("buffer_pattern", NULL, "BYTES", NULL), FIELD(PATTERN, pattern),
	 .help = "write this over and over: 0xdeadface, \"text\" or a number"},
	{WORKS("refill_buffers", NULL, "0|1", "0"), FIELD(BOOL, refill_buffers),
	 .value_optional = true, .help = "new random data for each write"},
	{WORKS("buffer_compress_percentage", NULL, "PERCENT", "0"),
	 FIELD(UINT, compress_percent), RANGE(0, 100),
	 .help = "make this much of each 4 KiB zero"},
	{WORKS("randrepeat", "allrandrepeat", "0|1", "1"),
	 FIELD(BOOL, randrepeat),
	 .help = "the same addresses and data in every run"},
	{WORKS("randseed", NULL, "N", NULL), FIELD(RANDSEED, randseed),
	 RANGE(0, UINT64_MAX), .help = "seed of the job's random streams"},
	{.heading = "What to report",
	 WORKS("name", NULL, "TEXT", "the section"),
	 FIELD(TEXT, name),
	 .help = "name of the job in the result"},
	{WORKS("description", NULL, "TEXT", NULL), FIELD(TEXT, description),
	 .help = "text for the result"},
	{WORKS("group_reporting", NULL, "0|1", "0"),
	 FIELD(BOOL, group_reporting), .value_optional = true,
	 .help = "one row for all clones of the reporting group"},
	{WORKS("new_group", NULL, "0|1", "0"), FIELD(BOOL, new_group),
	 .value_optional = true, .help = "start a new reporting group"},
	{WORKS("percentile_list", NULL, "P:P...", "1:5:10:...:99.99"),
	 FIELD(PERCENTILES, percentiles),
	 .help = "percentiles of latency to report, at most 20"},
	{WORKS("continue_on_error", NULL, "KIND", "none"),
	 FIELD(CONTINUE_ON_ERROR, continue_on_error),
	 .help = "go on after errors of: none, read, write, io, all"},
	{WORKS("kb_base", NULL, "1024|1000", "1024"), FIELD(KB_BASE, kb_base),
	 .help = "what k means in sizes; as in fio KiB is the other one"},
	{.heading = "Keys that fio has not: in a job file \"#lunbench: "
		    "KEY=VALUE\"",
	 WORKS("clients", NULL, "N|LIST", "1"),
	 FIELD(CLIENTS, clients),
	 RANGE(1, 65536),
	 .help = "sessions of each clone, in equal slices of its region; a "
		 "list as 1,4-60:4 makes a step of each number"},
	{WORKS("workspace", NULL, "SIZE", NULL), FIELD(U64, workspace_bytes),
	 RANGE(1, UINT64_MAX),
	 .help = "a region of this size for each client, instead of size; "
		 "with misfit=adapt smaller where the LUN is too small"},
	{WORKS("prepare", NULL, "0|1", "0"), FIELD(BOOL, prepare),
	 .value_optional = true,
	 .help = "this job makes the LUN ready: it covers what the others use, "
		 "runs once, and few options of the command line go for it"},
	{WORKS("repeats", NULL, "N", "1"), FIELD(UINT, repeats), RANGE(1, 1000),
	 .help = "measure the job, each step of it, that often"},
	{WORKS("repeat_order", NULL, "interleaved|together", "interleaved"),
	 FIELD(REPEAT_ORDER, repeats_together),
	 .help = "all jobs in turn, then all again; or the repeats of a job at "
		 "once, the ramp before the first alone"},
	{WORKS("until", NULL, "ci:PERCENT|steady", NULL), FIELD(UNTIL, until),
	 .help = "no more repeats when every interval of a mean is that "
		 "narrow, or the last 5 are steady; repeats is then the most"},
	{WORKS("misfit", NULL, "error|skip|adapt", "error"),
	 FIELD(MISFIT, misfit),
	 .help = "where the job does not fit the LUN: an error, leave it out, "
		 "or adapt its sizes"},
	{WORKS("fit", NULL, "SIZE", NULL), FIELD(U64, fit_bytes),
	 RANGE(1, UINT64_MAX),
	 .help = "jobs with misfit=adapt or skip take the LUN for no larger "
		 "than this: the same on LUNs of several sizes"},
	{WORKS("view", NULL, "none|bars|cdm|copy", "none"), FIELD(VIEW, view),
	 .help = "the picture or table that readers know of this job"},
	{WORKS("departs", NULL, "TEXT", NULL), FIELD(DEPARTS, departs),
	 .help = "how the job departs from what it stands for; again for "
		 "more"},
	NOT_APPLICABLE("filename", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("directory", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("filename_format", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("unique_filename", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("lockfile", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("opendir", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("nrfiles", "nr_files",
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("openfiles", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("file_service_type", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("create_serialize", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("create_fsync", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("create_on_open", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("allow_file_create", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("allow_mounted_write", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("fallocate", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("overwrite", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("unlink", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("unlink_each_loop", NULL,
		       "the URL names the LUN; there are no files"),
	NOT_APPLICABLE("ioengine", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("io_submit_mode", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("userspace_reap", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("hipri", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("fixedbufs", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("registerfiles", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("nonvectored", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("sqthread_poll", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("sqthread_poll_cpu", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("cmdprio", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("cmdprio_percentage", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("cmdprio_class", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("cmdprio_bssplit", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("force_async", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("uncached", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("nowait", NULL,
		       "I/O goes through lunbench's own transports"),
	NOT_APPLICABLE("iodepth_batch", "iodepth_batch_submit",
		       "each free slot is filled at once"),
	NOT_APPLICABLE("iodepth_batch_complete_min", "iodepth_batch_complete",
		       "each free slot is filled at once"),
	NOT_APPLICABLE("iodepth_batch_complete_max", NULL,
		       "each free slot is filled at once"),
	NOT_APPLICABLE("direct", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("buffered", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("invalidate", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("pre_read", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("fadvise_hint", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("sync_file_range", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("softrandommap", NULL,
		       "there is no page cache between lunbench and the LUN"),
	NOT_APPLICABLE("write_hint", NULL, "SCSI has no such hint here"),
	NOT_APPLICABLE("ioscheduler", NULL,
		       "no local block device lies in between"),
	NOT_APPLICABLE("thread", NULL,
		       "clients are sessions of one process; see --workers"),
	NOT_APPLICABLE("cpus_allowed", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("cpumask", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("cpus_allowed_policy", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("numa_cpu_nodes", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("numa_mem_policy", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("nice", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("prio", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("prioclass", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("cgroup", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("cgroup_weight", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("cgroup_nodelete", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("uid", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("gid", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("lockmem", NULL,
		       "run lunbench itself under taskset, nice or a cgroup"),
	NOT_APPLICABLE("mem", "iomem", "buffers are lunbench's own"),
	NOT_APPLICABLE("iomem_align", "mem_align",
		       "buffers are lunbench's own"),
	NOT_APPLICABLE("hugepage-size", NULL, "buffers are lunbench's own"),
	NOT_APPLICABLE("clocksource", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("gtod_cpu", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("gtod_reduce", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("disable_lat", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("disable_clat", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("disable_slat", NULL,
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("disable_bw_measurement", "disable_bw",
		       "every I/O is always timed, with the monotonic clock"),
	NOT_APPLICABLE("thinktime_spin", NULL,
		       "pauses are waited for without spinning"),
	NOT_APPLICABLE("random_generator", NULL,
		       "all random numbers come from one generator"),
	NOT_APPLICABLE("exitall_on_error", NULL,
		       "each job runs to its own end"),
	NOT_APPLICABLE("exit_what", NULL,
		       "only with exitall, which is not supported"),
	NOT_APPLICABLE("rate_cycle", NULL,
		       "rates are met by a schedule, not by averages"),
	NOT_APPLICABLE("write_bw_log", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("write_lat_log", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("write_iops_log", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("write_hist_log", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("bwavgtime", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("iopsavgtime", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("per_job_logs", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_entries", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_avg_msec", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_hist_msec", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_hist_coarseness", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_max_value", "log_window_value",
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_offset", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_prio", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_compression", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_compression_cpus", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_store_compressed", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_unix_epoch", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_alternate_epoch", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("log_alternate_epoch_clock_id", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE("write_iolog", NULL,
		       "the result file holds the series and the histograms"),
	NOT_APPLICABLE(
		"clat_percentiles", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"lat_percentiles", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"slat_percentiles", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"significant_figures", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"unified_rw_reporting", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"disk_util", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"stats", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"block_error_percentiles", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"error_dump", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE(
		"unit_base", NULL,
		"the result file always holds all figures, per operation"),
	NOT_APPLICABLE("do_verify", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_interval", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_offset", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_pattern", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_pattern_interval", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_fatal", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_dump", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_async", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_async_cpus", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_backlog", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_backlog_batch", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_state_load", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("verify_state_save", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("experimental_verify", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("trim_verify_zero", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("trim_backlog", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("trim_backlog_batch", NULL,
		       "only with verify, which is not supported"),
	NOT_APPLICABLE("latency_window", NULL,
		       "only with latency_target, which is not supported"),
	NOT_APPLICABLE("latency_percentile", NULL,
		       "only with latency_target, which is not supported"),
	NOT_APPLICABLE("latency_run", NULL,
		       "only with latency_target, which is not supported"),
	NOT_APPLICABLE("zonecapacity", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("read_beyond_wp", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("max_open_zones", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("job_max_open_zones", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("ignore_zone_limits", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("zone_reset_threshold", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("zone_reset_frequency", NULL,
		       "only with zonemode, which is not supported"),
	NOT_APPLICABLE("read_iolog_chunked", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_no_stall", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_redirect", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_scale", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_align", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_time_scale", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("replay_skip", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("merge_blktrace_file", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("merge_blktrace_scalars", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("merge_blktrace_iters", NULL,
		       "only with read_iolog, which is not supported"),
	NOT_APPLICABLE("dedupe_mode", NULL,
		       "only with dedupe_percentage, which is not supported"),
	NOT_APPLICABLE("dedupe_working_set_percentage", NULL,
		       "only with dedupe_percentage, which is not supported"),
	NOT_APPLICABLE("dedupe_global", NULL,
		       "only with dedupe_percentage, which is not supported"),
	NOT_APPLICABLE("flow_id", NULL,
		       "only with flow, which is not supported"),
	NOT_APPLICABLE("flow_sleep", NULL,
		       "only with flow, which is not supported"),
	NOT_APPLICABLE("steadystate_duration", "ss_dur",
		       "only with steadystate, which is not supported"),
	NOT_APPLICABLE("steadystate_ramp_time", "ss_ramp",
		       "only with steadystate, which is not supported"),
	UNSUPPORTED("verify", NULL, "0",
		    "lunbench run does not compare data; lunbench check does"),
	UNSUPPORTED("verify_only", NULL, "0",
		    "lunbench run does not compare data; lunbench check does"),
	UNSUPPORTED("trim_percentage", NULL, "0",
		    "trims are asked for with rw=trim or rw=randtrim"),
	UNSUPPORTED("bsrange", "blocksize_range", NULL,
		    "give the sizes and their shares with bssplit"),
	UNSUPPORTED("bs_unaligned", "blocksize_unaligned", "0",
		    "a LUN takes whole blocks only"),
	UNSUPPORTED("rw_sequencer", NULL, "sequential",
		    "only sequential runs of addresses can be asked for"),
	UNSUPPORTED("iodepth_low", NULL, "0",
		    "each free slot is filled at once"),
	UNSUPPORTED("serialize_overlap", NULL, "0",
		    "overlapping I/Os are not held back"),
	UNSUPPORTED("sync", NULL, "0 none",
		    "fdatasync=1 flushes after every write"),
	UNSUPPORTED("atomic", NULL, "0", "no atomic writes"),
	UNSUPPORTED("write_barrier", NULL, "0",
		    "fsync=N flushes after every N writes"),
	UNSUPPORTED("fill_device", "fill_fs", "0",
		    "give the size, for example size=100%"),
	UNSUPPORTED("file_append", NULL, "0",
		    "a LUN has no end to append to; give the offset"),
	UNSUPPORTED("offset_align", NULL, "0",
		    "regions always begin at a multiple of the block size"),
	UNSUPPORTED("thinktime_blocks_type", NULL, "complete",
		    "pauses are counted by completed I/Os"),
	UNSUPPORTED("thinktime_iotime", NULL, "0", "give thinktime_blocks"),
	UNSUPPORTED("rate_min", "ratemin", "0",
		    "a job is not ended for being slow"),
	UNSUPPORTED("rate_iops_min", NULL, "0",
		    "a job is not ended for being slow"),
	UNSUPPORTED("rate_ignore_thinktime", NULL, "0",
		    "the schedule of rate is met after a pause, too"),
	UNSUPPORTED("max_latency", NULL, "0",
		    "a job is not ended for being slow"),
	UNSUPPORTED("latency_target", NULL, "0",
		    "run the job at several values of iodepth instead"),
	UNSUPPORTED("steadystate", "ss", NULL, "give ramp_time and runtime"),
	UNSUPPORTED("zonemode", NULL, "none",
		    "zoned block devices are not known"),
	UNSUPPORTED("zonesize", NULL, "0",
		    "zones can be had with random_distribution=zoned:..."),
	UNSUPPORTED("zonerange", NULL, "0",
		    "zones can be had with random_distribution=zoned:..."),
	UNSUPPORTED("zoneskip", NULL, "0",
		    "zones can be had with random_distribution=zoned:..."),
	UNSUPPORTED("scramble_buffers", NULL, "1",
		    "each write has data of its own; see zero_buffers"),
	UNSUPPORTED("buffer_compress_chunk", NULL, "4k 4096",
		    "the unit is 4096 bytes"),
	UNSUPPORTED("dedupe_percentage", NULL, "0",
		    "each write has data of its own"),
	UNSUPPORTED("create_only", NULL, "0", "it asks for no I/O at all"),
	UNSUPPORTED("exitall", NULL, "0",
		    "each job runs to its own end: give all the same runtime"),
	UNSUPPORTED("flow", NULL, "0", "give each job a rate instead"),
	UNSUPPORTED("wait_for", NULL, NULL,
		    "stonewall waits for all jobs before"),
	UNSUPPORTED("read_iolog", NULL, NULL,
		    "recorded I/O cannot be replayed"),
	UNSUPPORTED("exec_prerun", NULL, NULL,
		    "no commands are run out of a job file"),
	UNSUPPORTED("exec_postrun", NULL, NULL,
		    "no commands are run out of a job file"),
	UNSUPPORTED("profile", NULL, NULL,
		    "no built-in profiles; see lunbench's own job files"),
	UNSUPPORTED("ramp_size", NULL, "0", "give ramp_time"),
	UNSUPPORTED("ignore_error", NULL, NULL,
		    "continue_on_error says which errors to pass over"),
	{.name = NULL},
};

const struct option_desc *options_table(void)
{
	return table;
}

const struct option_desc *option_find(const char *name)
{
	const struct option_desc *d;

	for (d = table; d->name; d++)
		if (!strcmp(name, d->name) ||
		    (d->alias && !strcmp(name, d->alias)))
			return d;
	return NULL;
}

enum { NAME_MAX_LEN = 64 };

/* Levenshtein's distance, blind to case. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], len = strlen(b), i, j;

	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= len; j++) {
			size_t change =
				diagonal + (strncasecmp(a, b + j - 1, 1) != 0);

			diagonal = row[j];
			if (row[j - 1] + 1 < change)
				change = row[j - 1] + 1;
			row[j] = row[j] + 1 < change ? row[j] + 1 : change;
		}
	}
	return row[len];
}

static size_t nearer(const char *name, const char *candidate, size_t best,
		     const char **nearest)
{
	size_t d = distance(name, candidate);

	if (d >= best)
		return best;
	*nearest = candidate;
	return d;
}

const char *option_nearest(const char *name)
{
	const struct option_desc *d;
	const char *nearest = NULL;
	size_t best;

	if (strlen(name) > NAME_MAX_LEN)
		return NULL;
	/* Farther than a third of the letters is another word. */
	best = strlen(name) / 3 + 2;
	for (d = table; d->name; d++) {
		best = nearer(name, d->name, best, &nearest);
		if (d->alias)
			best = nearer(name, d->alias, best, &nearest);
	}
	return nearest;
}

/* True if @value is one of the words in @harmless. */
static bool asks_for_nothing(const char *harmless, const char *value)
{
	size_t len = value ? strlen(value) : 0;
	const char *p = harmless;

	while (len && p && *p) {
		size_t word = strcspn(p, " ");

		if (word == len && !strncmp(p, value, len))
			return true;
		p += word + strspn(p + word, " ");
	}
	return false;
}

int option_set(struct job_opts *o, const struct option_desc *d,
	       const char *value, unsigned int kb_base, char *warning,
	       size_t warning_size, struct err *e)
{
	struct option_input in = {.opts = o,
				  .desc = d,
				  .value = value ? value : "1",
				  .kb_base = kb_base,
				  .warning = warning,
				  .warning_size = warning_size};
	int ret;

	*warning = '\0';
	if (d->kind == OPTION_NOT_APPLICABLE)
		return 0;
	if (d->kind == OPTION_UNSUPPORTED) {
		if (asks_for_nothing(d->default_text, value))
			return 0;
		return err_set(e, -EOPNOTSUPP, "\"%s\" is not supported: %s",
			       d->name, d->help);
	}
	if (!value && !d->value_optional)
		return err_set(e, -EINVAL, "\"%s\" needs a value: %s=%s",
			       d->name, d->name, d->arg);
	ret = option_parse(&in, e);
	if (ret && e)
		err_prefix(e, "\"%s%s%.80s\"", d->name, value ? "=" : "",
			   value ? value : "");
	return ret;
}
