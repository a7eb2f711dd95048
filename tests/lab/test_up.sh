#!/bin/bash
# A guest that stays. Each boot costs 5 to 20 s, so most of it is one test.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=240
LAB() { "$LUNBENCH" lab "$@"; }
SHELL_() { LAB shell --name "$NAME" "$@"; }

# A lab for the test, taken down with it: lab_up [OPTIONS]; sets NAME, URL.
lab_up() {
	NAME=t$BASHPID
	# shellcheck disable=SC2064
	trap "'$LUNBENCH' lab down --name $NAME >/dev/null 2>&1 || :" EXIT
	LAB up --name "$NAME" --cpus 1 --memory 768M "$@" >up.out 2>up.err || {
		cat up.err >&2
		return 1
	}
	URL=$(grep -oE 'iscsi://[^ ]+' up.out | head -n 1)
}
read_some() {
	timeout 100 "$LUNBENCH" run --rw=read --bs=64k --runtime=1 --time_based "$@" -o result.json
}
qemu_runs() { pgrep -f "qemu-system-x86_64.*$LUNBENCH_STATE_DIR/.lab/$NAME/" >/dev/null; }
qemu_ends() {
	local n=0
	while qemu_runs; do
		sleep 0.1
		n=$((n + 1))
		[ $n -lt 100 ] || fail "QEMU outlives its guest"
	done
}
# What the lab was made of is gone.
nothing_left() {
	[ ! -e "$LUNBENCH_STATE_DIR/.lab/$NAME" ] || fail "its folder is left"
	! qemu_runs || fail "QEMU is left running"
	[ -z "$(ls -d "$TMPDIR"/lunbench-lab* 2>/dev/null)" ] || fail "left: $(ls "$TMPDIR")"
	[ -z "$(ip route show type unreachable metric 4000000000)" ] || fail "a route is left"
}
own_tmp() {
	export TMPDIR=$PWD/tmp
	mkdir -p "$TMPDIR"
}

shell_works() {
	expect 7 SHELL_ -- bash -c 'echo to out; echo to err >&2; exit 7'
	has out "to out"
	has err "to err"
	echo "of the host" | SHELL_ -- cat >out
	has out "of the host"
	SHELL_ -- cat <&- >out # closed, not only empty
	echo 'pwd; exit 3' | expect 3 SHELL_
	has out "/work"
	expect 127 SHELL_ -- no-such-program
	head -c 3000000 /dev/urandom >big
	SHELL_ -- cat <big >back
	cmp back big
}

# Ctrl-C is the command's; what a killed client leaves is ended in the guest.
signals_reach() {
	local pid status=0
	"$LUNBENCH" lab shell --name "$NAME" -- bash -c 'echo there; exec sleep 600' >out &
	pid=$!
	until grep -q there out; do sleep 0.1; done
	kill -INT $pid
	wait $pid || status=$?
	[ $status = 130 ] || fail "a command ended by Ctrl-C: status $status"
	"$LUNBENCH" lab shell --name "$NAME" -- bash -c 'echo there; exec sleep 601' >out &
	pid=$!
	until grep -q there out; do sleep 0.1; done
	kill -KILL $pid
	wait $pid || true
	SHELL_ -- bash -c 'for i in {1..50}; do pgrep -fx "sleep 601" >/dev/null || exit 0; sleep 0.1; done; exit 9' ||
		fail "a command outlives its client"
}

# A reader who has seen enough ends the command; a full disk is no success.
output_matters() {
	local status
	{ SHELL_ -- yes 2>err || echo $? >status; } | head -n 1 >out
	[ "$(cat status)" = 141 ] || fail "yes | head: status $(cat status)"
	[ ! -s err ] || fail "$(cat err)"
	status=0
	SHELL_ -- echo there >/dev/full 2>err || status=$?
	[ "$status" = 3 ] || fail "a full disk: status $status"
	has err "cannot pass on what the command says"
	SHELL_ -- echo there >&-
}

