#!/bin/bash
# The guest as such: what goes in, what comes out, and what may go wrong.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=240
LAB() { "$LUNBENCH" lab exec "$@"; }

no_qemu_left() {
	! pgrep -f "qemu-system-x86_64.*$TMPDIR/lunbench-lab" >/dev/null ||
		fail "QEMU is left running"
	[ -z "$(ls "$TMPDIR")" ] || fail "left in TMPDIR: $(ls "$TMPDIR")"
}
# A TMPDIR of the test's own shows what is left.
own_tmp() {
	export TMPDIR=$PWD/tmp
	mkdir -p "$TMPDIR"
}

test_builds_once() {
	"$LUNBENCH" lab build >first
	"$LUNBENCH" lab build >second
	has second current
}

test_output_status_files() {
	own_tmp
	mkdir in
	echo "of the host" >in/file
	expect 7 LAB --out back -- bash -c \
		'echo to out; echo to err >&2; cat "$0"; mkdir made; echo new >made/file; cat /proc/mdstat >&2 || modprobe raid5; lunbench --version; exit 7' in/file
	has out "to out"
	has out "of the host"
	has out "lunbench 0."
	has err "to err"
	has back/made/file new
	[ ! -e back/in/file ] || fail "an input came back"
	no_qemu_left
}

test_disks() {
	expect 0 LAB --disks 2x64M --disks 128M -- lsblk -r -b -n -d -o NAME,SIZE
	has out "vda 67108864"
	has out "vdc 134217728"
}

test_no_such_command() {
	expect 127 LAB -- no-such-program
	has err no-such-program
}

test_panic() {
	own_tmp
	expect 3 LAB -- bash -c 'echo c >/proc/sysrq-trigger; sleep 60'
	has err "the guest has died: Kernel panic"
	has err "last lines"
	no_qemu_left
}

test_hung() {
	own_tmp
	expect 3 LAB --timeout 2 -- sleep 600
	has err "did not end within 2 s"
	no_qemu_left
}

test_full_guest() {
	expect 1 LAB --memory 300M -- bash -c 'cat /dev/zero >/work/all || exit 1'
	has err "No space left"
}

test_interrupted() {
	own_tmp
	"$LUNBENCH" lab exec -- bash -c 'echo there; sleep 600' >out 2>err &
	local pid=$! n=0 got=0
	until grep -q there out; do
		sleep 0.1
		n=$((n + 1))
		[ $n -lt 1200 ] || fail "it did not come up: $(cat err)"
	done
	kill -INT $pid
	wait $pid || got=$?
	[ $got = 130 ] || fail "exit $got: $(cat err)"
	has err interrupted
	no_qemu_left
}

# A set of guests: Ctrl-C reaches each through the one in front, and ends them.
test_set_interrupted() {
	setpriv --pdeathsig KILL "$LUNBENCH" bench --rw=read --runtime=600 --time_based \
		--array raid1,raid0 --members 2x64M --virtual-time --jobs 2 --out set >out 2>err &
	local pid=$! status=0
	sleep 2
	kill -INT $pid
	wait $pid || status=$?
	[ $status = 130 ] || fail "exit $status: $(cat err)"
	has err "interrupted; what ran in the lab is lost with its guest; what is done is in"
}

test_killed() {
	own_tmp
	"$LUNBENCH" lab exec -- bash -c 'echo there; sleep 600' >out 2>err &
	local pid=$! n=0
	until grep -q there out; do
		sleep 0.1
		n=$((n + 1))
		[ $n -lt 1200 ] || fail "it did not come up: $(cat err)"
	done
	kill -KILL $pid
	wait $pid || true
	n=0
	while pgrep -f "qemu-system-x86_64.*$TMPDIR/lunbench-lab" >/dev/null; do
		sleep 0.1
		n=$((n + 1))
		[ $n -lt 100 ] || fail "QEMU outlives a killed lunbench"
	done
	# Its folder goes with the next run.
	expect 0 LAB -- true
	no_qemu_left
}

test_two_at_once() {
	"$LUNBENCH" lab exec -q --cpus 1 --out a -- bash -c 'echo one >file' &
	local first=$!
	"$LUNBENCH" lab exec -q --cpus 1 --out b -- bash -c 'echo two >file'
	wait $first
	has a/file one
	has b/file two
}

test_bad_input() {
	local host=$PATH
	expect 2 LAB
	has err "no command"
	expect 2 LAB --memory 64M -- true
	has err "needs 256 MiB"
	expect 2 LAB --memory 100% -- true
	expect 3 LAB --memory 900000G -- true
	has err "does not fit"
	expect 2 LAB --virtual-time=333 -- true
	has err "333 MIPS"
	expect 2 LAB --virtual-time --disks 1G -- true
	has err "virtual time"
	expect 2 LAB --disks 99x1G -- true
	expect 2 LAB --accel fast -- true
	expect 2 LAB --add nothing -- true
	has err "is no plain file"
	expect 2 "$LUNBENCH" lab no-such-verb
	expect 2 LAB --no-such-option -- true
	# Nothing but what `lab` itself starts; the system's folders are added
	# by lunbench, so only a private mount can hide QEMU.
	expect 3 unshare -m bash -c \
		'mount --bind /dev/null "$(command -v qemu-system-x86_64)" && exec "$0" lab exec -- true' "$LUNBENCH"
	has err "apt-get install qemu-system-x86"
	PATH=$host
}

test_no_kernel() {
	mkdir cache lists
	XDG_CACHE_HOME=$PWD/cache expect 3 unshare -m bash -c \
		'mount --bind "$1" /var/lib/apt/lists && mount --bind "$1" /var/cache/apt && exec "$0" lab build' "$LUNBENCH" "$PWD/lists"
	has err "apt-get update"
}

run_tests
