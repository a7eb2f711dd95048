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

# --- sets: several runs, each of its own; here repeats of one on this host ---

small_job() { printf '[mixed]\nrw=randrw\nbs=4k\ntime_based\nruntime=800ms\n' >small.fio; }
small() {
	small_job
	"$LUNBENCH" bench small.fio --array single --size 16M "$@"
}
# The states of its runs, in a line.
states() { jq -r '[.runs[].state] | join(" ")' "$1/set.json"; }
# A set in the background, SET its pid, once its first result is there.
set_start() {
	small_job
	setpriv --pdeathsig KILL "$LUNBENCH" bench small.fio --array single --size 16M \
		--repeats 3 --out set "$@" >out 2>err &
	SET=$!
	until [ -e set/single-1/small.json ] &&
		"$LUNBENCH" target status | grep -qE 'process [0-9]'; do
		kill -0 $SET || fail "it has ended: $(cat err)"
		sleep 0.02
	done
}

test_set() {
	expect 0 small --repeats 3 --jobs 2 --out set
	[ "$(find set -name '*.json' | sort | tr '\n' ' ')" = \
		"set/set.json set/single-1/small.json set/single-2/small.json set/single-3/small.json " ]
	[ "$(states set)" = "done done done" ]
	has out "MB/s"
	has out "mean latency"
	has out "mixed write"
	grep -q '±[0-9.]*%' out || fail "no interval: $(cat out)"
	[ "$(grep -c 'on this machine, on the same' out)" = 1 ] || fail "warnings are not pooled"
	has err "3 of 3 done"
	# Each has addresses of its own, unless they shall be the same.
	[ "$(jq -j '.lunbench.seed + " "' set/single-?/*.json)" = '1 2 3 ' ] ||
		fail "$(jq .lunbench.seed set/single-?/*.json)"
	nothing_left
	# It reads as any folder of results does.
	expect 0 "$LUNBENCH" report set --format csv
	[ ! -s err ] || fail "$(cat err)"
	# What was measured is not written over.
	expect 2 small --repeats 3 --out set
	has err "is there already"
}

# Its curves, an array a column; repeats give the knee an interval.
test_set_of_a_sweep() {
	expect 0 "$LUNBENCH" bench --rw=randread --bs=4k --runtime=600ms --time_based \
		--name=curve --clients=1,2,4 --size 16M --array single --repeats 2 --out set
	has out "curve: MB/s of all clients together"
	has out "curve: mean response time"
	grep -Eq '^knee +[124] \([124]-[124]\)$' out || fail "no knee: $(cat out)"
	grep -Eq '^last/first +[0-9.]+x$' out || fail "no ratio: $(cat out)"
	[ "$(grep -cE '^[124] +[0-9]' out)" = 6 ] || fail "not three steps twice: $(cat out)"
}

test_set_progress() {
	expect 0 small --repeats 2 --progress 0.5 --runtime 3 --out set
	grep -Eq '^[01] of 2 done.*; single-[12] small [0-9]+% [0-9.]+ MB/s$' err ||
		fail "no progress: $(cat err)"
	grep -q ' left' err || fail "no time left: $(cat err)"
	expect 0 small --repeats 2 --quiet --out quiet
	[ ! -s err ] || fail "not quiet: $(cat err)"
}

test_set_killed_and_resumed() {
	local inode
	set_start
	kill -KILL $SET
	wait $SET || true
	# Its lunbench of one run sees that, and takes its target down.
	local n=0
	while "$LUNBENCH" target status | grep -q bench-; do
		sleep 0.1
		n=$((n + 1))
		[ $n -lt 200 ] || fail "a target is left"
	done
	nothing_left
	[ "$(states set)" = "done waiting waiting" ]
	inode=$(stat -c %i set/single-1/small.json)
	expect 0 "$LUNBENCH" report set
	has out "left out: single-2 small has not run"

	expect 2 "$LUNBENCH" bench basic --resume set
	has err "another command: bench small.fio --array=single"
	expect 2 "$LUNBENCH" bench --resume set --out elsewhere
	expect 2 "$LUNBENCH" bench --resume nowhere
	has err nowhere
	expect 0 "$LUNBENCH" bench --resume set --jobs 2
	[ "$(states set)" = "done done done" ]
	[ "$(stat -c %i set/single-1/small.json)" = "$inode" ] || fail "measured again"
	# The whole command will do, too. A result that is damaged is none.
	truncate -s 1000 set/single-2/small.json
	expect 0 small --repeats 3 --resume set
	jq -e '.lunbench.run.end == "complete"' set/single-2/small.json >/dev/null
	[ "$(stat -c %i set/single-1/small.json)" = "$inode" ] || fail "measured again"
	sed -i s/0.1/0.0/ set/set.json
	expect 2 "$LUNBENCH" bench --resume set
	has err "not of one set"
	echo '{"lunbench_set": 1}' >set/set.json
	expect 2 "$LUNBENCH" bench --resume set
	has err 'no "runs" in it'
}

