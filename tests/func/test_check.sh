#!/bin/bash
# lunbench check: clean targets are not accused; each kind of fault is found and
# named; a killed run can be taken up; what keeps no data is refused.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

check() { "$LUNBENCH" check "$@"; }

# A file of 16 MiB, and what checks it.
disk() {
	rm -f disk
	truncate -s 16M disk
}
on_disk() { check "${1:+fault:$1:}block:$PWD/disk" --overwrite --quiet "${@:2}"; }

schema_ok() {
	python3 - "$1" "$ROOT/docs/result.schema.json" <<'PY'
import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))
PY
}

test_clean_target() {
	target_up --size 1G --stock
	expect 0 timeout 90 "$LUNBENCH" check "$URL" --quick --quiet -o r.json
	has out "integrity: kept"
	has out "checked    256 MiB of 1 GiB (25 %)"
	jq -e '.lunbench.check | .integrity == "kept" and .compared.ok > 1000000 and
		.blocks.written == 524288 and .io.fua_writes > 0 and
		.promises_broken == [] and .findings == []' r.json >/dev/null
	jq -e '[.jobs[].jobname] == ["fill", "apart", "together", "read_back"]' r.json >/dev/null
	jq -e '.jobs[1].sync.total_ios > 0' r.json >/dev/null
	schema_ok r.json
	[ ! -e r.blocks ]
	expect 0 check "$URL" --resume r.journal --quiet -o again.json
	jq -e '.lunbench.check.resumed and .lunbench.check.compared.ok == 524288' \
		again.json >/dev/null
}

# fault KIND NAME [OPTIONS]: found and called NAME.
fault() {
	disk
	expect 1 on_disk "$1=40,after=64" --runtime 1 -o r.json
	has out "integrity: broken"
	has out "$2"
	has err "breaks its promise: "
	grep -q "breaks its promise: .*$2" err
	jq -e --arg k "${2// /_}" '.lunbench.check | .integrity == "broken" and
		any(.promises_broken[]; .kind == $k and .blocks > 0)' r.json >/dev/null
	schema_ok r.json
	# and every view of the result says so
	jq -e '.lunbench | any(.warnings[]; startswith("integrity: broken: ")) and
		any(.checks[]; .check == "integrity" and (.ok | not))' r.json >/dev/null
	"$LUNBENCH" report r.json --format junit | grep -q '<failure message="blocks that break'
	[ -s r.blocks/"$(jq -r 'first(.lunbench.check.findings[].file)' r.json)" ]
}

test_flip() { fault flip "bit rot"; }
test_lost() { fault lost "lost write"; }
test_swap() { fault swap "misdirected write"; }
test_tear() { fault tear "torn write"; }
test_misdirect() { fault misdirect "misdirected write"; }
test_duplicate() { fault duplicate "misdirected write"; }
test_zero() { fault zero "zeroed"; }
test_stale() { fault stale "stale read"; }

# The same by an iSCSI target: script NAME LINE...
script() {
	instant size=16M "rule write after=200 every=40 $1"
	expect 1 check "$URL" --overwrite --runtime 1 --quiet -o r.json
	has out "$2"
	grep -q "breaks its promise: .*$2" err
	kill "$INSTANT"
}

test_scripted_corruption() {
	script flip "bit rot"
	script lost "lost write"
	script swap "misdirected write"
	script tear "torn write"
	script misdirect "misdirected write"
	script duplicate "misdirected write"
	script zero "zeroed"
	script stale "stale read"
}

# clean LINE...: whatever the target does but corrupt data, it is not accused.
clean() {
	instant size=16M "$@"
	expect 0 check "$URL" --overwrite --runtime 1.5 --clients 4 --quiet -o r.json
	kill "$INSTANT"
}
event() { jq -e --arg t "$1" 'any(.lunbench.events[]; .text | contains($t))' r.json >/dev/null; }

