#!/bin/bash
# bench over arrays in the lab: one that goes there by itself, a set that is
# killed and gone on with, one whose guest dies.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=600
SHORT=(--rw=randrw --bs=4k --runtime=1 --time_based --members 2x32M@hdd)

states() { jq -r '[.runs[].state] | join(" ")' "$1/set.json"; }
# A TMPDIR of the test's own tells its QEMU from those of others.
own_tmp() {
	export TMPDIR=$PWD/tmp
	mkdir -p "$TMPDIR"
}
qemu() { pgrep -f "qemu-system-x86_64.*$TMPDIR/lunbench-lab"; }
# wait_for SECONDS COMMAND...
wait_for() {
	local n=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || fail "waited in vain: $*: $(cat err)"
		sleep 0.1
	done
}

# Without a word about it, and with every way to have its result.
test_one_array() {
	[ -e /proc/mdstat ] && [ "$(id -u)" = 0 ] && skip "this host makes arrays itself"
	expect 0 "$LUNBENCH" bench "${SHORT[@]}" --array raid1 -o one.json
	grep -q '^lunbench: in the lab: this \(host has no md\|user is not root\)' err ||
		fail "no reason: $(cat err)"
	has out "array raid1"
	has out "result: one.json"
	[ ! -e results ] || fail "a folder that nobody wants"
	jq -e '.lunbench.target.array == "raid1" and .lunbench.run.end == "complete"' one.json >/dev/null
	"$LUNBENCH" bench "${SHORT[@]}" --array raid1 --virtual-time --output-format=json >two.json 2>err
	jq -e '.lunbench.host.lab | contains("virtual time")' two.json >/dev/null
}

test_killed_and_resumed() {
	own_tmp
	setpriv --pdeathsig KILL "$LUNBENCH" bench "${SHORT[@]}" --array raid1,raid0 \
		--virtual-time --out set >out 2>err &
	local pid=$!
	wait_for 300 test -e set/raid1/lunbench.json
	wait_for 60 qemu
	kill -KILL $pid
	wait $pid || true
	wait_for 60 eval '! qemu'
	[ "$(states set)" = "done waiting" ]
	cp set/raid1/lunbench.json before
	expect 0 "$LUNBENCH" bench --resume set
	[ "$(states set)" = "done done" ]
	cmp before set/raid1/lunbench.json
	grep -Eq '^MB/s +raid1 +raid0$' out || fail "no table: $(cat out)"
	# In virtual time it is what it would have been.
	expect 0 "$LUNBENCH" bench "${SHORT[@]}" --array raid0 --virtual-time --out whole
	cmp set/raid0/lunbench.json whole/raid0/lunbench.json
}

# A job that adapts has the same plan on arrays of several sizes, though it would
# fit more on one of them.
test_cut_alike() {
	printf '%s\n' '[x]' rw=read bs=64k size=40m runtime=1 '#lunbench: misfit=adapt' >x.fio
	expect 0 "$LUNBENCH" bench x.fio --array raid1,raid0 --members 2x32M@hdd --virtual-time --out set
	[ "$(jq -s 'map(.lunbench.plan.clients[0].length_bytes) | unique | length' \
		set/raid?/*.json)" = 1 ] || fail "cut apart"
	jq -e '.lunbench.lun.bytes > 40 * 1048576 and (.lunbench.plan.notes[0] |
		contains("x: size=40 MiB became 28 MiB: fit allows no more"))' \
		set/raid0/*.json >/dev/null || fail "$(jq .lunbench.plan set/raid0/*.json)"
	expect 0 "$LUNBENCH" compare set/raid1 set/raid0
	# Who asks for more, gets it.
	expect 0 "$LUNBENCH" bench x.fio --fit=36m --array raid1,raid0 --members 2x32M@hdd --virtual-time --out own
	jq -e '.lunbench.plan.clients[0].length_bytes == 36 * 1048576' own/raid0/*.json >/dev/null
}

# A guest that is interrupted takes its run with it, which is said.
test_interrupted() {
	own_tmp
	setpriv --pdeathsig KILL "$LUNBENCH" bench "${SHORT[@]}" --array raid1,raid0 \
		--virtual-time --out set >out 2>err &
	local pid=$! got=0
	wait_for 300 qemu
	kill -INT $pid
	wait $pid || got=$?
	[ $got = 130 ] || fail "exit $got: $(cat err)"
	has err 'interrupted; what ran in the lab is lost with its guest; what is done is in'
	[ "$(states set)" = "waiting waiting" ] || fail "$(states set)"
}

# Its guest dies; the other array is measured; report tells of both.
test_failed_array() {
	own_tmp
	setpriv --pdeathsig KILL "$LUNBENCH" bench "${SHORT[@]}" --array raid1,raid0 \
		--virtual-time --out set >out 2>err &
	local pid=$! got=0
	wait_for 300 qemu
	kill -KILL "$(qemu)"
	wait $pid || got=$?
	[ $got = 3 ] || fail "exit $got: $(cat err)"
	[ "$(states set)" = "failed done" ] || fail "$(states set): $(cat err)"
	has err "raid1 lunbench failed: "
	has err "go on with: lunbench bench --resume set"
	expect 0 "$LUNBENCH" report set
	has out "left out: raid1 lunbench failed: "
	has out "array raid0"
}

run_tests
