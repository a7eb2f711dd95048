#!/bin/bash
# The bundled target when something dies: nothing of it is ever left.
# shellcheck source=tests/func/target_lib.sh
. "$(dirname "$0")/target_lib.sh"

# Before (-N) and after (N) each line of the journal.
test_killed_at_every_step() {
	fresh
	local n=0 sign status came_up
	while :; do
		n=$((n + 1))
		for sign in - ''; do
			status=0
			LUNBENCH_TEST_KILL_AT_STEP=$sign$n "$LUNBENCH" target up \
				--size 1M --backing "$PWD/file" >out 2>&1 || status=$?
			[ $status = 137 ] || break 2
			came_up=$(grep -s '^up ' "$LUNBENCH_STATE_DIR/default/journal" || true)
			T status >out 2>&1 || true
			expect 0 T down
			nothing_left
			# The user's file stays, but only if there was a target.
			[ -n "$came_up" ] || none file
			rm -f file
		done
	done
	[ $status = 0 ] # the first number beyond the last step
	[ $n -gt 10 ]
	expect 0 T down
	nothing_left
}

test_killed_at_random() {
	fresh
	local pid stale=0 name=rnd$BASHPID
	for ((i = 0; i < 30; i++)); do
		# Not through T: that would be a shell, and the kill its own.
		"$LUNBENCH" target up --size 4M --ram --name "$name" >up.out 2>&1 &
		pid=$!
		sleep "$(printf 0.%03d $((i * 2)))"
		kill -KILL $pid 2>/dev/null || true
		wait $pid || true
		if [ -n "$(ls -A "$LUNBENCH_STATE_DIR")" ]; then
			stale=$((stale + 1))
			expect 0 T down --name "$name"
		fi
		nothing_left
		none /dev/shm/lunbench-*-"$name"-*
	done
	[ $stale -gt 3 ]
}

test_killed_while_going_down() {
	fresh
	for ((i = 0; i < 8; i++)); do
		expect 0 T up --size 4M
		"$LUNBENCH" target down >down.out 2>&1 &
		sleep "$(printf 0.%03d $((i * 20)))"
		kill -KILL $! 2>/dev/null || true
		wait $! || true
		T down >down.out 2>&1 || has down.out "no target"
		nothing_left
	done
}

test_tgtd_killed() {
	fresh
	expect 0 T up --size 16M
	status_of default
	kill -KILL "$(field pid)"
	while [ -n "$(tgtds)" ]; do :; done
	expect 3 T status
	has out "its tgtd is gone; run: lunbench target down --name default"
	expect 0 T up --size 16M
	has err "cleaned up"
	expect 0 T status
	status_of default
	kill -KILL "$(field pid)"
	expect 0 T down
	nothing_left
}

# A process of another that got the number of a tgtd that died.
test_a_strangers_pid() {
	fresh
	expect 0 T up --size 4M
	status_of default
	kill -KILL "$(field pid)"
	sleep 60 &
	sed -i "s/^tgtd [0-9]*/tgtd $!/" "$LUNBENCH_STATE_DIR/default/journal"
	expect 0 T down
	kill -0 $!
	kill $!
	nothing_left
}

test_tgtd_stopped() {
	fresh
	expect 0 T up --size 16M
	status_of default
	kill -STOP "$(field pid)"
	expect 0 T down
	nothing_left
}

test_down_under_load() {
	fresh
	expect 0 T up --size 16M
	status_of default
	iscsi-perf -m 32 -t 20 "$(field url)" >perf 2>&1 &
	until grep -qs in_flight perf; do
		kill -0 $! || fail "iscsi-perf ended: $(cat perf)"
	done
	expect 0 T down
	nothing_left
	kill -KILL $! 2>/dev/null || true
}

test_interrupted() {
	fresh
	shadow tgtd <<-'END'
		kill -INT $(cat pid)
		exec /usr/sbin/tgtd "$@"
	END
	mkfifo go
	PATH=$PWD/bin:$PATH bash -c 'trap - INT; echo $$ >pid; : >go; exec "$@"' \
		- python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$LUNBENCH" target up --size 16M >out 2>err &
	: <go
	wait $! && status=0 || status=$?
	[ "$status" = 130 ]
	has err interrupted
	nothing_left
}

run_tests
