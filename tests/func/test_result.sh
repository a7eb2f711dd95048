#!/bin/bash
# The result file beside fio's own output, fio's own tools, and the schema.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

KEYS=$ROOT/tests/func/result_keys.py
SCHEMA=$ROOT/docs/result.schema.json

# fio's null engine touches nothing. One output for each thing that fio writes
# differently: directions, fsync, clones and groups, descriptions, errors.
fio_outputs() {
	local run=(fio --ioengine=null --output-format=json+ --size=16m --bs=4k
		--slat_percentiles=1 --lat_percentiles=1)
	"${run[@]}" --name=a --rw=rw --iodepth=4 --fsync=8 >a.json
	"${run[@]}" --name=b --rw=randread --numjobs=2 --group_reporting >b.json
	"${run[@]}" --name=c --rw=randtrim --description=text >c.json
	"${run[@]}" --name=d --rw=randwrite --numjobs=2 --continue_on_error=all >d.json
}

test_has_every_key_of_fios() {
	fio_outputs
	"$AIDS/result_aid" ours.json
	python3 "$KEYS" superset ours.json [abcd].json
}

test_fits_its_schema() {
	"$AIDS/result_aid" ours.json
	python3 "$KEYS" schema ours.json "$SCHEMA"
}

# So the schema is complete for fio's part: its jobs allow no other key.
test_schema_fits_fio() {
	fio_outputs
	python3 "$KEYS" fio "$SCHEMA" [abcd].json
}

test_fio_plot_finds_what_it_reads() {
	"$AIDS/result_aid" ours.json
	python3 "$KEYS" plot ours.json
}

test_fios_clat2csv_reads_it() {
	"$AIDS/result_aid" ours.json
	expect 0 fio_jsonplus_clat2csv ours.json ours.csv
	expect 0 fio_jsonplus_clat2csv ours.json ours.csv --validate
	[ "$(grep -c validated out)" = 3 ]
	# The last column but one of the last line of a direction is its count.
	[ "$(wc -l <ours_job0.csv)" -gt 100 ]
}

# The same with a real run, on the transport that answers at once.
test_a_real_run() {
	expect 0 "$LUNBENCH" run --name=x --rw=randrw --fsync=16 --iodepth=8 \
		--clients=2 --bs=4k --runtime=1 --time_based null:1G \
		--output-format=json -o real.json
	cp out stdout.json # nothing but the document on stdout
	python3 "$KEYS" schema stdout.json "$SCHEMA"
	python3 "$KEYS" schema real.json "$SCHEMA"
	fio_outputs
	python3 "$KEYS" superset real.json [ab].json
	expect 0 fio_jsonplus_clat2csv real.json real.csv
	expect 0 fio_jsonplus_clat2csv real.json real.csv --validate
	# Little's law holds on it.
	jq -e '.lunbench.rows[0].littles_law.ratio | . > 0.95 and . < 1.05' real.json
}

# With the document on stdout all else goes to stderr, warnings too.
test_warnings_beside_the_document() {
	expect 0 "$LUNBENCH" run --rw=read --number_ios=9 --quiet null:1G \
		--output-format=json
	jq -e '.lunbench.warnings | length > 0' out
	[ "$(grep -c '^warning: ' err)" = "$(jq '.lunbench.warnings | length' out)" ]
	has err 'warning: the null transport reaches no storage'
}

test_folder_with_a_slash() {
	expect 0 "$LUNBENCH" run --rw=read --number_ios=9 --quiet --out set/ null:1G
	has out 'result: set/'
	if grep '//' out; then fail "two slashes"; fi
	expect 0 "$LUNBENCH" report set/ --format csv
	has out '"set/'
	if grep '//' out; then fail "two slashes"; fi
}

test_cannot_be_written() {
	expect 3 "$AIDS/result_aid" "$PWD/none/r.json"
	has err "none/r.json"
	has err "make that folder first"
	expect 3 "$AIDS/result_aid" /dev/full
	has err "No space left on device"
	has err "free some space there"
}

# 1.5 s of CPU for 4096 rows, once more than three minutes.
test_thousands_of_rows() {
	ulimit -t "$([ -n "${SAN:-}" ] && echo 60 || echo 10)"
	expect 0 "$LUNBENCH" run --rw=read --numjobs=3000 --number_ios=1 --quiet -o r.json null:1T
	jq -e '.jobs | length == 3000' r.json >/dev/null
}

run_tests
