#!/bin/bash
# The lab's figures are those that arithmetic gives: disks of the model hdd serve
# one request at a time, 8 ms each, and md over them makes of each request as many
# I/Os, in as many rounds, as its level needs (docs/METHOD.md, "Disk models").
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=900

# ARRAY-MEMBERS
ARRAYS="single-4 raid0-4 raid10-4 raid5-4 raid0-2 raid1-2"

# tgt's 16 I/O threads would be the depth.
run_all() {
	cp "$ROOT/tests/lab/arithmetic.fio" .
	cat >all.sh <<-'END'
		for name; do
			lunbench bench arithmetic.fio --array ${name%-*} --threads 128 \
				--members ${name#*-}x64M@hdd -o $name.json || exit
		done
	END
	# shellcheck disable=SC2086
	expect 0 "$LUNBENCH" lab exec --virtual-time --add arithmetic.fio --out . -- \
		sh all.sh $ARRAYS
}

# iops NAME JOB: of all operations
iops() {
	jq ".jobs[] | select(.jobname == \"$2\") | .read.iops + .write.iops" "$1.json"
}

# near NAME JOB WANTED: within 5 %
near() {
	local got
	got=$(iops "$1" "$2")
	echo "$1 $2: $got IOPS, arithmetic $3"
	awk -v got="$got" -v want="$3" 'BEGIN { exit !(got > want * 0.95 && got < want * 1.05) }' ||
		fail "$1 $2: $got IOPS, arithmetic says $3"
}

# near_model NAME JOB DEPTH WRITE_SHARE: as a simulation of such disks alone has it
near_model() {
	near "$1" "$2" "$("$ROOT/tests/lab/closed_network" "${1%-*}" "${1#*-}" "$3" "$4")"
}

# falling JOB NAME...: each gives less than the one before
falling() {
	local job=$1 name last=999999 now
	shift
	for name; do
		now=$(iops "$name" "$job")
		awk -v a="$last" -v b="$now" 'BEGIN { exit !(b < a) }' ||
			fail "$job: $name gives $now IOPS, the one before it $last"
		last=$now
	done
}

test_arithmetic() {
	local name
	run_all

	# Deep enough, n disks give n/S, whoever computes it.
	near single-4 read-128 125
	near raid0-4 read-128 500
	near raid5-4 read-128 500
	near raid0-4 write-128 500
	# A small write is one I/O on a single disk, on RAID0 too, two at once on a
	# mirror, and four in two rounds on RAID5.
	near single-4 write-128 125
	near raid0-2 write-128 250
	near raid1-2 write-128 125
	near raid10-4 write-128 250
	near raid5-4 write-128 125
	for name in single-4 raid0-4 raid10-4 raid0-2 raid1-2; do
		near $name write-1 125
	done
	near raid5-4 write-1 62.5

	# In between, some disks idle while others have a queue.
	near_model raid0-4 read-32 32 0
	near_model raid5-4 read-32 32 0
	near_model raid0-4 write-2 2 1
	near_model raid10-4 write-2 2 1
	near_model raid5-4 write-2 2 1
	for name in single-4 raid0-4 raid10-4 raid5-4; do
		near_model $name mixed-1 1 0.33
		near_model $name mixed-32 32 0.33
	done

	# The reviews' ranking is that of the writes. With reads that go to the disks,
	# four of them are more than one, whatever RAID5's writes cost; but one client
	# alone waits for both rounds.
	falling write-2 raid0-4 raid10-4 single-4 raid5-4
	falling mixed-32 raid0-4 raid10-4 raid5-4 single-4
	falling mixed-1 single-4 raid5-4
}

run_tests
