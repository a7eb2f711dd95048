#!/bin/bash
# Reported problems: sizes that change, media that fail or stall, trims and
# flushes. The table of all cases is in cases_lib.sh.
# shellcheck source=tests/func/cases_lib.sh
. "$(dirname "$0")/cases_lib.sh"

# Case 16: READ(16) from 2^32 blocks on; addresses all over the LUN.
test_over_2_tib() {
	raw_up
	raw_lun 1 2T
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --offset=2199022206976 --quiet --overwrite \
		-o r.json "$URL"
	holds '.lunbench.lun.blocks == 4294967296'
	raw_lun 2 3T
	expect 0 "$LUNBENCH" run --rw=randwrite --bs=4k --number_ios=300 --iodepth=8 --quiet \
		--overwrite -o r.json "$URL"
	# sparse: what is written is what was asked for, and in each quarter
	[ "$(du -k l2.img | cut -f 1)" -le 1300 ] || fail "$(du -k l2.img)"
	filefrag -v l2.img 2>/dev/null >extents || skip "no FIEMAP here"
	awk -F '[:. ]+' '$2 ~ /^[0-9]+$/ {n[int($3 / (3 * 2 ^ 28 / 4))]++}
		END {for (q = 0; q < 4; q++) if (n[q] < 40) exit 1}' extents ||
		fail "not spread: $(head -n 20 extents)"
}

# Case 18: it goes on with the range that it knew; what is gone is an error.
test_grown_and_shrunk() {
	raw_up
	raw_lun 1 64M
	# Little load: tgtd closes the file while its threads read it. With pread64 and
	# openat delayed by strace those preads end in EBADF, and the initiator
	# rightly gets a medium error; that is not what this case is about.
	start --runtime=2 --thinktime=50ms "$URL"
	truncate -s 128M l1.img
	raw_set 1 online=0
	raw_set 1 path="$PWD/l1.img"
	raw_set 1 online=1
	ends 0
	holds '.lunbench.lun.blocks == 131072 and .jobs[0].error == 0'
	holds '.lunbench.warnings | any(contains("changed its size during the run, from 131072 blocks"))'
	raw_lun 2 64M
	start --runtime=10 --iodepth=4 --continue_on_error=none "$URL"
	truncate -s 32M l2.img
	ends 3
	has err "blocks at LBA"
	has err "MEDIUM ERROR, unrecovered read error (3/11/00)"
	holds '.lunbench.rows[0].errors[0] | .offset_bytes >= 33554432 and .count >= 1'
}

# Case 33: unit attentions are counted; a LUN that is gone ends the run.
test_off_line_and_removed() {
	raw_up
	raw_lun 1 64M
	start --thinktime=300ms --runtime=20 "$URL"
	raw_set 1 online=0
	sleep 0.4
	raw_set 1 online=1
	raw_lun 2 8M
	sleep 0.8
	# refused while a command is under way
	until T --mode logicalunit --op delete --tid 1 --lun 1 2>/dev/null; do sleep 0.05; done
	ends 3
	has err "no such LUN (5/25/00)"
	has err "$IQN/1"
	holds '.lunbench.rows[0].retries.unit_attention >= 1'
}

# Case 34: where, and what; on or over by the job's word.
test_medium_errors() {
	raw_faulty
	raw_lun 1 8M
	echo 'r 5120 512 eio' >ctl
	expect 0 "$LUNBENCH" run --rw=read --bs=4k --size=1m --continue_on_error=read --quiet \
		-o r.json "$URL"
	holds '.lunbench.rows[0].errors | length == 1 and
		(.[0] | .offset_bytes == 4096 and .count == 1 and .op == "read")'
	holds '.jobs[0].read.total_ios == 255 and .jobs[0].total_err == 1'
	has out "1 of 256 I/Os failed"
	echo 'r 0 4096 short' >ctl
	expect 3 "$LUNBENCH" run --rw=read --bs=4k --size=1m --quiet -o r.json "$URL"
	has err "read of 8 blocks at LBA 0"
	echo 's 0 1 eio' >ctl
	expect 3 "$LUNBENCH" run --rw=write --bs=4k --size=1m --fsync=16 --overwrite --quiet \
		-o r.json "$URL"
	has err "flush of"
	has err "MEDIUM ERROR"
}

# Case 36: the requests that were due in the stall were late, and show it.
test_stall_under_a_rate() {
	raw_faulty
	raw_lun 1 64M
	start --rate_iops=200 --iodepth=4 --runtime=5 --interval=500ms "$URL"
	echo 'r 0 100000000 delay 2000' >ctl
	sleep 0.5
	: >ctl
	ends 0
	# all that were due are done and in the figures, some 400 of them late
	holds '.jobs[0].read.total_ios | . >= 980 and . <= 1001'
	holds '.jobs[0].read.lat_ns.percentile["90.000000"] > 500000000'
	holds '.jobs[0].read.clat_ns.percentile["90.000000"] < 500000000'
	holds '.lunbench.rows[0].series.read.ios | [.[] | select(. == 0)] | length >= 2'
}

# Case 37: thick is refused before the run, a lie of the target's is an error.
test_trim() {
	raw_up
	raw_lun 1 16M
	expect 2 "$LUNBENCH" run --rw=randtrim --overwrite --quiet "$URL"
	has err UNMAP
	raw_set 1 thin_provisioning=1
	tr '\0' x </dev/zero | head -c 16M | dd of=l1.img conv=notrunc bs=1M iflag=fullblock status=none
	expect 0 "$LUNBENCH" run --rw=trim --bs=1m --size=8m --overwrite --quiet -o r.json "$URL"
	[ "$(tr -d '\0' <l1.img | wc -c)" = 8388608 ] || fail "not half of it is trimmed"
	# tgt's aio store says that it can
	raw_lun 2 16M --bstype aio
	raw_set 2 thin_provisioning=1
	expect 3 "$LUNBENCH" run --rw=randtrim --overwrite --quiet -o r.json "$URL"
	has err "trim of 8 blocks at LBA"
}

# Case 38: the aio store flushes nothing, and is never called durable.
flushed() {
	target_up --store "$1" --size 16M
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --fsync=8 --quiet -o r.json "$URL"
	holds ".lunbench.target.store == \"$1\" and .jobs[0].sync.total_ios == 32"
}

test_flushes_that_reach_the_disk() {
	flushed rdwr
	if grep "not durable" out; then fail "rdwr flushes"; fi
}

test_flushes_that_reach_no_disk() {
	flushed aio
	has out "not durable"
}

run_tests
