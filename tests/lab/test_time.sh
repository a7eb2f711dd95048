#!/bin/bash
# Virtual time: the same inputs give the same result, and the numbers are those
# that arithmetic gives.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=900

# Twice, the second time with a core kept busy: not one byte may differ.
test_repeatable() {
	local i busy=
	cp "$ROOT/tests/lab/repeat.fio" .
	for i in 1 2; do
		if [ $i = 2 ]; then
			timeout 300 sh -c 'while :; do :; done' &
			busy=$!
		fi
		expect 0 "$LUNBENCH" lab exec --virtual-time --out r$i -- \
			lunbench bench repeat.fio --array raid5 --members 4x64M@hdd
		mv out table$i
	done
	kill $busy
	cmp r1/results/*.json r2/results/*.json
	cmp table1 table2
}

# within 5 % of: near NAME JOB DIRECTION WANTED
near() {
	local got
	got=$(jq ".jobs[] | select(.jobname == \"$2\") | .$3.iops" "r-$1"/results/*.json)
	awk -v got="$got" -v want="$4" 'BEGIN { exit !(got > want * 0.95 && got < want * 1.05) }' ||
		fail "$1 $2: $got IOPS, arithmetic says $4"
	echo "$1 $2: $got IOPS, arithmetic $4"
}

# Members of 8 ms, one request at a time, 125 a second. n of them at a depth of
# q are a closed network: q / (q + n - 1) of n * 125 reads. A small write
# costs a mirror two member writes, RAID5 four I/Os in two rounds.
test_arithmetic() {
	local a
	cp "$ROOT/tests/lab/arithmetic.fio" .
	for a in single raid0 raid1 raid10 raid5; do
		expect 0 "$LUNBENCH" lab exec --virtual-time --out "r-$a" -- \
			lunbench bench arithmetic.fio --array $a --members 4x64M@hdd --threads 64
	done
	near single read-32 read 125
	near raid0 read-32 read 457.1
	near raid0 write-1 write 125
	near raid1 write-1 write 125
	near raid1 write-32 write 125
	near raid5 write-1 write 62.5
	near raid10 write-1 write 125
}

run_tests
