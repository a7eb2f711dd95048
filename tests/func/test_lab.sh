#!/bin/bash
# The lab without a guest: what is refused, what goes wrong on the host, and what
# a kill leaves. The host's programs are stubs, QEMU with its guest is
# fake_qemu.py. Real guests: tests/lab.
. "$(dirname "$0")/lib.sh"
LAB() { "$LUNBENCH" lab "$@"; }
[ "$(uname -m)" = x86_64 ] || {
	echo "1..0 # SKIP the lab is for x86_64"
	exit 0
}

# A Debian host, in ./bin; all that lunbench starts comes from there.
host() {
	local p
	mkdir -p bin tmp
	cat >bin/stub <<-'EOF'
		#!/bin/sh
		PATH=/usr/bin:/bin
		name=${0##*/}
		eval "broken=\${BROKEN_$(echo "$name" | tr -c 'a-z\n' _)-}"
		[ -z "$broken" ] || {
			echo "E: $broken" >&2
			exit 100
		}
		for last; do [ "$before" != -o ] || out=$last; before=$last; done
		case $name in
		apt-cache) echo "Depends: linux-image-6.1-test (= 1)" ;;
		apt-get) : >linux.deb ;;
		dpkg-deb) mkdir -p "$last/boot" "$last/lib/modules/6.1-test" && echo kernel >"$last/boot/vmlinuz-6.1-test" ;;
		dpkg-query) echo "a 1" ;;
		supermin) mkdir -p "$out" && echo word >"$out/file" ;;
		esac
	EOF
	chmod +x bin/stub
	for p in apt-get apt-cache dpkg-deb dpkg-query depmod modprobe supermin tgtd mdadm \
		cryptsetup ip cpio; do
		ln -sf stub "bin/$p"
	done
	for p in sh cp; do
		ln -sf "$(command -v $p)" "bin/$p"
	done
	printf '#!/bin/sh\nPATH=%s exec python3 %s "$@"\n' "$PATH" \
		"$ROOT/tests/func/fake_qemu.py" >bin/qemu-system-x86_64
	chmod +x bin/qemu-system-x86_64
	export LUNBENCH XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD/tmp
	LUNBENCH_STATE_DIR=$(mktemp -d /tmp/lunbench-test.XXXXXX)
	# shellcheck disable=SC2064
	trap "on_host lab down --all >/dev/null 2>&1; rm -rf '$LUNBENCH_STATE_DIR'" EXIT
}
# PATH is for lunbench alone: the test needs its own programs.
on_host() { (PATH=$TEST_DIR/bin && exec "$LUNBENCH" "$@"); }
EXEC() { on_host lab exec --accel tcg --memory 256M "$@"; }
UP() { on_host lab up --accel tcg --memory 256M --net user "$@"; }
no_qemu() { ! pgrep -f "fake_qemu.py.*$PWD/" >/dev/null && ! pgrep -f "fake_qemu.py.*$LUNBENCH_STATE_DIR/" >/dev/null; }
nothing_left() {
	no_qemu || fail "QEMU is left running"
	[ -z "$(ls tmp)" ] || fail "left: $(ls tmp)"
	[ -z "$(ls "$LUNBENCH_STATE_DIR/.lab" 2>/dev/null)" ] || fail "left: $(ls -R "$LUNBENCH_STATE_DIR/.lab")"
}

test_programs_missing() {
	local p
	host
	for p in qemu-system-x86_64:qemu-system-x86 supermin:supermin; do
		mv "bin/${p%:*}" .
		expect 3 EXEC -- true
		has err "the lab lacks programs on this host: apt-get install ${p#*:}"
		expect 3 UP
		has err "apt-get install ${p#*:}"
		mv "${p%:*}" bin
	done
	rm bin/apt-get
	expect 3 on_host lab build
	has err "this host has no apt-get"
}

test_no_kernel() {
	host
	BROKEN_apt_cache="No packages found" expect 3 on_host lab build
	has err "no kernel for the lab: apt's lists lack"
	has err "(run: apt-get update)"
	BROKEN_apt_get="Failed to fetch it: no network" expect 3 EXEC -- true
	has err 'cannot download the lab'\''s kernel "linux-image-6.1-test"'
	has err "no network"
	BROKEN_supermin="cannot read" expect 3 on_host lab build
	has err "cannot build the lab's appliance"
	expect 0 on_host lab build
	has out "kernel     6.1-test"
	# apt broken later: the one that is there serves.
	BROKEN_apt_cache="No packages found" expect 0 on_host lab build
	has err "the one in the cache serves"
	nothing_left
}

