#!/bin/bash
# `lunbench bench`: target up, run, down; nothing left, whatever happens.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

# Nothing of ours runs, nothing of ours lies about.
nothing_left() {
	expect 0 "$LUNBENCH" target status
	! grep -q bench- out || fail "a target is left: $(cat out)"
	! pgrep -a tgtd | grep -F -- "$LUNBENCH_STATE_DIR" || fail "a tgtd is left"
	! find "$LUNBENCH_STATE_DIR" -name 'bench-*' | grep . || fail "files are left"
}

# A bench in the background that measures; BENCH is its pid.
bench_start() {
	setpriv --pdeathsig KILL "$LUNBENCH" bench --rw=randread --bs=4k --runtime=30 \
		--time_based --size 64M --reopen-timeout=1 -o result.json >out 2>err &
	BENCH=$!
	until [ -s out ]; do
		kill -0 $BENCH || fail "did not start: $(cat err)"
		sleep 0.05
	done
	sleep 1
}

# Several arrays: what no place could run is refused before anything is booted.
test_sets_refused() {
	expect 2 "$LUNBENCH" bench smoke --array raid1,raid7 --members 4x64M --out set
	has err raid7
	expect 2 "$LUNBENCH" bench smoke --array raid1,raid5 --members 4x64M --out set \
		--output-format=json
	has err "--output-format=json"
	[ ! -e set ] || fail "a folder of nothing"
}

test_smoke() {
	local store
	for store in rdwr null; do
		expect 0 "$LUNBENCH" bench smoke --store $store --size 64M -o $store.json
		has out IOPS
		jq -e 'all(.jobs[]; .error == 0)' $store.json >/dev/null
		jq -e --arg s $store '.lunbench.target.store == $s' $store.json >/dev/null
		nothing_left
	done
}

test_quick_basic_json() {
	expect 0 "$LUNBENCH" bench --quick --size 64M --block 4096 --output-format=json
	jq -e '.jobs | length == 8' out >/dev/null
	nothing_left
}

test_interrupted() {
	bench_start
	kill -INT $BENCH
	local got=0
	wait $BENCH || got=$?
	[ $got = 130 ] || fail "exit $got: $(cat err)"
	jq -e '.jobs[0].read.total_ios > 0' result.json >/dev/null
	nothing_left
}

test_a_plan_that_does_not_fit() {
	expect 2 "$LUNBENCH" bench --rw=read --size 64M --offset=65m
	nothing_left
}

test_lunbench_killed() {
	bench_start
	kill -9 $BENCH
	wait $BENCH || true
	expect 0 "$LUNBENCH" target down --all
	nothing_left
}

test_target_killed() {
	bench_start
	local pid
	pid=$("$LUNBENCH" target status | grep -oE 'process [0-9]+' | awk '{print $2}' | head -n 1)
	[ -n "$pid" ] || fail "no pid in the status: $("$LUNBENCH" target status)"
	kill -9 "$pid"
	local got=0 n=0
	while kill -0 $BENCH 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 1000 ] || fail "still running"
		sleep 0.05
	done
	wait $BENCH || got=$?
	[ $got = 3 ] || fail "exit $got: $(cat err)"
	jq -e '.jobs[0].read.total_ios > 0' result.json >/dev/null
	nothing_left
}

run_tests
