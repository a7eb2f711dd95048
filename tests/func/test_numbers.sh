#!/bin/bash
# The numbers of a result against what the target really did, and against
# faults of known size. Counts and lower bounds only: the machine may be busy.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

run() {
	expect 0 "$LUNBENCH" run -o result.json "$@"
}

# is FILTER VALUE: what jq finds in the result.
is() {
	local got
	got=$(jq -c "$1" result.json)
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

holds() {
	jq -e "$1" result.json >/dev/null || fail "not so: $1"
}

# MaxCmdSN: the depth that was asked for is not the one that was had.
test_command_window() {
	raw_up
	raw_param MaxQueueCmd 1
	raw_lun 1 64M
	run --rw=randread --bs=4k --iodepth=32 --number_ios=2000 "$URL"
	holds '.lunbench.rows[0].command_window | .held_sends > 0 and .held_mean > 0'
	is '.jobs[0].iodepth_level["32"] > 90' true
	has out "command window (MaxCmdSN) was shut"
	raw_param MaxQueueCmd 128
	run --rw=randread --bs=4k --iodepth=32 --number_ios=2000 "$URL"
	is '.lunbench.rows[0].command_window | .held_sends, .held_mean' $'0\n0'
}

# raw_up with the fault shim: ctl is its control file, done.log what tgtd did.
shim_up() {
	export FAULT_CTL=$PWD/ctl FAULT_LOG=$PWD/done.log
	: >ctl
	LD_PRELOAD=$AIDS/fault_preload.so raw_up
}

# did OP: "I/OS BYTES" that the store did between 32 and 48 MiB, where the guard
# looks for no signature.
did() {
	awk -v op="$1" '$1 == op && (op == "s" || ($2 >= 33554432 && $2 < 50331648)) {
		n++; bytes += $3 } END { print n + 0, bytes + 0 }' done.log
}

# agree OP KEY: counted by the meter, ramp and end included, and by the store.
agree() {
	local got
	got=$(jq -r ".lunbench.rows | [.[].ops.$2 | .ios + .outside_ios + .errors] | add" result.json)
	[ "$got" = "$(did "$1" | cut -d' ' -f1)" ] || fail "$2: $got, the store did $(did "$1")"
	got=$(jq -r ".lunbench.rows | [.[].series.$2.bytes[]] | add" result.json)
	[ "$got" = "$(did "$1" | cut -d' ' -f2)" ] || fail "$2: $got bytes, the store did $(did "$1")"
}

AREA=(--offset=32m --size=16m --overwrite)

# What is counted is what the store did, by I/Os and by bytes: by amount, by time
# with a ramp, with clients, flushes, sizes and rates mixed.
test_counts_are_the_stores() {
	shim_up
	raw_lun 1 64M
	run "${AREA[@]}" --rw=randrw --bssplit=4k/50:16k/50 --iodepth=8 --number_ios=1000 \
		--fsync=10 "$URL"
	agree r read
	agree w write
	agree s flush
	holds '.lunbench.rows[0].ops | .read.ios + .write.ios == 1000'
	holds '.lunbench.rows[0].ops | .flush.ios == (.write.ios / 10 | floor)'
	: >done.log
	run "${AREA[@]}" --rw=randrw --bs=4k,8k --iodepth=4 --clients=4 --numjobs=2 \
		--ramp_time=1 --runtime=1 --time_based --end_fsync=1 "$URL"
	agree r read
	agree w write
	: >done.log
	run "${AREA[@]}" --rw=read --bs=64k --iodepth=2 --rate_iops=200 --runtime=1 --loops=2 "$URL"
	agree r read
}

# bw, iops, N, histograms, series: the same counts everywhere in the file.
test_figures_agree() {
	shim_up
	raw_lun 1 64M
	run "${AREA[@]}" --rw=randrw --bs=4k,8k --iodepth=4 --runtime=3 --time_based \
		--numjobs=2 "$URL"
	holds '[range(2) as $i | .jobs[$i] as $j | .lunbench.rows[$i] as $r |
		($r.window.end_ns - $r.window.start_ns) as $ns |
		["read", "write"][] as $op | $j[$op] as $f | $r.ops[$op] as $o |
		$f.total_ios == $o.ios and $f.io_bytes == $o.bytes and
		$f.io_bytes == $f.total_ios * (if $op == "read" then 4096 else 8192 end) and
		$f.clat_ns.N == $f.total_ios and $f.lat_ns.N == $f.total_ios and
		([$f.clat_ns.bins[]] | add) == $f.total_ios and
		($f.bw_bytes - $f.io_bytes * 1e9 / $ns | fabs) <= 1 and
		($f.iops - $f.total_ios * 1e9 / $ns | fabs) < 0.01 and
		$f.bw == ($f.bw_bytes / 1024 | floor) and
		($f.runtime - $ns / 1e6 | fabs) <= 1 and
		([$r.series[$op].ios[]] | add) == $o.ios + $o.outside_ios and
		$f.iops_min <= $f.iops_mean and $f.iops_mean <= $f.iops_max and
		($f.iops_mean * 4096 * (if $op == "read" then 1 else 2 end) / 1024 - $f.bw_mean | fabs) < 1 and
		$f.clat_ns.min <= $f.clat_ns.percentile["50.000000"] and
		$f.clat_ns.percentile["99.990000"] <= $f.clat_ns.max and
		($f.lat_ns.mean - $f.clat_ns.mean - $f.slat_ns.mean | fabs) < 1] | all'
	holds '[.jobs[].iodepth_level | add | . > 99.999 and . < 100.001] | all'
	holds '[.jobs[] | [.latency_ns, .latency_us, .latency_ms | .[]] | add |
		. > 99.999 and . < 100.001] | all'
}

