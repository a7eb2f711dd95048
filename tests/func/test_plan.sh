#!/bin/bash
# `lunbench plan`: says what would run, and touches nothing.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

test_shipped_jobs_plan() {
	expect 0 "$LUNBENCH" workloads
	local name names
	# Reviews are of bench, not of plan; test_presets.sh has them.
	names=$(awk '$2 != "lunbench" {print $1}' out)
	[ -n "$names" ] || fail "no shipped jobs"
	[ "$(wc -w <<<"$names")" = "$(find "$ROOT/workloads" -name '*.fio' | wc -l)" ] ||
		fail "lunbench workloads does not list them all: $(cat out)"
	for name in $names; do
		expect 0 "$LUNBENCH" plan "$name" null:1T
		[ -s out ] || fail "$name: an empty plan"
		[ ! -s err ] || fail "$name: $(cat err)"
		expect 0 fio --parse-only "$ROOT/workloads/$name.fio"
	done
}

test_a_file_wins_over_a_shipped_name() {
	printf '%s\n' '[from-the-file]' 'rw=read' >basic
	expect 0 "$LUNBENCH" plan basic null:1G
	has out from-the-file
}

test_same_input_same_plan() {
	expect 0 "$LUNBENCH" plan basic null:1T --seed=5 --verbose
	mv out first
	expect 0 "$LUNBENCH" plan basic null:1T --seed=5 --verbose
	cmp first out
}

test_keys_on_the_command_line() {
	expect 0 "$LUNBENCH" plan --rw=randread --bs 8k --iodepth=7 null:1G
	mv out equals
	has equals 'random read'
	expect 0 "$LUNBENCH" plan --rw randread --blocksize=8k --iodepth 7 null:1G
	cmp equals out
}

test_keys_win_over_the_file() {
	printf '%s\n' '[a]' 'rw=read' 'bs=4k' >job.fio
	expect 0 "$LUNBENCH" plan job.fio --bs=64k null:1G
	has out '64 KiB'
}

test_keys_without_a_value() {
	printf '%s\n' '[a]' 'rw=read' '[b]' 'rw=write' >job.fio
	expect 0 "$LUNBENCH" plan job.fio null:1G
	mv out together
	expect 0 "$LUNBENCH" plan job.fio --stonewall null:1G
	! cmp -s together out || fail "--stonewall changes nothing"
}

test_not_applicable_keys_are_listed() {
	printf '%s\n' '[global]' 'ioengine=libaio' 'direct=1' 'filename=/dev/sdz' \
		'[a]' 'rw=read' >job.fio
	expect 0 "$LUNBENCH" plan job.fio null:1G
	has out ioengine
	has out direct
	has out filename
	expect 0 "$LUNBENCH" plan --ioengine=libaio --direct 1 --thread --rw=write null:1G
	has out ioengine
	has out direct
	has out thread
	has out write
}

test_kib_trap_is_warned_of() {
	printf '%s\n' '[a]' 'size=4096MiB' >job.fio
	expect 0 "$LUNBENCH" plan job.fio null:8G
	has err job.fio:2
	has err 4096000000
}

test_touches_nothing() {
	raw_up
	raw_lun 1 8M
	head -c 8M /dev/urandom >l1.img
	cp l1.img before.img
	expect 0 "$LUNBENCH" plan --rw=randwrite --bs=4k --size=100% "$URL"
	cmp l1.img before.img
	expect 0 "$LUNBENCH" plan --rw=randtrim --bs=4k "$URL" || expect 2 "$LUNBENCH" \
		plan --rw=randtrim --bs=4k "$URL"
	cmp l1.img before.img
}

run_tests
