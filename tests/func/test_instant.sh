#!/bin/bash
# The scripted target of tests/target: it serves what the load needs, and does
# what its script says. What lunbench makes of bad targets is tested elsewhere.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

AID=$AIDS/iscsi_aid

# same BYTES: what was written in pieces of 64 KiB with numbers comes back.
same() {
	local n
	for n in 0 1 2 3; do
		expect 0 "$AID" write "$URL" $((n * $1)) "$1" $((n + 1))
	done
	expect 0 "$AID" read "$URL" 0 $((4 * $1))
	for n in 1 2 3 4; do
		head -c "$1" /dev/zero | tr '\0' "\\$n"
	done | cmp - out
}

test_serves_a_lun() {
	instant size=1G store=32M luns=3
	expect 0 "$AID" probe "$URL"
	for t in blocks=2097152 block=512 vendor=LUNBENCH serial=INSTANT001 cache=1 \
		can_unmap=1 read_only=0; do
		has out "$t"
	done
	expect 0 "$LUNBENCH" discover "iscsi://127.0.0.1:$PORT"
	has out iqn.2026-11.lb:instant
	[ "$(grep -c INSTANT err out | cut -d: -f2 | paste -sd+ | bc)" -ge 3 ] || fail "$(cat out)"
	same 65536
	expect 0 "$AID" flush "$URL"
	expect 0 "$AID" trim "$URL" 0 65536
	expect 3 "$AID" probe "${URL%/*}/9"
	has err "no such LUN"
}

# Every way that the data of a write can go, and of a read come.
test_negotiates() {
	local r2t imm
	for r2t in Yes No; do
		for imm in Yes No; do
			instant size=16M InitialR2T=$r2t ImmediateData=$imm \
				MaxBurstLength=131072 FirstBurstLength=32768 \
				MaxRecvDataSegmentLength=8192 r2t=20000
			expect 0 "$AID" probe "$URL"
			for t in InitialR2T=$r2t ImmediateData=$imm MaxBurstLength=131072 \
				MaxRecvDataSegmentLength=8192; do
				has out "$t"
			done
			same 262144
			kill "$INSTANT"
		done
	done
}

test_rules() {
	printf '%s\n' '# two lines' 'size=16M' 'rule read every=2 times=1 medium' >script
	instant -f script 'rule write after=1 times=1 drop' 'rule flush delay=200ms' \
		'rule read ping'
	expect 0 "$AID" read "$URL" 0 4096
	expect 1 "$AID" read "$URL" 0 4096
	has err "MEDIUM ERROR"
	expect 0 "$AID" read "$URL" 0 4096
	expect 0 "$AID" write "$URL" 0 4096 1
	expect 1 "$AID" write "$URL" 0 4096 1
	has err "lost the connection"
	expect 0 "$AID" write "$URL" 0 4096 1
	local start=${EPOCHREALTIME/./}
	expect 0 "$AID" flush "$URL"
	[ $((${EPOCHREALTIME/./} - start)) -gt 200000 ] || fail "not later"
	kill "$INSTANT"
	for t in busy full; do
		instant "rule io times=1 $t"
		expect 1 "$AID" read "$URL" 0 4096
		kill "$INSTANT"
	done
	expect 2 "$INSTANT_TARGET" "rule reads busy"
	has err '"reads" is no kind of command'
}

test_window() {
	instant window=4 size=16M 'rule read delay=1ms'
	expect 0 "$LUNBENCH" run --rw=randread --bs=4k --iodepth=16 --number_ios=200 --size=1M \
		--norandommap --quiet -o r.json "$URL"
	jq -e '.lunbench.rows[0].command_window.held_sends > 0' r.json
}

test_many_sessions() {
	instant size=64M
	expect 0 "$LUNBENCH" run --rw=randrw --bs=4k --iodepth=2 --clients=200 --workers=1 \
		--time_based --runtime=1 --norandommap --overwrite --quiet -o r.json "$URL"
	jq -e '.lunbench.rows[0].errors == [] or .lunbench.rows[0].errors == null' r.json ||
		fail "$(jq -c '.lunbench.rows[0].errors' r.json)"
}