# 20 ms more in the store are 20 ms more of service time, of each of them.
test_delay() {
	shim_up
	raw_lun 1 64M
	echo "r 33554432 16777216 delay 20" >ctl
	run "${AREA[@]}" --rw=randread --bs=4k --iodepth=4 --number_ios=200 "$URL"
	agree r read
	holds '.jobs[0].read | .clat_ns.min >= 20e6 and .clat_ns.percentile["1.000000"] >= 20e6'
	holds '.jobs[0].read | .iops <= 4 / 0.020 * 1.001 and .runtime >= 1000'
	holds '.lunbench.rows[0].littles_law | .n_measured > 3 and .n_measured < 4.001'
	holds '.lunbench.rows[0].series.service_mean_ns[0] >= 20e6'
}

# CASES 36: the store stalls for 2 s in a run at 100 a second. The schedule goes
# on: 200 requests wait, the first 2 s and the last next to nothing.
test_stall_in_an_open_loop() {
	shim_up
	raw_lun 1 64M
	(
		sleep 2
		echo "r 33554432 16777216 delay 2000" >ctl
		sleep 1
		: >ctl
	) &
	local ctl=$!
	run "${AREA[@]}" --rw=randread --bs=4k --iodepth=1 --rate_iops=100 --runtime=6 \
		--time_based --norandommap --percentile_list=50:75:90:99 "$URL"
	wait $ctl
	agree r read
	holds '.jobs[0].read | .total_ios >= 590 and .total_ios <= 600'
	# One took the 2 s; the others were late by up to that.
	holds '.jobs[0].read | .clat_ns.max >= 2e9 and .clat_ns.percentile["90.000000"] < 1e9'
	holds '.jobs[0].read.lat_ns | .max >= 2e9 and .percentile["90.000000"] >= 1.2e9'
	holds '.jobs[0].read.lat_ns.bins | to_entries | map(select((.key | tonumber) > 1e9) | .value) |
		add | . >= 95 and . < 300'
	holds '.lunbench.rows[0].series | .read.ios | min <= 50'
	has out "schedule was not kept"
}

# An I/O that failed is in no rate and no latency; where, what and how many.
test_medium_errors() {
	shim_up
	raw_lun 1 64M
	echo "r 33554432 4096 eio" >ctl
	run "${AREA[@]}" --rw=randread --bs=4k --iodepth=8 --number_ios=4096 \
		--loops=2 --continue_on_error=all "$URL"
	[ "$(did r)" = "8192 33554432" ] || fail "the store did $(did r)"
	is '.jobs[0].read.total_ios, .jobs[0].total_err, .jobs[0].first_error' $'8190\n2\n61'
	is '.jobs[0].read.clat_ns.N' 8190
	is '.lunbench.rows[0].errors[] | .count, .offset_bytes, .length_bytes, .op' \
		$'2\n33554432\n4096\n"read"'
	expect 3 "$LUNBENCH" run -o result.json "${AREA[@]}" --rw=read --bs=4k "$URL"
	is '.jobs[0].read.total_ios, .jobs[0].total_err, .lunbench.run.end' $'0\n1\n"failed"'
	holds '.lunbench.rows[0].error | contains("MEDIUM ERROR")'
}

# No I/O is counted twice or lost by retries and by a connection that is lost:
# the amount, exactly, and each place once.
test_retries_count_once() {
	shim_up
	raw_lun 1 64M
	run "${AREA[@]}" --rw=randread --bs=4k --iodepth=16 \
		"fault:busy=5%,full=5%,attention=1%,delay=1ms:$URL"
	is '.jobs[0].read | .total_ios, .io_bytes, .clat_ns.N' $'4096\n16777216\n4096'
	agree r read
	is '.lunbench.rows[0].retries | .busy + .task_set_full > 200 and .unit_attention > 10' true
	holds '.jobs[0].read.clat_ns.max >= 11e6'
	: >done.log
	run "${AREA[@]}" --rw=randread --bs=4k --iodepth=16 "fault:lose=1500:$URL"
	is '.jobs[0].read | .total_ios, .io_bytes, .clat_ns.N' $'4096\n16777216\n4096'
	is '.lunbench.rows[0].outages.disconnects' 2
	# each block at least once; those under way then may have been read twice
	[ "$(grep "^r" done.log | sort -u | wc -l)" -ge 4096 ]
}

# An amount that is done within the ramp is no measurement, and says so.
test_nothing_measured() {
	run --rw=read --bs=4k --size=1m --ramp_time=1 null:1G
	is '.lunbench.rows[0].ops.read | .ios, .outside_ios, .ios_per_s' $'0\n256\n0'
	has out "nothing was measured: it was over before its window opened"
	has out "256 I/Os"
}

run_tests
