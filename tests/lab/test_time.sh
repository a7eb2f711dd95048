#!/bin/bash
# Virtual time: the same inputs give the same result, whatever else the machine
# does. That the numbers are right is test_arithmetic.sh's.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=900

# repeat OUT
repeat() {
	expect 0 "$LUNBENCH" lab exec --virtual-time --out "$1" -- \
		lunbench bench repeat.fio --array raid5 --members 4x64M@hdd
	mv out "$1.table"
}

# hinder PID: holds up the QEMU of the lunbench that PID starts next.
hinder() {
	local lab qemu n=0
	until lab=$(pgrep -P "$1" -x lunbench) && qemu=$(pgrep -P "$lab" -x qemu-system-x86); do
		sleep 0.2
		n=$((n + 1))
		[ $n -lt 300 ] || fail "no QEMU to hold up"
	done
	sleep 0.5
	"$AIDS/hinder" "$qemu"
}

# Again with a core kept busy, and with QEMU's threads held up all the time: not
# one byte may differ.
test_repeatable() {
	local busy me=$BASHPID
	cp "$ROOT/tests/lab/repeat.fio" .
	repeat quiet
	timeout 300 sh -c 'while :; do :; done' &
	busy=$!
	repeat busy
	kill $busy
	hinder $me >stops &
	repeat hindered
	wait $!
	cat stops
	[ "$(awk '{ n += $(NF - 1) } END { print n + 0 }' stops)" -gt 10000 ] || fail "not held up"
	for r in busy hindered; do
		cmp quiet/results/*.json $r/results/*.json
		cmp quiet.table $r.table
	done
}

# The figures of array $1 in the table $2, one a line.
column() {
	awk -v array="$1" '/^(MB\/s|mean)/ { for (i = 1; i <= NF; i++) if ($i == array) n = NF - i }
		/^mixed/ { print $1, $2, $(NF - n) }' "$2"
}

# Several guests at a time: no figure changes, and each array has its folder.
test_bench_set() {
	local a
	cp "$ROOT/tests/lab/mixed.fio" .
	expect 0 "$LUNBENCH" bench mixed.fio --array raid1,span+crypt --virtual-time \
		--jobs 2 --members 2x64M@hdd --runtime 2 --out two
	has out "span+crypt"
	mv out table
	expect 0 "$LUNBENCH" bench mixed.fio --array=span+crypt,raid1 --virtual-time \
		--members 2x64M@hdd --runtime 2 --out one
	for a in raid1 span+crypt; do
		cmp one/$a/mixed.json two/$a/mixed.json
		column "$a" table >lines
		column "$a" out | cmp - lines
		[ "$(grep -c . lines)" -ge 4 ] || fail "no column of $a: $(cat out)"
	done
	expect 2 "$LUNBENCH" bench mixed.fio --array raid1,raid9 --virtual-time --members 2x64M@hdd
	has err "is no array"
	expect 2 "$LUNBENCH" bench mixed.fio --array raid1 --virtual-time --where host
	has err "the lab's"
	expect 2 "$LUNBENCH" bench mixed.fio --array raid1,raid1 --where lab
	has err "twice"
	expect 2 "$LUNBENCH" bench mixed.fio --where nowhere
}

run_tests
