#!/bin/bash
# The iscsi transport, discovery and the guard against a real tgtd, driven by
# tests/func/iscsi_aid.c: what the commands do with it is tested elsewhere.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

AID=$AIDS/iscsi_aid

# refused TEXT... -- COMMAND: status 3 and one line on stderr that has them.
refused() {
	local texts=() t
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	expect 3 "$@"
	[ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
	for t in "${texts[@]}"; do has err "$t"; done
}

# lacks FILE TEXT
lacks() {
	if grep -qF -- "$2" "$1"; then
		fail "$1 has \"$2\": $(cat "$1")"
	fi
}

# only FILE BYTE: the file holds nothing else (a number, octal for tr).
only() {
	[ "$(tr -d "\\$2" <"$1" | wc -c)" = 0 ] || fail "$1 is not all $2"
}

# --- who it is, how big ---

test_probe() {
	raw_up
	raw_lun 1 64M
	raw_set 1 vendor_id=ACME,product_id=FOO,product_rev=1.0,scsi_sn=SN1
	expect 0 "$AID" probe "$URL"
	for t in blocks=131072 block=512 vendor=ACME product=FOO revision=1.0 \
		serial=SN1 naa=naa. cache=1 cache_known=1 read_only=0 thin=0 \
		can_unmap=0 MaxBurstLength=262144 HeaderDigest=None \
		"InitiatorName=iqn.2026-11.dev.lunbench:" "Portal=127.0.0.1:$PORT"; do
		has out "$t"
	done
	# write cache off, read-only
	raw_set 1 mode_page=8:0:18:0x10:0:0xff:0xff:0:0:0xff:0xff:0xff:0xff:0x80:0x10:0:0:0:0:0:0
	raw_set 1 readonly=1
	expect 0 "$AID" probe "$URL"
	has out cache=0
	has out cache_known=1
	has out read_only=1
	expect 1 "$AID" write "$URL" 0 4096 1
	has err "DATA PROTECT, write protected (7/27/00)"
	# not ready
	raw_set 1 online=0
	refused "LUN 1: not ready" "2/04/01" -- "$AID" probe "$URL"
}

test_each_lun_is_itself() {
	raw_up
	for n in 1 2 3; do
		raw_lun $n "${n}M"
		raw_set $n scsi_sn=SERIAL$n
	done
	for n in 1 2 3; do
		expect 0 "$AID" probe "${URL%/*}/$n"
		has out serial=SERIAL$n
		has out blocks=$((n * 2048))
	done
	refused "LUN 0: not a disk (device type 0x0c, storage array controller)" -- \
		"$AID" probe "${URL%/*}/0"
	refused "LUN 9: no such LUN" "5/25/00" -- "$AID" probe "${URL%/*}/9"
}

# libiscsi writes the number raw: /300 would read and write LUN 44.
test_lun_300_is_not_44() {
	raw_up
	raw_lun 44 1M
	raw_lun 255 1M
	raw_lun 256 1M
	raw_lun 300 1M
	for n in 44 255 256 300; do
		tr '\0' '\021' </dev/zero | head -c 1M >l$n.img
	done
	expect 0 "$AID" write "${URL%/*}/300" 0 1048576 2
	expect 0 "$AID" write "${URL%/*}/256" 0 1048576 3
	only l44.img 021
	only l255.img 021
	only l300.img 002
	only l256.img 003
	expect 0 "$AID" read "${URL%/*}/300" 0 1048576
	cmp out l300.img
	refused "no such LUN" -- "$AID" probe "${URL%/*}/1044"
}

test_sizes() {
	raw_up
	raw_lun 1 0
	refused "LUN has no blocks" -- "$AID" probe "$URL"
	raw_lun 2 100
	refused "LUN has no blocks" -- "$AID" probe "$URL"
	raw_lun 3 100000
	expect 0 "$AID" probe "$URL"
	has out blocks=195
	expect 1 "$AID" read "$URL" 99840 512
	has err "LBA out of range"
}

test_over_2_tib() {
	raw_up
	raw_lun 1 3T
	expect 0 "$AID" probe "$URL"
	has out blocks=6442450944
	local end=$((3 * 1024 ** 4)) two=$((2 * 1024 ** 4))
	expect 0 "$AID" write "$URL" $((end - 65536)) 65536 5
	# one command across the last LBA of 32 bits, then at that border
	expect 0 "$AID" write "$URL" $((two - 4096)) 8192 6
	expect 0 "$AID" read "$URL" $((end - 65536)) 65536
	only out 005
	tail -c 65536 l1.img >part
	only part 005
	dd if=l1.img of=part bs=4096 skip=$((two / 4096 - 2)) count=4 status=none
	head -c 16384 /dev/zero >wanted
	head -c 8192 /dev/zero | tr '\0' '\006' |
		dd of=wanted bs=4096 seek=1 conv=notrunc status=none
	cmp part wanted
	[ "$(du -k l1.img | cut -f 1)" -le 128 ] || fail "written elsewhere: $(du l1.img)"
}

# 128 MiB in one command: over 65535 blocks READ(10) has no room.
test_long_transfer() {
	raw_up
	raw_lun 1 256M
	expect 0 "$AID" write "$URL" 1048576 134217728 7
	tail -c +1048577 l1.img | head -c 134217728 >part
	only part 007
	[ "$(tr -d '\0' <l1.img | wc -c)" = 134217728 ]
	expect 0 "$AID" read "$URL" 1048576 134217728
	cmp out part
}

test_4k_blocks() {
	raw_up
	raw_lun 1 64M --blocksize 4096
	expect 0 "$AID" probe "$URL"
	has out block=4096
	has out blocks=16384
	expect 0 "$AID" write "$URL" 8192 4096 5
	[ "$(tr -d '\0' <l1.img | wc -c)" = 4096 ]
	dd if=l1.img of=part bs=4096 skip=2 count=1 status=none
	only part 005
	# what a wrong size would do: a part written, and GOOD
	expect 1 "$AID" write "$URL" 512 4096 5
	has err "Invalid argument"
	expect 1 "$AID" write "$URL" 4096 512 5
}

test_unmap_and_flush() {
	raw_up
	raw_lun 1 8M
	expect 0 "$AID" flush "$URL"
	expect 1 "$AID" trim "$URL" 0 65536
	has err "invalid command operation code"
	raw_set 1 thin_provisioning=1
	expect 0 "$AID" probe "$URL"
	for t in can_unmap=1 thin=1 zeroes=1; do has out $t; done
	expect 0 "$AID" write "$URL" 0 1048576 5
	expect 0 "$AID" trim "$URL" 65536 65536
	[ "$(tr -d '\0' <l1.img | wc -c)" = $((1048576 - 65536)) ]
}

# --- login ---

test_digests() {
	raw_up
	raw_lun 1 8M
	AID_HEADER_DIGEST=yes refused "HeaderDigest=None" -- "$AID" probe "$URL"
	AID_DATA_DIGEST=yes refused "1.20.1 or newer" -- "$AID" probe "$URL"
	raw_param HeaderDigest CRC32C
	for ask in yes no; do
		AID_HEADER_DIGEST=$ask expect 0 "$AID" probe "$URL"
		has out "HeaderDigest=$([ $ask = yes ] && echo CRC32C || echo None)"
		AID_HEADER_DIGEST=$ask expect 0 "$AID" write "$URL" 0 1048576 6
		AID_HEADER_DIGEST=$ask expect 0 "$AID" read "$URL" 0 1048576
		only out 006
	done
	expect 0 "$AID" probe "$URL"
	has out HeaderDigest=CRC32C
}

# CASES 22: whatever is negotiated, the data is right.
test_negotiation() {
	raw_up
	raw_lun 1 8M
	local key value
	for key in FirstBurstLength MaxBurstLength MaxRecvDataSegmentLength MaxQueueCmd; do
		value=512
		[ $key != MaxQueueCmd ] || value=1
		raw_param $key $value
		for ask in yes no; do
			AID_PIECE=262656 AID_INITIAL_R2T=$ask AID_IMMEDIATE_DATA=$ask \
				expect 0 "$AID" write "$URL" 0 1048576 $((value % 7 + 1))
			AID_PIECE=262656 expect 0 "$AID" read "$URL" 0 1048576
			only out "00$((value % 7 + 1))"
			head -c 1048576 l1.img | cmp - out
		done
	done
}

test_names() {
	raw_up
	raw_lun 1 8M
	refused "127.0.0.1:$PORT" "target not found" "iqn.nope" -- \
		"$AID" probe "iscsi://127.0.0.1:$PORT/iqn.nope/1"
	refused "unknown host" nosuch.invalid -- "$AID" probe iscsi://nosuch.invalid/iqn.x/1
	local port
	port=$(free_port)
	refused "connection refused by 127.0.0.1:$port" -- \
		"$AID" probe "iscsi://127.0.0.1:$port/iqn.x/1"
	# ::1 first, then 127.0.0.1
	expect 0 "$AID" probe "iscsi://localhost:$PORT/$IQN/1"
	refused "connection refused by localhost:$port" -- \
		"$AID" probe "iscsi://localhost:$port/iqn.x/1"
	# a loose name, as tgt allows
	T --mode target --op new --tid 2 -T foo
	T --mode target --op bind --tid 2 -I ALL
	T --mode logicalunit --op new --tid 2 --lun 1 -b "$PWD/l1.img"
	expect 0 "$AID" probe "iscsi://127.0.0.1:$PORT/foo/1"
	# an access list
	T --mode target --op unbind --tid 2 -I ALL
	T --mode target --op bind --tid 2 -Q iqn.2000-01.x:me
	refused "target not found" -- "$AID" probe "iscsi://127.0.0.1:$PORT/foo/1"
	AID_NAME=iqn.2000-01.x:me expect 0 "$AID" probe "iscsi://127.0.0.1:$PORT/foo/1"
}

test_ipv6() {
	raw_up
	T --mode portal --op new --param "portal=[::1]:$PORT"
	raw_lun 1 8M
	expect 0 "$AID" probe "iscsi://[::1]:$PORT/$IQN/1"
	has out "Portal=[::1]:$PORT"
	expect 0 "$AID" discover "iscsi://[::1]:$PORT"
	has out "portal [::1]:$PORT,1"
	has out "lun 1 type 00 16384 x 512"
}

# CASES 7: the owner's deadline ends both, with different texts.
test_no_answer() {
	local before
	listener hole
	before=$(date +%s%N)
	AID_TIMEOUT_MS=700 refused "connecting to 127.0.0.1:$PORT" -- \
		"$AID" probe "iscsi://127.0.0.1:$PORT/iqn.x/1"
	[ $(($(date +%s%N) - before)) -lt 6000000000 ] || fail "over the deadline"
	listener swallow
	AID_TIMEOUT_MS=700 refused "waiting for the login response of 127.0.0.1:$PORT" -- \
		"$AID" probe "iscsi://127.0.0.1:$PORT/iqn.x/1"
	AID_TIMEOUT_MS=700 refused "no answer" "login response" -- \
		"$AID" discover "iscsi://127.0.0.1:$PORT"
}

# CASES 25, 26, 27.
test_chap() {
	raw_up
	raw_lun 1 8M
	local bare=${URL#iscsi://} secret n=0
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	refused "authentication failed" "wants CHAP" -- "$AID" probe "$URL"
	refused "authentication failed" alice -- "$AID" probe "iscsi://alice%wrong12wrong12@$bare"
	lacks err wrong12
	refused "authentication failed" bob -- "$AID" probe "iscsi://bob%secret12secret@$bare"
	expect 0 "$AID" probe "iscsi://alice%secret12secret@$bare"
	# odd characters, by environment, by file and in the URL
	for secret in 'p@ss%w:rd/with#odd' 'has space in it' 'a,b,c,d,e,f,g' 'üöä12345678' short \
		"$(printf '%0255d' 0)" '&!#$^*()"12345'; do
		n=$((n + 1))
		T --mode account --op new --user "u$n" --password "$secret"
		T --mode account --op bind --tid 1 --user "u$n"
		LIBISCSI_CHAP_USERNAME=u$n LIBISCSI_CHAP_PASSWORD=$secret expect 0 "$AID" probe "$URL"
		printf 'user=u%s\npassword=%s\n' $n "$secret" >chap
		LUNBENCH_CHAP_FILE=chap expect 0 "$AID" probe "$URL"
		expect 0 "$AID" probe "iscsi://u$n%$secret@$bare"
	done
	LIBISCSI_CHAP_USERNAME=u1 LIBISCSI_CHAP_PASSWORD=$(printf '%0300d' 0) \
		refused "300 bytes; 255 at most" -- "$AID" probe "$URL"
}

test_mutual_chap() {
	raw_up
	raw_lun 1 8M
	local url=iscsi://alice%secret12secret@${URL#iscsi://}
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	refused "no outgoing account" -- \
		"$AID" probe "$url?target_user=out&target_password=outsecret1234"
	T --mode account --op new --user out --password outsecret1234
	T --mode account --op bind --tid 1 --user out --outgoing
	expect 0 "$AID" probe "$url?target_user=out&target_password=outsecret1234"
	refused "did not prove that it knows the secret" -- \
		"$AID" probe "$url?target_user=out&target_password=outsecret9999"
	refused 'names itself "out", not "other"' -- \
		"$AID" probe "$url?target_user=other&target_password=outsecret1234"
	refused "same secret both ways" -- \
		"$AID" probe "$url?target_user=out&target_password=secret12secret"
	# discovery has no account to answer with, the target's session has
	export LIBISCSI_CHAP_USERNAME=alice LIBISCSI_CHAP_PASSWORD=secret12secret
	export LIBISCSI_CHAP_TARGET_USERNAME=out LIBISCSI_CHAP_TARGET_PASSWORD=outsecret1234
	expect 0 "$AID" discover "127.0.0.1:$PORT"
	has out "lun 1 type 00 16384 x 512"
}

redirect_to() {
	local kv
	for kv in "RedirectAddress=127.0.0.2" "RedirectPort=$1" "RedirectReason=$2"; do
		raw_param "${kv%%=*}" "${kv#*=}"
	done
}

test_redirect() {
	raw_up
	T --mode portal --op new --param "portal=127.0.0.2:$PORT"
	raw_lun 1 8M
	local there=$PORT
	mkdir other
	cd other || exit
	PORT=$(free_port)
	raw_up
	raw_lun 1 16M
	redirect_to "$there" Temporary
	expect 0 "$AID" probe "$URL"
	has out "Portal=127.0.0.2:$there"
	has out blocks=16384
	redirect_to "$(free_port)" Temporary
	refused "connection refused by 127.0.0.2" -- "$AID" probe "$URL"
	redirect_to "$there" Permanent
	refused "moved for good" "127.0.0.2:$there" -- "$AID" probe "$URL"
	# in a circle
	T --mode portal --op new --param "portal=127.0.0.2:$PORT"
	redirect_to "$PORT" Temporary
	refused "that is a loop" -- "$AID" probe "$URL"
}

# --- sessions that end ---

drop_sessions() {
	local sid
	for sid in $(T --mode conn --op show --tid 1 | awk '/^Session/ {print $2}'); do
		T --mode conn --op delete --tid 1 --sid "$sid" --cid 0
	done
}

# lost TEXT: what `iscsi_aid lose` says of it, and no crash on the way out.
lost() {
	local status=0
	wait "$LOSER" || status=$?
	[ $status = 0 ] || fail "exit $status: $(cat out err)"
	has out "lost the connection to 127.0.0.1:$PORT"
	has out "$1"
	has out "submit Transport endpoint is not connected"
	has out "closed, 8 cancelled"
}

loser() {
	: >out
	"$AID" lose "$URL" >out 2>err &
	LOSER=$!
	until grep -q waiting out; do
		kill -0 $LOSER || fail "$(cat out err)"
		sleep 0.05
	done
	sleep 0.2 # for the commands to reach the disk's delay
}

# CASES 3, 1: lost in mid-command, one more command, then the end.
test_lost() {
	export FAULT_CTL=$PWD/ctl
	echo 'r 0 100000000 delay 1500
w 0 100000000 delay 1500' >ctl
	LD_PRELOAD=$AIDS/fault_preload.so raw_up
	raw_lun 1 8M
	loser
	drop_sessions
	lost "the target closed it"
	loser
	kill -9 "$TGTD_PID"
	lost "127.0.0.1"
}

# CASES 4: pings are answered while nothing else happens.
test_nop_pings() {
	raw_up
	raw_lun 1 8M
	raw_param nop_interval 1
	raw_param nop_count 1
	expect 0 "$AID" idle "$URL" 4
	# and a frozen initiator is thrown out, and says so
	"$AID" idle "$URL" 6 >out 2>err &
	local pid=$! status=0
	until T --mode conn --op show --tid 1 | grep -q Session; do sleep 0.05; done
	kill -STOP $pid
	until ! T --mode conn --op show --tid 1 | grep -q Session; do sleep 0.1; done
	kill -CONT $pid
	wait $pid || status=$?
	[ $status = 3 ]
	has err "lost the connection to 127.0.0.1:$PORT"
}

test_medium_error() {
	export FAULT_CTL=$PWD/ctl
	echo 'r 8192 512 eio
s 0 0 eio' >ctl
	LD_PRELOAD=$AIDS/fault_preload.so raw_up
	raw_lun 1 8M
	expect 1 "$AID" read "$URL" 8192 512
	has err "MEDIUM ERROR, unrecovered read error (3/11/00)"
	expect 0 "$AID" read "$URL" 4096 4096
	expect 1 "$AID" flush "$URL"
	has err "MEDIUM ERROR"
}

# --- a target that misbehaves ---

scripted() {
	rm -f port
	setpriv --pdeathsig KILL python3 "$ROOT/tests/func/scripted_target.py" "$1" >port &
	SCRIPTED=$!
	until [ -s port ]; do sleep 0.02; done
	PORT=$(cat port)
	URL=iscsi://127.0.0.1:$PORT/iqn.2026-11.lb:scripted/1
}

# ends STATUS [TEXT]: a read and a write of 4 MiB in 16 commands.
ends() {
	AID_PIECE=262144 expect "$1" "$AID" read "$URL" 0 4194304
	[ "$1" = 0 ] || has err "$2"
	AID_PIECE=262144 expect "$1" "$AID" write "$URL" 0 4194304 1
	[ "$1" = 0 ] || has err "$2"
	kill "$SCRIPTED"
}

# CASES 21, 24, 31: never taken for data that arrived.
test_bad_answers() {
	scripted good
	ends 0
	scripted attention
	ends 0
	scripted busy
	ends 1 "-16 BUSY"
	scripted full
	ends 1 "-16 TASK SET FULL"
	scripted conflict
	ends 1 "-121 RESERVATION CONFLICT"
	scripted aborted
	ends 1 "-121 TASK ABORTED"
	scripted underflow
	ends 1 "-74 GOOD, but 131072 of 262144 bytes were not transferred"
	scripted overflow
	ends 1 "-74 GOOD, but the command was for 28672 bytes more than the 262144"
}

# CASES 12: and every other way to lose a session is on_lost, not a crash.
test_bad_sessions() {
	scripted logout
	ends 1 "lost the connection to 127.0.0.1:$PORT: the target asked for a logout"
	scripted announce
	ends 1 "lost the connection to 127.0.0.1:$PORT"
	scripted drop
	ends 1 "lost the connection to 127.0.0.1:$PORT"
	scripted reject
	ends 1 "protocol error: Request was rejected"
	scripted garbage
	ends 1 "lost the connection to 127.0.0.1:$PORT: protocol error"
	scripted busy-login
	ends 3 "up but not ready"
	scripted full-login
	ends 3 "too many connections"
	scripted drop-login
	ends 3 "during login: the target closed it"
	scripted garbage-login
	ends 3 "does not speak iSCSI"
}

# libiscsi's queue still points into the task and the data of such a write;
# under ASan or valgrind their early end shows.
test_write_refused_early() {
	scripted early
	expect 1 "$AID" write "$URL" 0 16777216 1
	has err "-30 CHECK CONDITION, DATA PROTECT, write protected (7/27/00)"
	if command -v valgrind >/dev/null && [ -z "${SAN:-}" ]; then
		expect 1 valgrind -q --error-exitcode=9 "$AID" write "$URL" 0 16777216 1
	fi
}

# --- discovery ---

# CASES 15: all of them, with their right numbers, in a few seconds.
test_600_luns() {
	raw_up
	local n before
	for n in $(seq 600); do
		echo "T --mode logicalunit --op new --tid 1 --lun $n --bstype null -b 1"
	done >all
	# shellcheck disable=SC1091
	. ./all
	before=$(date +%s)
	expect 0 "$AID" discover "127.0.0.1:$PORT"
	[ $(($(date +%s) - before)) -le 5 ] || fail "took $(($(date +%s) - before)) s"
	has out "target $IQN 601 LUNs"
	has out "lun 0 type 0c"
	grep '^lun' out | cut -d ' ' -f 2 | cmp - <(seq 0 600)
	[ "$(grep -c 'type 00 2147483648 x 512 $' out)" = 600 ]
}

test_discover() {
	raw_up
	raw_lun 1 8M
	raw_lun 2 0
	T --mode target --op new --tid 2 -T iqn.y:locked
	T --mode target --op bind --tid 2 -I ALL
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 2 --user alice
	expect 0 "$AID" discover "127.0.0.1:$PORT"
	has out "portal 127.0.0.1:$PORT,1"
	has out "target $IQN 3 LUNs"
	has out "lun 1 type 00 16384 x 512"
	has out "lun 2 type 00 0 x 0 LUN 2: LUN has no blocks"
	has out "target iqn.y:locked 0 LUNs 127.0.0.1:$PORT: authentication failed"
	# one target; one that discovery does not show
	expect 0 "$AID" discover "iscsi://127.0.0.1:$PORT/$IQN"
	lacks out locked
	expect 0 "$AID" discover "iscsi://127.0.0.1:$PORT/iqn.hidden"
	has out "target not found"
	refused "connection refused" -- "$AID" discover "127.0.0.1:$(free_port)"
}

# CASES 10: a target may name any portal, 0.0.0.0 even; we stay at the address
# that we came in by. Here a relay is that, and counts.
test_address_we_came_in_by() {
	raw_up
	raw_lun 1 8M
	setpriv --pdeathsig KILL python3 - "$PORT" >port <<-'PYTHON' &
		import socket, sys, threading
		def pump(a, b):
		    while data := a.recv(65536):
		        b.sendall(data)
		    b.shutdown(socket.SHUT_WR)
		s = socket.create_server(("127.0.0.1", 0))
		print(s.getsockname()[1], flush=True)
		while True:
		    a = s.accept()[0]
		    b = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		    print("session", flush=True)
		    for pair in (a, b), (b, a):
		        threading.Thread(target=pump, args=pair, daemon=True).start()
	PYTHON
	until [ -s port ]; do sleep 0.05; done
	expect 0 "$AID" discover "127.0.0.1:$(head -n 1 port)"
	has out "portal 127.0.0.1:$PORT,1"
	has out "lun 1 type 00"
	[ "$(grep -c session port)" = 2 ] || fail "$(cat port)"
}

test_many_targets() {
	raw_up
	local n
	for n in $(seq 2 150); do
		echo "T --mode target --op new --tid $n -T iqn.2026-11.lb:a-rather-long-name-for-a-target-number-$n"
		echo "T --mode target --op bind --tid $n -I ALL"
	done >all
	# shellcheck disable=SC1091
	. ./all
	expect 0 "$AID" discover "127.0.0.1:$PORT"
	[ "$(grep -c '^target' out)" = 150 ]
}

# --- the guard ---

test_guard() {
	raw_up
	raw_lun 1 64M
	expect 0 "$AID" guard "$URL"
	has out 'found "", all zero'
	mkfs.ext4 -q -L backup l1.img
	expect 0 "$AID" guard "$URL"
	has out ext4
	has out backup
	raw_lun 2 8M
	printf 'x' | dd of=l2.img bs=1 seek=8388607 conv=notrunc status=none
	expect 0 "$AID" guard "$URL"
	has out 'found ""'
	lacks out zero
	# a LUN that has only a backup partition table, in its last blocks
	raw_lun 3 64M --blocksize 4096
	expect 0 "$AID" guard "$URL"
	has out 'all zero'
}

run_tests