test_bad_options() {
	host
	expect 2 on_host lab
	expect 2 on_host lab no-such-verb
	has err "is not build, exec, up, down, status or shell"
	for v in EXEC UP; do
		local c=()
		[ $v = UP ] || c=(-- true)
		expect 2 $v --memory 64M "${c[@]}"
		has err "needs 256 MiB"
		expect 3 $v --memory 900000G "${c[@]}"
		has err "does not fit: this host has"
		expect 2 $v --accel fast "${c[@]}"
		has err "none of auto, kvm, tcg"
		expect 2 $v --disks no-such.img "${c[@]}"
		has err '--disks: "no-such.img" is no size: the guest'\''s disks are made for it'
		expect 2 $v --disks 99x1G "${c[@]}"
		expect 2 $v --add nothing "${c[@]}"
		has err "is no plain file"
		expect 2 $v --timeout soon "${c[@]}"
		expect 2 $v --no-such-option "${c[@]}"
	done
	expect 2 EXEC
	has err "no command"
	expect 2 EXEC --virtual-time --disks 1G -- true
	has err "disks of the host would let its time"
	expect 2 EXEC --virtual-time=333 -- true
	expect 2 UP --virtual-time --array single --members 1x64M
	has err "runs in real time"
	expect 2 UP --net token-ring
	has err '--net: "token-ring" is none of auto, tap, user'
	expect 2 UP --net tap --port 4000
	has err "a tap has an address of its own"
	expect 2 UP --port 70000
	expect 2 UP --array raid7 --members 3x64M
	has err "is no array"
	expect 2 UP --array raid5
	has err "--members"
	expect 2 UP --name Big
	has err '"Big" cannot name a lab'
	expect 2 UP --chap-user me
	has err LUNBENCH_TARGET_PASSWORD
	expect 3 on_host lab down --name none
	has err 'no lab "none" is up'
	expect 3 on_host lab status --name none
	expect 3 on_host lab shell --name none -- true
	expect 2 on_host lab down --name a --all
	expect 2 on_host lab agent
	LUNBENCH_STATE_DIR=/tmp/$(printf 'x%.0s' {1..90}) expect 2 UP
	has err "too long for the path of a socket"
	nothing_left
}

test_exec() {
	host
	expect 4 EXEC -q --out back -- true
	has out "said in the guest"
	[ ! -s err ] || fail "$(cat err)"
	FAKE_RESULT=$ROOT/tests/fuzz/corpus_cpio/good expect 4 EXEC --out back -- true
	has back/a/file hello
	has err "2 files in"
	FAKE_RESULT=$ROOT/tests/fuzz/corpus_cpio/outside_dotdot expect 3 EXEC --out back -- true
	has err "would land outside"
	nothing_left
}

test_guest_fails() {
	host
	FAKE_GUEST=panic expect 3 EXEC -- true
	has err "the guest has died: Kernel panic - not syncing: no cheese"
	has err "last words"
	FAKE_GUEST=error expect 3 EXEC -- true
	has err "QEMU failed: qemu-system-x86_64: Could not set up host forwarding"
	FAKE_GUEST=panic expect 3 UP
	has err "no cheese"
	FAKE_GUEST=silent expect 3 UP --timeout 5
	has err "the guest did not come up within 5 s"
	has err "waiting for cheese"
	FAKE_TARGET="md is out of cheese" expect 3 UP
	has err "in the guest: md is out of cheese"
	FAKE_SAYS='{"url": 3}' expect 3 UP
	has err "that is no target's status"
	FAKE_SAYS='nonsense' expect 3 UP
	nothing_left
}

test_interrupted() {
	host
	local status=0
	FAKE_GUEST=silent timeout -s INT --preserve-status 2 \
		env PATH="$TEST_DIR/bin" "$LUNBENCH" lab up --accel tcg --memory 256M --net user 2>err || status=$?
	[ $status = 130 ] || fail "status $status: $(cat err)"
	has err interrupted
	nothing_left
}

test_up() {
	host
	expect 0 UP --array raid5 --members 3x64M --output-format json
	jq -e '.running and .net == "user" and .target.store == "rdwr"' out >/dev/null || fail "$(cat out)"
	[ "$(jq -r .url out)" = "iscsi://127.0.0.1:$(jq .port out)/iqn.2026-11.dev.lunbench:default/1" ] ||
		fail "$(cat out)"
	expect 3 UP
	has err 'lab "default" is up already at iscsi://'
	local port
	port=$(free_port)
	LUNBENCH_TARGET_PASSWORD=a-secret-of-16-byte expect 0 UP --name two --port "$port" --chap-user me
	! grep -rs a-secret "$LUNBENCH_STATE_DIR" tmp || fail "the secret is written down"
	has out "iscsi://127.0.0.1:$port/"
	expect 0 on_host lab status
	has out two
	has out default
	expect 0 on_host lab status --name two --output-format json
	jq -e '.labs | length == 1' out >/dev/null || fail "$(cat out)"
	expect 9 on_host lab shell --name two -- say hello 9
	has out hello
	expect 0 on_host lab down --all
	has out "two is down"
	nothing_left
	expect 0 on_host lab status
	has out "no labs"
}