terminal_works() {
	timeout 60 python3 - "$LUNBENCH" "$NAME" <<-'EOF'
		import os, pty, sys, select, time
		pid, fd = pty.fork()
		if not pid:
		    os.execv(sys.argv[1], [sys.argv[1], "lab", "shell", "--name", sys.argv[2]])
		def until(text):
		    seen = b""
		    while text not in seen:
		        if not select.select([fd], [], [], 20)[0]:
		            sys.exit(f"no {text} in {seen}")
		        seen += os.read(fd, 65536)
		until(b"# ")
		os.write(fd, b"tty; sleep 600\r")
		until(b"/dev/pts/")
		time.sleep(0.5)
		os.write(fd, b"\x03echo =$((40 + 2)); exit 5\r")
		until(b"=42")
		status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		sys.exit(0 if status == 5 else f"status {status}")
	EOF
}

# The target is ours, the facts are in the result, nobody else may come.
target_is_ours() {
	read_some --rw=randwrite "$URL"
	jq -e '.lunbench.target | .array == "raid5" and .store == "rdwr" and
		(.lab | test("real time, '"$1"'$"))' result.json >/dev/null || fail "facts"
	SHELL_ -- lunbench target fail 2
	LAB status --name "$NAME" --output-format json >status.json
	jq -e '.labs[0] | .running and .target.md_degraded == "1" and .net == "'"$1"'"' status.json >/dev/null ||
		fail "$(cat status.json)"
	SHELL_ -- lunbench target replace 2
	read_some "$URL"
}

test_tap() {
	[ "$(id -u)" = 0 ] || skip "a tap device needs root"
	own_tmp
	local secret=a-secret-of-16-byte
	LUNBENCH_TARGET_PASSWORD=$secret lab_up --net tap --array raid5 --members 3x64M@ram \
		--chap-user someone
	export LIBISCSI_CHAP_USERNAME=someone LIBISCSI_CHAP_PASSWORD=$secret
	shell_works
	signals_reach
	output_matters
	terminal_works
	target_is_ours tap
	(unset LIBISCSI_CHAP_USERNAME LIBISCSI_CHAP_PASSWORD; expect 3 read_some "$URL")
	! SHELL_ -- grep -rs "$secret" /proc/cmdline /lab /work /run/lunbench || fail "the secret is written down"
	# Nobody but the host's address, and the guest itself has another.
	expect 3 SHELL_ -- env LIBISCSI_CHAP_USERNAME=someone LIBISCSI_CHAP_PASSWORD=$secret \
		lunbench run --rw=read --runtime=1 --time_based "$URL"
	has err "its access list lacks"
	expect 3 LAB up --name "$NAME" --array single --members 1x64M@ram
	has err "is up already at $URL: take it down with"
	# It dies by itself: said with its last lines, and a run does not hang.
	SHELL_ -- bash -c 'echo c >/proc/sysrq-trigger' 2>/dev/null || true
	qemu_ends
	expect 3 LAB status --name "$NAME"
	has out "the guest has died: Kernel panic"
	has out "last lines"
	expect 3 SHELL_ -- true
	has err "its guest is gone"
	expect 3 read_some "$URL"
	has err "no route to"
	expect 0 LAB down --name "$NAME"
	nothing_left
	expect 3 LAB down --name "$NAME"
	has err "no lab \"$NAME\" is up"
}

# User networking; everything killed with it up; a second one takes its place.
test_user() {
	own_tmp
	local port again
	port=$(free_port)
	lab_up --net user --port "$port" --array raid5 --members 3x64M@ram
	[[ $URL == iscsi://127.0.0.1:$port/* ]] || fail "it is at $URL"
	target_is_ours user
	# Only there: neither the host's other addresses nor the guest's others.
	[ "$(ss -Hltn "sport = :$port" | awk '{print $4}')" = "127.0.0.1:$port" ] || fail "$(ss -Hltn)"
	expect 3 LAB up --name other --net user --port "$port" --memory 512M
	has err "cannot listen on 127.0.0.1:$port: Address already in use"
	pkill -KILL -f "qemu-system-x86_64.*$LUNBENCH_STATE_DIR/.lab/$NAME/"
	qemu_ends
	expect 3 LAB status --name "$NAME"
	has out "its guest is gone"
	again=$NAME
	lab_up --net user --size 64M # after a stale one
	[ "$again" = "$NAME" ] || fail "another name"
	has up.err "that died had left"
	expect 0 LAB down --name "$NAME"
	nothing_left
}

run_tests
