#!/bin/bash
# Faults in mid-run: the target dies, freezes, comes back; lunbench is
# interrupted; the disk for the result is full. What was measured is kept,
# nothing is left running, every wait has a deadline.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

# start OPTION...: a run in the background; RUN is its pid.
start() {
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=randread --bs=4k --iodepth=8 \
		--runtime=30 --time_based --norandommap -o result.json "$@" >out 2>err &
	RUN=$!
	# the plan is printed just before the first I/O
	until [ -s out ]; do
		kill -0 $RUN || fail "did not start: $(cat err)"
		sleep 0.05
	done
	sleep 1 # of measuring
}

# ends STATUS SECONDS: the run is over by then, with that status.
ends() {
	local n=0 got=0
	while kill -0 "$RUN" 2>/dev/null; do
		n=$((n + 1))
		[ $n -le $(($2 * 20)) ] || {
			kill -KILL "$RUN"
			fail "still running after $2 s: $(cat err)"
		}
		sleep 0.05
	done
	wait "$RUN" || got=$?
	[ $got = "$1" ] || fail "exit $got, wanted $1: $(cat err)"
}

partial() {
	jq -e '.jobs[0].read.total_ios > 0' result.json >/dev/null || fail "no partial result"
	has err partial
}

test_target_killed() {
	raw_up
	raw_lun 1 64M
	start --on-disconnect=fail "$URL"
	kill -9 "$TGTD_PID"
	ends 3 5
	has err "127.0.0.1:$PORT"
	partial
}

test_target_killed_and_not_back() {
	raw_up
	raw_lun 1 64M
	start --reopen-timeout=2 "$URL"
	kill -9 "$TGTD_PID"
	ends 3 6
	has err "127.0.0.1:$PORT"
	partial
}

test_target_comes_back() {
	raw_up
	raw_lun 1 64M
	start --runtime=6 "$URL"
	kill -9 "$TGTD_PID"
	sleep 1
	raw_start
	raw_lun 1 64M
	ends 0 10
	jq -e '.jobs[0].error == 0' result.json >/dev/null
	jq -e '.lunbench.rows[0].outages | .disconnects == 1 and .outage_ns > 500000000' \
		result.json >/dev/null || fail "outages: $(jq -c '.lunbench.rows[0].outages' result.json)"
	grep -qi lost out err || fail "the outage is not said"
}

test_target_frozen() {
	raw_up
	raw_lun 1 64M
	start --on-disconnect=fail --timeout=3 "$URL"
	kill -STOP "$TGTD_PID"
	ends 3 8
	has err "127.0.0.1:$PORT"
	partial
}

test_interrupted() {
	target_up --store null --size 64M
	start "$URL"
	kill -INT $RUN
	ends 130 3
	partial
	has out result.json
}

test_interrupted_while_connecting() {
	raw_up
	raw_lun 1 8M
	kill -STOP "$TGTD_PID"
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=read --timeout=30 "$URL" >out 2>err &
	RUN=$!
	sleep 0.5
	kill -TERM $RUN
	ends 130 1
}

test_disk_full() {
	[ "$(id -u)" = 0 ] || skip "mounting a small tmpfs needs root"
	mkdir full tmp
	echo older >tmp/result.json # of another run that met its end
	# The disk fills while the run runs; at its start there is room.
	# shellcheck disable=SC2016
	TMPDIR=$PWD/tmp expect 3 unshare -m bash -c '
		mount -t tmpfs -o size=64k tmpfs full || exit 77
		"$1" run --rw=randread --bs=4k --runtime=2 --time_based -o full/result.json null:1G &
		sleep 1
		dd if=/dev/zero of=full/ballast bs=4k 2>/dev/null
		wait $!' bash "$LUNBENCH"
	has err full/result.json
	has err "$PWD/tmp/result-"
	jq -e '.jobs[0].read.total_ios > 0' tmp/result-*.json >/dev/null
	[ "$(cat tmp/result.json)" = older ] || fail "another result was replaced"
	# and one that is full already: refused before anything is measured
	expect 2 unshare -m bash -c '
		mount -t tmpfs -o size=4k tmpfs full && dd if=/dev/zero of=full/x bs=4k 2>/dev/null
		"$1" run --rw=read --size=1m -o full/result.json null:1G' bash "$LUNBENCH"
	has err full/result.json
}

run_tests