# The contract of the iscsi transport, with our wire and without.
test_contract() {
	instant size=64M
	local t=$ROOT/$B/tests/unit/test_transport
	LUNBENCH_TEST_URL=$URL expect 0 "$t"
	LUNBENCH_TEST_URL=$URL LUNBENCH_TEST_PLAIN_WIRE=1 expect 0 "$t"
}

# --wire: who makes the system calls, how many, and that the result says so.
test_wire() {
	local run=(run --rw=randrw --bs=4k --iodepth=32 --number_ios=2000 --size=32M
		--norandommap --overwrite --quiet -o r.json)
	instant size=64M
	export ASAN_OPTIONS=detect_leaks=0 # that does not work under strace
	expect 0 strace -f -c -U calls,name -o raw "$LUNBENCH" "${run[@]}" --wire=batch "$URL"
	awk '{print $1, $2}' raw >calls.batch
	jq -e '.lunbench.session.Wire == "batch"' r.json
	expect 0 strace -f -c -U calls,name -o raw "$LUNBENCH" "${run[@]}" --wire=plain "$URL"
	awk '{print $1, $2}' raw >calls.plain
	jq -e '.lunbench.session.Wire == "plain"' r.json
	awk '{n[$2] = $1} END {exit !(n["sendmsg"] + n["recvmsg"] < 700 && !n["writev"])}' calls.batch ||
		fail "batch: $(cat calls.batch)"
	awk '{n[$2] = $1} END {exit !(n["sendto"] >= 2000 && !n["sendmsg"])}' calls.plain ||
		fail "plain: $(cat calls.plain)"
	expect 2 "$LUNBENCH" run --rw=read --wire=fast "$URL"
	has err '--wire: "fast" is neither batch nor plain'
}

# lies RULE WHAT STATUS TEXT: a target that sends what fits no command ends a
# session with a sentence, not the program (libiscsi alone would: some of these
# are a crash, and a short read goes unnoticed).
lies() {
	local io=()
	case $2 in read | write | trim) io=(0 65536) ;; esac
	[ "$2" != write ] || io+=(1)
	instant size=16M InitialR2T=Yes MaxRecvDataSegmentLength=8192 "rule $1" "${@:5}"
	expect "$3" "$AID" "$2" "$URL" "${io[@]}"
	[ -z "$4" ] || has err "$4"
	kill "$INSTANT"
}

test_hostile() {
	lies 'any data-in' read 3 "which is no read that is under way"
	lies 'write data-in' write 1 "which is no read that is under way"
	lies 'flush data-in' flush 1 "which is no read that is under way"
	lies 'logout data-in' read 0 ""
	lies 'logout drop' read 0 ""
	lies 'read r2t' read 1 "which is no write that is under way"
	lies 'write r2t' write 1 "beyond the end of its data"
	lies 'write early' write 1 "a write of which it has not had all data"
	lies 'write early-zero' write 1 "a write of which it has not had all data"
	lies 'unmap early' trim 1 "a write of which it has not had all data" ImmediateData=No
	# Its task must stay for the data that is asked for, though nobody wants it.
	export MALLOC_PERTURB_=165
	lies 'unmap deny' trim 1 "MEDIUM ERROR" ImmediateData=No
	lies 'write deny' write 1 "MEDIUM ERROR"
	unset MALLOC_PERTURB_
	lies 'read short' read 1 "GOOD, but 32768 of 65536 bytes were not transferred"
}

# It listens on loopback and nowhere else.
test_loopback_only() {
	instant
	ss -Hltn "sport = :$PORT" | awk '{print $4}' >listens
	[ "$(cat listens)" = "127.0.0.1:$PORT" ] || fail "$(cat listens)"
}

run_tests
