#!/bin/bash
# Where the time of commands goes, by the headers on the wire: the instant target
# with keys that force R2Ts, and tgtd as it comes and tuned.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/target_lib.sh
. "$(dirname "$0")/target_lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

# load [OPTION...]: r.json and out of a short run on URL.
load() {
	expect 0 "$LUNBENCH" run --number_ios=400 --size=64M --norandommap --overwrite \
		--quiet -o r.json "$@" "$URL"
	adds_up
}

# Of all commands, the parts together are the service time.
adds_up() {
	jq -e '.lunbench.rows[0] | ([.ops[].ios] | add) as $n |
		([.ops[] | .ios * .latency.mean_ns] | add / $n) as $mean |
		([.wire.stages[].mean_ns] | add) as $sum |
		([.wire.time_went[]] | add - 1 | fabs < 1e-9) and
		([.wire.stages[].n] | all(. == $n)) and ($sum / $mean - 1 | fabs < 1e-6)' r.json >/dev/null ||
		fail "parts: $(jq -c '.lunbench.rows[0] | .ops, .wire' r.json)"
}

is() { # JQ-CONDITION on the row's wire object
	jq -e ".lunbench.rows[0].wire | $1" r.json >/dev/null ||
		fail "$1: $(jq -c '.lunbench.rows[0].wire' r.json)"
}

key() { # KEY OFFERED ANSWERED RESULT
	jq -e --arg k "$1" --arg o "$2" --arg a "$3" --arg r "$4" '.lunbench.negotiated[] |
		select(.key == $k) | .offered == $o and .answered == $a and .result == $r' r.json >/dev/null ||
		fail "$1: $(jq -c '.lunbench.negotiated' r.json)"
}

test_r2ts() {
	instant size=64M InitialR2T=Yes ImmediateData=No MaxRecvDataSegmentLength=8192
	load --rw=randwrite --bs=256k --iodepth=4
	is '.time_went.r2t_wait > 0 and .r2ts == 256 and .pdus_out == 256 * 33'
	is '.stages.r2t_wait.p50_ns > 0 and .nops == 0 and .digest_errors == 0'
	key InitialR2T No Yes Yes
	key ImmediateData Yes No No
	key MaxRecvDataSegmentLength 262144 8192 8192
	tr -s ' \n' ' ' <out >words
	has words "time went: "
	has words "hint lunbench: ImmediateData=No: "
	has words "hint lunbench: MaxRecvDataSegmentLength=8192: each write of 256 KiB took 33.0 PDUs; set it to 262144"
	# nor do reads and flushes beside them make it more; few writes are no matter
	load --rw=randrw --bs=256k --iodepth=4 --fsync=1
	is '.data_outs > 0 and .data_outs == 32 * .r2ts'
	tr -s ' \n' ' ' <out | grep -F "each write of 256 KiB took 33.0 PDUs" || fail "$(cat out)"
	load --rw=randrw --bs=256k --iodepth=4 --rwmixread=98
	! grep "^hint " out || fail "a hint for 2 % of writes"
	kill "$INSTANT"
	# two R2Ts a write
	instant size=64M InitialR2T=Yes ImmediateData=No r2t=131072
	load --rw=randwrite --bs=256k --iodepth=4
	is '.r2ts == 512'
}

# A target that is slow to ask: what it costs, and the key.
test_hint_of_r2ts() {
	instant size=64M InitialR2T=Yes ImmediateData=No
	load --rw=randwrite --bs=64k --iodepth=32
	is '.time_went.r2t_wait >= 0.05'
	tr -s ' \n' ' ' <out >words
	has words "InitialR2T=Yes: each write of 64 KiB waited for 1.0 R2Ts"
	has words "set InitialR2T=No at the target"
}

test_no_r2ts() {
	instant size=64M
	load --rw=randrw --bs=64k --iodepth=8
	is '.r2ts == 0 and .time_went.r2t_wait == 0 and .stages.r2t_wait.max_ns == 0'
	is '.window_stalls == 0 and .window_shut_ns == 0 and .window_commands == 128'
	! grep "^hint " out || fail "a hint without a reason"
}

test_window() {
	instant size=64M window=4 'rule read delay=1ms'
	load --rw=randread --bs=4k --iodepth=16
	is '.window_stalls > 0 and .window_shut_ns > 10e6 and .window_commands == 4'
	is '.time_went.queued_here > 0.5'
	tr -s ' \n' ' ' <out >words
	has words "the target takes 4 commands of a session at once and iodepth asks for 16"
	has words "MaxQueueCmd"
}

test_pings() {
	instant size=64M 'rule read every=100 ping'
	load --rw=randread --bs=4k --iodepth=4
	is '.nops >= 6 and .nops <= 8'
}

# BUSY, and a connection that goes: the parts still are the whole.
test_sent_again() {
	instant size=64M 'rule io every=50 times=4 busy' 'rule io after=200 times=1 drop'
	load --rw=randrw --bs=16k --iodepth=4
	jq -e '.lunbench.rows[0].retries | .busy > 0 and .connection_lost > 0' r.json
}

test_sessions_are_added() {
	instant size=64M
	load --rw=randread --bs=4k --iodepth=2 --clients=8
	is '.stages.target.n == 400 and .pdus_out == 400'
}

test_plain() {
	instant size=64M
	expect 0 "$LUNBENCH" run --rw=randread --number_ios=100 --size=64M --wire=plain --quiet \
		-o r.json "$URL"
	jq -e '.lunbench | has("negotiated") or (.rows[0] | has("wire")) | not' r.json
}

# tgtd, as it comes and with keys that let all data go at once.
test_tgtd() {
	raw_up
	raw_null 1
	load --rw=randwrite --bs=256k --iodepth=8
	is '.r2ts > 0 and .time_went.r2t_wait > 0'
	key MaxRecvDataSegmentLength 262144 "" 8192 # the default needs no words
	raw_param InitialR2T No
	raw_param FirstBurstLength 262144
	raw_param MaxRecvDataSegmentLength 262144
	load --rw=randwrite --bs=256k --iodepth=8
	is '.r2ts == 0 and .time_went.r2t_wait == 0'
}

# Digests of headers: PDUs are four bytes longer, and batches stay whole.
test_header_digest() {
	raw_up
	raw_null 1
	raw_param HeaderDigest CRC32C
	for bs in 4k 256k; do
		load --rw=randrw --bs=$bs --iodepth=16 --header-digest=yes
		is '.digest_errors == 0'
		key HeaderDigest CRC32C CRC32C CRC32C
	done
	is '.r2ts > 0'
}

# Of a login with CHAP the way of proving is told, and nothing that was proved.
test_no_secrets() {
	raw_up
	raw_null 1
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	export LIBISCSI_CHAP_USERNAME=alice LIBISCSI_CHAP_PASSWORD=secret12secret
	load --rw=randread --bs=4k --iodepth=4
	jq -e '.lunbench.negotiated | map(.key) | index("AuthMethod")' r.json ||
		fail "no AuthMethod: $(jq -c .lunbench.negotiated r.json)"
	! grep -E 'CHAP_|alice|secret12' r.json out || fail "of the login's proof in the result"
}

run_tests