test_scripted_windows() {
	clean window=1
	clean window=3 "rule io every=500 shut=20ms"
}
test_scripted_r2t() {
	clean InitialR2T=Yes ImmediateData=No r2t=512
	clean InitialR2T=Yes r2t=4096,512,65536,1536 MaxBurstLength=65536
	clean FirstBurstLength=512 MaxBurstLength=512 MaxRecvDataSegmentLength=512
}
test_scripted_patience() {
	clean "rule io every=50 busy" "rule io every=70 full" "rule io every=300 attention"
	jq -e '[.lunbench.rows[].retries | objects | .busy, .task_set_full] | add > 0' r.json >/dev/null
	clean "rule read every=40 delay=5ms" "rule write every=40 delay=5ms" "rule flush delay=1ms"
}
test_scripted_losses() {
	clean "rule io after=300 every=500 times=6 drop"
	event "is back after"
	clean "rule read after=100 every=300 times=4 cut"
	event "is back after"
}
test_scripted_requests() {
	clean "rule io every=20 ping"
	clean "rule io after=300 every=700 times=4 logout=1"
	event "asked for a logout"
	event "is back after"
	clean "rule io after=300 every=700 times=4 logout=2"
	event "is back after"
}

# What the target says itself is no corruption: blocks are old or new.
test_errors_are_unknown() {
	disk
	expect 3 on_disk "error=50,after=64" --runtime 1 -o r.json
	has out "integrity: unknown"
	jq -e '.lunbench.check | .integrity == "unknown" and .io.errors > 0 and
		.blocks.unknown > 0 and .promises_broken == []' r.json >/dev/null
	schema_ok r.json
}

# BUSY, TASK SET FULL and lost connections are sent again: no accusation.
test_retries() {
	disk
	expect 0 on_disk "busy=1%,full=1%,attention=1%,lose=400" --runtime 2 -o r.json
	jq -e '[.lunbench.events[] | select(.kind == "disconnect")] | length > 0' r.json >/dev/null
}

# A change on the disk itself, between two runs.
test_resume_finds() {
	disk
	expect 0 on_disk "" --runtime 1 -o r.json
	printf x | dd of=disk bs=1 seek=$((4711 * 512 + 300)) conv=notrunc status=none
	dd if=disk of=disk bs=512 skip=100 seek=200 count=1 conv=notrunc status=none
	dd if=/dev/zero of=disk bs=512 seek=300 count=2 conv=notrunc status=none
	expect 1 on_disk "" --resume r.journal -o again.json
	has out "LBA 4711: bit rot"
	has out "first wrong byte 300"
	has out "LBA 200: misdirected write: what was written to LBA 100"
	has out "zeroed, 2 blocks"
	cmp -n 300 again.blocks/4711-bit_rot.found again.blocks/4711-bit_rot.expected || true
	[ "$(dd if=again.blocks/4711-bit_rot.found bs=1 skip=300 count=1 status=none)" = x ]
	expect 2 check "block:$PWD/disk" --resume r.json --quiet
	has err "no journal"
}

# Killed in mid-load: what it wrote is known, and nothing is accused.
test_killed() {
	disk
	setpriv --pdeathsig KILL "$LUNBENCH" check "block:$PWD/disk" --overwrite \
		--runtime 30 --quiet -o r.json >out 2>err &
	local pid=$!
	until [ -e r.journal ]; do sleep 0.05; done
	sleep 1.5
	kill -9 $pid
	wait $pid || true
	expect 0 on_disk "" --resume r.journal -o again.json
	jq -e '.lunbench.check.compared.ok > 10000' again.json >/dev/null
	# damaged behind it, it is not clean any more
	dd if=/dev/urandom of=disk bs=1M count=1 conv=notrunc status=none
	expect 1 on_disk "" --resume r.journal -o again.json
	has out "foreign data"
}

test_no_data_kept() {
	target_up --store null
	expect 2 check "$URL" --quiet -o r.json
	has err "keeps no data"
	expect 2 check null:1G --quiet -o r.json
	has err "keeps no data"
	# One that does not say so.
	instant size=64M store=64k
	expect 1 check "$URL" --overwrite --runtime 1 --quiet -o r.json
}

test_refusals() {
	target_up --size 64M
	truncate -s 16M other
	expect 2 check "block:$PWD/other" --quiet -o r.json
	has err "add --overwrite"
	expect 2 check "$URL" --workers 2 --quiet
	expect 2 check "$URL" --size 1G --quiet
	expect 2 check "$URL" --resume nosuch --quiet
	expect 2 check "$URL" --resume nosuch --runtime 3 --quiet
	expect 0 check "$URL" --size 4M --runtime 1 --quiet -o r.json
	disk
	expect 2 on_disk "" --resume r.journal
	has err "of another LUN"
	expect 3 check "$URL" --size 4M --runtime 1 --quiet -o b.json --journal r.journal
	has err "--journal"
}

TEST_DEADLINE=180 run_tests