test_set_interrupted() {
	local got=0
	set_start
	kill -INT $SET
	wait $SET || got=$?
	[ $got = 130 ] || fail "exit $got: $(cat err)"
	has err "go on with: lunbench bench --resume set"
	has out "mixed write"
	nothing_left
	[ "$(states set)" = "done waiting waiting" ]
	expect 0 "$LUNBENCH" bench --resume set
	[ "$(states set)" = "done done done" ]
}

test_set_of_a_changed_job() {
	printf '[a]\nrw=read\nsize=1m\n' >job.fio
	expect 0 "$LUNBENCH" bench job.fio --array single --size 64M --repeats 2 --out set
	printf '[a]\nrw=read\nsize=2m\n' >job.fio
	expect 2 "$LUNBENCH" bench --resume set
	has err 'the job "job" is not what it was'
}

# The others go on; report tells of the one that is missing.
test_set_with_a_failed_run() {
	local pid got=0
	set_start --reopen-timeout=1
	pid=$("$LUNBENCH" target status | grep -oE 'process [0-9]+' | awk '{print $2}' | head -n 1)
	kill -9 "$pid"
	wait $SET || got=$?
	[ $got = 3 ] || fail "exit $got: $(cat err)"
	[ "$(states set)" = "done failed done" ] || fail "$(states set): $(cat err)"
	has err "single-2 small failed: "
	has err "1 of 3 runs are not"
	expect 0 "$LUNBENCH" report set
	has out "left out: single-2 small failed: "
	nothing_left
	expect 0 "$LUNBENCH" bench --resume set
	[ "$(states set)" = "done done done" ]
}

test_set_that_does_not_fit() {
	expect 2 "$LUNBENCH" bench --rw=read --size 64M --offset=65m --array single --repeats 2 --out set
	[ "$(states set)" = "failed failed" ]
	nothing_left
}

# A disk that fills: what was measured stays, also the one that met the end.
test_set_full_disk() {
	[ "$(id -u)" = 0 ] || skip "only root may mount a small disk"
	mkdir disk kept
	small_job
	cat >full.sh <<-'END'
		mount -t tmpfs -o size=100k tmpfs disk
		TMPDIR=$PWD/kept "$LUNBENCH" bench small.fio --array single --size 16M --repeats 4 --out disk/set
		echo "status $?"
		mount -o remount,size=4m disk
		"$LUNBENCH" bench --resume disk/set
		echo "status $?"
		cp -r disk/set .
	END
	LUNBENCH=$LUNBENCH expect 0 unshare -m bash full.sh
	has out "status 3"
	has out "status 0"
	has err "go on with: lunbench bench --resume disk/set"
	[ "$(states set)" = "done done done done" ] || fail "$(cat out err)"
	# A result that had no room is kept elsewhere; or the disk was full between
	# two runs, for the next one's file or for the set's record.
	compgen -G 'kept/*.json' || grep -q 'cannot be written there' err ||
		grep -q 'cannot write "disk/set/set.json": No space left' err ||
		fail "what was measured is lost: $(cat out err)"
}

# --- where ---

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

test_where() {
	[ "$(id -u)" = 0 ] || nobody() { "$@"; }
	nobody test -x "$LUNBENCH" || skip "nobody can run $LUNBENCH"
	expect 2 nobody "$LUNBENCH" bench smoke --array raid5 --where host
	has err "this user is not root, which raid5 needs"
	has err "the lab"
	expect 2 nobody "$LUNBENCH" bench smoke --array raid0,raid5+crypt --where host
	expect 2 "$LUNBENCH" bench smoke --array raid5 --where host --virtual-time
	has err "the lab's"
	expect 2 "$LUNBENCH" bench smoke --array raid5 --lab-memory 1G --where host
	[ ! -e results ] || fail "a folder of nothing"
}

test_where_nothing_can() {
	[ "$(id -u)" = 0 ] || skip "only root may hide QEMU"
	nobody test -x "$LUNBENCH" || skip "nobody can run $LUNBENCH"

	export -f nobody
	expect 3 unshare -m bash -c 'q=$(command -v qemu-system-x86_64) && mount --bind /dev/null "$q"
		nobody "$0" bench smoke --array raid5' "$LUNBENCH"
	has err "this user is not root; and the lab lacks programs on this host: apt-get install"
	has err "qemu-system-x86"
	has err "as root on a host"
	[ "$(wc -l <err)" = 1 ] || fail "more than a sentence: $(cat err)"
}

run_tests
