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

test_reference() {
	measure a.json 500us 1
	jq '.lunbench.job = "copy-large" | .lunbench.target.array = "raid5"' \
		a.json >r.json
	expect 0 "$LUNBENCH" compare --reference nas-2014 r.json
	has out '54.1'
	expect 0 "$LUNBENCH" compare --reference nas-2014 --protocol smb r.json
	has out '54.7'
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
