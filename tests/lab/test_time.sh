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

# within 5 % of: near NAME JOB DIRECTION WANTED
near() {
	local got
	got=$(jq ".jobs[] | select(.jobname == \"$2\") | .$3.iops" "r-$1"/results/*.json)
	awk -v got="$got" -v want="$4" 'BEGIN { exit !(got > want * 0.95 && got < want * 1.05) }' ||
		fail "$1 $2: $got IOPS, arithmetic says $4"
	echo "$1 $2: $got IOPS, arithmetic $4"
}

# What N disks of 8 ms, one request at a time, give at a depth of Q when each
# next request goes to any of them: by simulation, as there is no closed form.
random_reads() {
	python3 - "$@" <<'END'
import heapq, random, sys
n, q = map(int, sys.argv[1:])
draw, free, due, done = random.Random(1), [0.0] * n, [], 0
for _ in range(q):
    disk = draw.randrange(n)
    free[disk] += 0.008
    heapq.heappush(due, free[disk])
while (now := heapq.heappop(due)) < 1000:
    done, disk = done + 1, draw.randrange(n)
    free[disk] = max(free[disk], now) + 0.008
    heapq.heappush(due, free[disk])
print(done / 1000)
END
}

# A small write costs a mirror two member writes at once, and RAID5 two reads
# and two writes in two rounds. 64 threads: tgt's 16 would be the depth.
test_arithmetic() {
	local a
	cp "$ROOT/tests/lab/arithmetic.fio" .
	for a in single raid0 raid1 raid10 raid5; do
		expect 0 "$LUNBENCH" lab exec --virtual-time --out "r-$a" -- \
			lunbench bench arithmetic.fio --array $a --members 4x64M@hdd --threads 64
	done
	near single read-32 read 125
	near raid0 read-32 read "$(random_reads 4 32)"
	near raid5 read-32 read "$(random_reads 4 32)"
	near raid0 write-32 write "$(random_reads 4 32)"
	near raid0 write-1 write 125
	near raid1 write-1 write 125
	near raid1 write-32 write 125
	near raid5 write-1 write 62.5
	near raid10 write-1 write 125
	near raid10 write-32 write "$(random_reads 2 32)"
}

run_tests