test_port_in_use() {
	host
	python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1); print(s.getsockname()[1], flush=True); time.sleep(50)' >port &
	local listener=$!
	until [ -s port ]; do sleep 0.05; done
	expect 3 UP --port "$(cat port)"
	kill $listener
	has err "cannot listen on 127.0.0.1:$(cat port): Address already in use"
	nothing_left
}

# A kill after and before each step of the journal: down, status, up again.
test_killed() {
	local step
	host
	on_host lab build >/dev/null 2>&1
	for step in 1 2 3 4 5 6 -1 -3 -5 -6 -7 7; do
		LUNBENCH_TEST_KILL_AT_STEP=$step expect 137 UP
		# After the last one it is whole.
		[ $step != 7 ] || continue
		expect 3 on_host lab status --name default
		has out "never came up whole; run: lunbench lab down"
		expect 0 on_host lab down
		nothing_left
	done
	expect 0 on_host lab status
	expect 0 on_host lab down
	LUNBENCH_TEST_KILL_AT_STEP=5 expect 137 UP
	expect 0 UP
	has err 'cleaned up what a "default" that died had left'
	pkill -KILL -f "fake_qemu.py.*$LUNBENCH_STATE_DIR/"
	until no_qemu; do sleep 0.05; done
	expect 3 on_host lab status
	has out "its guest is gone"
	expect 3 on_host lab shell -- true
	has err "its guest is gone"
	expect 0 on_host lab down
	nothing_left
}

# A killed lunbench's folder goes with the next start, at once; one in use stays.
test_scratch_swept() {
	host
	on_host lab build >/dev/null 2>&1
	FAKE_GUEST=silent PATH=$TEST_DIR/bin "$LUNBENCH" lab exec --accel tcg --memory 256M -- true 2>/dev/null &
	local alive=$!
	until ls tmp/lunbench-lab.*/console >/dev/null 2>&1; do sleep 0.05; done
	local used
	used=$(ls tmp)
	FAKE_GUEST=silent PATH=$TEST_DIR/bin "$LUNBENCH" lab exec --accel tcg --memory 256M -- true 2>/dev/null &
	local dead=$!
	until [ "$(ls tmp/lunbench-lab.*/console | wc -l)" = 2 ]; do sleep 0.05; done
	kill -KILL $dead
	wait $dead || true
	[ "$(ls tmp | wc -l)" = 2 ] || fail "there: $(ls tmp)"
	expect 4 EXEC -- true
	[ "$(ls tmp)" = "$used" ] || fail "there: $(ls tmp), wanted $used"
	kill $alive
	wait $alive || true
	for _ in {1..100}; do
		no_qemu && break
		sleep 0.1
	done
	nothing_left
}

# In a mount namespace of its own: in_small_tmpfs FOLDER COMMAND...
in_small_tmpfs() {
	local as=-m
	[ "$(id -u)" = 0 ] || as=-rm
	unshare $as bash -c 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"' "$@"
}

test_disks_full() {
	host
	export -f EXEC on_host
	export TEST_DIR
	mkdir full back
	in_small_tmpfs full true 2>/dev/null || skip "no mounts of its own here"
	XDG_CACHE_HOME=$PWD/full expect 3 in_small_tmpfs full bash -c 'EXEC -- true'
	has err "full/lunbench\" has 1 MB free and the lab's kernel takes 250 MB"
	TMPDIR=$PWD/full expect 3 in_small_tmpfs full bash -c 'EXEC -- true'
	has err "and a guest's root takes"
	has err "set TMPDIR to another folder"
	python3 - <<-'EOF'
		def entry(name, mode, data):
		    name = name.encode() + b"\0"
		    fields = [1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
		    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
		    return head + b"\0" * (-len(head) % 4) + data
		open("large", "wb").write(entry("large", 0o100644, bytes(4 << 20)) + entry("TRAILER!!!", 0, b""))
	EOF
	FAKE_RESULT=$PWD/large expect 3 in_small_tmpfs back bash -c 'EXEC --out back -- true'
	has err "cannot bring the guest's results back: cannot write \"back/large\": No space left on device"
	nothing_left
}

run_tests
