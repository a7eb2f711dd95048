#!/bin/bash
# lunbench compare as scripts use it: statuses, sentences, files.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

# measure FILE SERVICE SEED [KEY]...: a simulated LUN of that service time.
measure() {
	local file=$1 service=$2 seed=$3
	shift 3
	mkdir -p "$(dirname "$file")"
	"$LUNBENCH" run --name=x --rw=randread --bs=4k --iodepth=4 --runtime=2 \
		--time_based --interval=0.1 --seed="$seed" "$@" --quiet -o "$file" \
		"sim:servers=4,service=$service,size=64M,dist=exp" >/dev/null
}

test_gate() {
	measure a/1.json 500us 1
	measure a/2.json 500us 2
	measure b/1.json 600us 3
	measure b/2.json 600us 4
	expect 1 "$LUNBENCH" compare a b --max-regress 5% --junit out.xml
	has out 'worse, FAILS'
	has out 'gate: FAILED: 4 figures'
	xmllint --noout out.xml 2>/dev/null || python3 -c \
		'import xml.etree.ElementTree as t; t.parse("out.xml")'
	[ "$(grep -c '<failure ' out.xml)" = 4 ]
	# The same the other way round is better, and more is allowed.
	expect 0 "$LUNBENCH" compare b a --max-regress 5%
	has out better
	expect 0 "$LUNBENCH" compare a b --max-regress=30
	expect 0 "$LUNBENCH" compare a b
	expect 0 "$LUNBENCH" compare a b --metric iops
	[ "$(grep -c '^x read' out)" = 1 ]
	# The first is the baseline of all the others.
	expect 1 "$LUNBENCH" compare a a/1.json b --max-regress 5%
	[ "$(grep -cE '^gate: (passed|FAILED)' out)" = 2 ]
	has out 'have no interval and were not judged: 1;'
}

test_a_single_run_says_so() {
	measure a.json 500us 1
	measure b.json 600us 2
	expect 0 "$LUNBENCH" compare a.json b.json
	has out 'intervals of single runs are from their series'
	has out 'no interval'
}

test_other_plans_are_refused() {
	measure a.json 500us 1
	measure b.json 500us 1 --bs=8k
	expect 2 "$LUNBENCH" compare a.json b.json
	has err 'bs is "4k" and "8k"'
	[ ! -s out ]
	expect 0 "$LUNBENCH" compare a.json b.json --force
	has out 'warning: the plans differ: x read: bs is "4k" and "8k"'
}

# A share of LUNs of unlike sizes: what to do about it.
test_shares_of_unlike_luns() {
	local size
	for size in 64M 48M; do
		expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --runtime=1 \
			--time_based --size=100% --quiet -o $size.json "sim:servers=4,service=1ms,size=$size"
	done
	expect 2 "$LUNBENCH" compare 64M.json 48M.json
	has err 'region is 67108864 and 50331648: a share of LUNs of 64 MiB and 48 MiB; a size= that both have makes them equal'
	for size in 64M 48M; do
		expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --runtime=1 \
			--time_based --size=32M --quiet -o $size.json "sim:servers=4,service=1ms,size=$size"
	done
	expect 0 "$LUNBENCH" compare 64M.json 48M.json
}

# Repeats within a file count as files do; steps and repeats match their own.
test_sweeps() {
	local servers
	printf '[load]\nrw=randread\nbs=64k\nruntime=1\ntime_based\n%s\n%s\n' \
		'#lunbench: clients=1,4,8,16,32' '#lunbench: repeats=3' >load.fio
	for servers in 8 16; do
		expect 0 "$LUNBENCH" run load.fio --quiet -o $servers.json \
			"sim:servers=$servers,service=1ms,size=1G"
	done
	expect 0 "$LUNBENCH" compare 8.json 16.json --metric mb_s --junit out.xml
	# 1, 4 and 8 clients are the same on both: a line for all of them.
	[ "$(grep -c '^load [0-9]* clients\? read' out)" = 2 ]
	has out '3 figures of steps: no difference shown'
	[ "$(grep -c '<testcase' out.xml)" = 5 ]
	grep -q '^load 32 clients read .* better$' out
	has out 'knee at 8 (8 to 8) and 16 (16 to 16) clients: different'
	tr '\n' ' ' <out >flat
	grep -qE 'peak of 524.3 MB/s at 8 and 104[0-9]+ MB/s at 16' flat
	has out.xml 'knee at 8'
	if grep -nE '.{81}' out | grep -v note:; then fail "wider than 80"; fi
	expect 0 "$LUNBENCH" compare 8.json 8.json --metric iops
	has out 'clients: no difference shown'
	# A step that one side lacks is another plan.
	sed -i 's/16,32/16/' load.fio
	expect 0 "$LUNBENCH" run load.fio --quiet -o short.json "sim:servers=8,service=1ms,size=1G"
	expect 2 "$LUNBENCH" compare 8.json short.json
	has err 'load 32 clients read is in'
}

test_quick_is_another_plan() {
	measure a.json 500us 1
	jq '.lunbench.quick = true' a.json >b.json
	expect 2 "$LUNBENCH" compare a.json b.json
	has err 'one is of a run with --quick'
	expect 0 "$LUNBENCH" compare b.json b.json
	has out 'scaled down'
}

test_reference() {
	measure a.json 500us 1
	jq '.lunbench.job = "copy-large" | .lunbench.target.array = "raid5"' \
		a.json >r.json
	expect 0 "$LUNBENCH" compare --reference nas-2014 r.json
	has out '54.1'
	expect 0 "$LUNBENCH" compare --reference nas-2014 --protocol smb r.json
	has out '54.7'
	# What a job file does beside its copies is none of them.
	jq '.lunbench.rows[0].view = "copy" | .lunbench.rows += [.lunbench.rows[0]
		| .name = "fill" | del(.view)] | .jobs += [.jobs[0]]' r.json >two.json
	expect 0 "$LUNBENCH" compare --reference nas-2014 two.json
	[ "$(grep -c 54.1 out)" = 1 ]
	expect 2 "$LUNBENCH" compare --reference nas-2014 a.json
	has err 'matched by test'
	expect 2 "$LUNBENCH" compare --reference none a.json
	has err nas-2014
	printf 'test,protocol,volume,up,down\ncopy-large,iscsi,raid5,1\n' >bad.csv
	expect 2 "$LUNBENCH" compare --reference bad.csv r.json
	has err 'line 2'
}

test_bad_input() {
	measure a.json 500us 1
	head -c 3000 a.json >cut.json
	expect 2 "$LUNBENCH" compare a.json cut.json
	has err 'cut off'
	expect 2 "$LUNBENCH" compare a.json none.json
	expect 2 "$LUNBENCH" compare a.json
	expect 2 "$LUNBENCH" compare a.json a.json --max-regress x
	expect 2 "$LUNBENCH" compare a.json a.json --metric speed
	has err p99
	expect 2 "$LUNBENCH" compare a.json a.json --max-regres 5
	has err 'did you mean "--max-regress"'
	mkdir mixed
	cp a.json cut.json mixed
	echo '{}' >mixed/foreign.json
	expect 0 "$LUNBENCH" compare a.json mixed
	[ "$(grep -c '^warning: left out' out)" = 2 ]
}

run_tests
