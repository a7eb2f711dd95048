#!/bin/bash
# lunbench report: each format says what the result file says.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

# A result with every op and an open loop, and one whose texts are an attack.
results() {
	mkdir -p set
	"$AIDS/result_aid" set/one.json
	jq '.lunbench.rows[0].name = "=</script><b>`touch pwned` \"q\\ %d \u001b[2J\n,x"
		| .lunbench.warnings += ["<img src=x onerror=alert(1)>"]
		| .lunbench.events += [{at_ns: 1e9, kind: "outage",
			text: "</script><i>"} | .at_ns |= floor]' \
		set/one.json >hostile.json
}

# A first review's set: four arrays swept, one that failed.
review() {
	"$AIDS/result_aid" base.json
	python3 "$ROOT/tests/browser/make_set.py" base.json set netbench failed
}

test_text() {
	results
	expect 0 "$LUNBENCH" report set/one.json
	has out 'mixed  read'
	expect 0 "$LUNBENCH" report set hostile.json
	[ "$(grep -c '^== ' out)" = 2 ]
}

test_csv() {
	results
	expect 0 "$LUNBENCH" report set hostile.json --format csv -o out.csv
	python3 - <<-'EOF'
		import csv, json
		rows = list(csv.DictReader(open("out.csv", newline="")))
		doc = json.load(open("set/one.json"))
		ops = [(r["name"], op, v) for r in doc["lunbench"]["rows"]
		       for op, v in r["ops"].items() if v["ios"]]
		assert len(rows) == 2 * len(ops), len(rows)
		for got, (name, op, v) in zip(rows, ops):
		    assert (got["row"], got["op"]) == (name, op)
		    assert float(got["ios_per_s"]) == v["ios_per_s"]
		    assert int(got["bytes"]) == v["bytes"]
		    assert int(got["p99_ns"]) == v["latency"]["p99_ns"]
		name = json.load(open("hostile.json"))["lunbench"]["rows"][0]["name"]
		assert rows[len(ops)]["row"] == "'" + name, rows[len(ops)]["row"]
	EOF
}

# Nothing is known of a row that never ran: no 0 in its cells.
test_csv_of_a_row_that_never_ran() {
	results
	jq '.lunbench.rows[2] |= (.has_run = false | .ops.trim |= (.ios = 0
		| .bytes = 0 | .bytes_per_s = 0 | .ios_per_s = 0 | .latency = null))' \
		set/one.json >never.json
	expect 0 "$LUNBENCH" report never.json --format csv
	python3 - <<-'EOF'
		import csv
		row = [r for r in csv.DictReader(open("out", newline="")) if r["row"] == "trims"]
		assert len(row) == 1, row
		for key in ("clients", "ios", "bytes", "errors", "bytes_per_s", "ios_per_s", "mean_ns",
		            "user_ns_per_io", "step_clients"):
		    assert row[0][key] == "", (key, row[0])
	EOF
}

test_junit() {
	results
	expect 0 "$LUNBENCH" report hostile.json --format junit -o out.xml
	jq '.lunbench.checks[0].ok = false | .lunbench.checks[-1].ok = false' \
		set/one.json >bad.json
	expect 0 "$LUNBENCH" report bad.json --format junit -o bad.xml
	python3 - <<-'EOF'
		import json, xml.etree.ElementTree as t
		suite = t.parse("out.xml").getroot()[0]
		doc = json.load(open("hostile.json"))["lunbench"]
		assert int(suite.get("tests")) == len(doc["checks"]) == len(suite.findall("testcase"))
		assert "<img" in suite.find("system-out").text
		suite = t.parse("bad.xml").getroot()[0]
		assert suite.get("failures") == "1" == str(len(suite.findall("*/failure")))
		assert int(suite.get("skipped")) == len(suite.findall("*/skipped")) >= 1
		said = [e.get("message") for e in suite.findall("*/skipped")]
		assert "target and lunbench share one machine" in said, said
	EOF
}

test_openmetrics() {
	results
	expect 0 "$LUNBENCH" report set hostile.json --format openmetrics
	python3 "$ROOT/tests/func/openmetrics.py" <out >samples.json
	# Debian's own python has Debian's parser, whatever comes first in PATH.
	[ ! -x /usr/bin/python3 ] ||
		/usr/bin/python3 "$ROOT/tests/func/openmetrics.py" <out >/dev/null
	jq -r --slurpfile d set/one.json '
		[.[] | select(.labels.result == "set/one.json" and
			.labels.op == "read" and .labels.row == "mixed")] as $s |
		$d[0].lunbench.rows[0].ops.read as $r |
		($s | map({(.name): .value}) | add) as $v |
		($v.lunbench_ios_total == $r.ios) and
		($v.lunbench_ios_per_second == $r.ios_per_s) and
		(($v.lunbench_latency_max_seconds * 1e9 | round) == $r.latency.max_ns) and
		($v.lunbench_latency_seconds_count == $r.ios) and
		([$s[] | select(.labels.quantile == "0.99").value * 1e9 | round]
			== [$r.latency.p99_ns])' samples.json >same
	[ "$(cat same)" = true ]
	jq -e --slurpfile d hostile.json '
		any(.labels.row == $d[0].lunbench.rows[0].name)' samples.json
	# The checker checks.
	sed '$d' out >no_eof
	sed 's/"} /} /' out >open_label
	for out in no_eof open_label; do
		expect 1 python3 "$ROOT/tests/func/openmetrics.py" <$out
	done
}

test_hgrm() {
	results
	expect 0 "$LUNBENCH" report set --format hgrm --job mixed --op read -o r.hgrm
	python3 - <<-'EOF'
		import json, re
		lines = open("r.hgrm").read().splitlines()
		assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
		lat = json.load(open("set/one.json"))["jobs"][0]["read"]["clat_ns"]
		rows = [[float(x) for x in l.split()] for l in lines[2:] if l[0] != "#"]
		for a, b in zip(rows, rows[1:]):
		    assert a[0] <= b[0] and a[1] < b[1] and a[2] <= b[2], (a, b)
		assert rows[0][1] == 0 and abs(rows[0][0] * 1000 - lat["min"]) <= lat["min"] / 128
		assert rows[-1] == [round(lat["max"] / 1000, 3), 1.0, lat["N"]]
		for value, q, count, *_ in rows:
		    assert count >= q * lat["N"] - 1e-6
		    key = f"{q * 100:f}"
		    if key in lat["percentile"]:
		        assert abs(value * 1000 - lat["percentile"][key]) < 1, key
		tail = " ".join(lines[-3:])
		mean = float(re.search(r"Mean\s+=\s+([0-9.]+)", tail)[1])
		assert abs(mean * 1000 - lat["mean"]) < 1
		assert int(re.search(r"Total count\s+=\s+([0-9]+)", tail)[1]) == lat["N"]
	EOF
	expect 2 "$LUNBENCH" report set --format hgrm
	has err --result
}

# A set with sweeps, repeats and arrays: whatever names one histogram, chooses it.
test_hgrm_of_a_set() {
	review
	expect 2 "$LUNBENCH" report set --format hgrm --job load --op read
	has err 'set/raid0/netbench.json'
	has err 'more; choose one with'
	expect 0 "$LUNBENCH" report set --format hgrm --job load --op read \
		--result raid5/netbench.json --clients 8 --repeat 2 -o one.hgrm
	jq -r '[.lunbench.rows | to_entries[] | select(.value.step_clients == 8 and
			.value.repeat == 2).key][0] as $i
		| .jobs[$i].read.clat_ns | .N, .max' set/raid5/netbench.json >wanted
	has one.hgrm "$(head -n 1 wanted)"
	python3 - <<-'EOF'
		n, largest = [int(x) for x in open("wanted")]
		last = [l.split() for l in open("one.hgrm") if l.strip() and l[0] != "#"][-1]
		assert int(last[2]) == n and abs(float(last[0]) * 1000 - largest) < 1, last
	EOF
	expect 0 "$LUNBENCH" report set --format hgrm --job load --op read \
		--array raid5 --clients 8 --repeat 2 -o other.hgrm
	cmp one.hgrm other.hgrm
	# The end of a name is none of a path.
	expect 2 "$LUNBENCH" report set --format hgrm --result tbench.json
	has err 'has no I/O in a result tbench.json'
	expect 2 "$LUNBENCH" report set --format hgrm --repeat x
}

# What a review's set is to other programs.
test_sweeps_and_repeats() {
	review
	expect 0 "$LUNBENCH" report set --format csv -o out.csv
	expect 0 "$LUNBENCH" report set --format openmetrics
	python3 "$ROOT/tests/func/openmetrics.py" <out >samples.json
	python3 - <<-'EOF'
		import csv, glob, json
		wanted = {}
		for path in glob.glob("set/*/*.json"):
		    if "cut" in path or "foreign" in path:
		        continue
		    for i, r in enumerate(json.load(open(path))["lunbench"]["rows"]):
		        for op, v in r["ops"].items():
		            wanted[path, i, op] = r, v
		rows = list(csv.DictReader(open("out.csv", newline="")))
		assert len(rows) == len(wanted), (len(rows), len(wanted))
		for got in rows:
		    r, v = wanted[got["result"], int(got["row_index"]), got["op"]]
		    assert got["step_clients"] == str(r.get("step_clients", "")), got
		    assert int(got["repeat"]) == r.get("repeat", 1)
		    if not r["has_run"]:
		        assert got["ios"] == got["bytes_per_s"] == got["mean_ns"] == ""
		    elif got["op"] != "flush":
		        assert float(got["block_bytes"]) == v["bytes"] / v["ios"]
		samples = json.load(open("samples.json"))
		assert any(s["labels"].get("clients") == "60" and
		           s["labels"].get("repeat") == "3" and
		           s["labels"]["array"] == "raid5" for s in samples)
		knees = {s["labels"]["array"]: s["value"] for s in samples
		         if s["name"] == "lunbench_sweep_knee_clients"}
		assert knees == {"raid0": 32, "raid10": 36, "single": 24, "raid5": 20}, knees
	EOF
	command -v gnuplot >/dev/null || skip "no gnuplot"
	expect 0 "$LUNBENCH" report set --format png -o out.png
	python3 - <<-'EOF'
		import struct
		assert struct.unpack(">II", open("out.png", "rb").read()[16:24]) == (1200, 1150)
	EOF
	# A line an array in both charts, and none that is not there; raid6, which
	# failed, has its first step alone.
	python3 "$ROOT/tests/func/png_colors.py" out.png 2 0072b2 d55e00 00866a \
		b98300 b5558f 3a9bd4 >colors
	awk '{for (i = 1; i <= 4; i++) if ($i < 1000) exit 1
		if ($5 < 20 || $5 > 500 || $6) exit 1}' colors || fail "drawn: $(cat colors)"
}

test_html() {
	[ -f /usr/share/javascript/chart.js/chart.min.js ] || skip "no libjs-chart.js"
	results
	expect 0 "$LUNBENCH" report set hostile.json --format html -o page.html
	# Of a name nothing but text is left, and nothing is loaded.
	local text
	for text in '<img src=x' '</script><' '<b>' 'src=http' 'href="h' 'href=h'; do
		sed '/^<script>$/,/^<.script>$/d' page.html |
			grep -nF -- "$text" && fail "the page has $text"
	done
	has page.html '&lt;img src=x onerror=alert(1)&gt;'
	# The only links are to places in the page.
	if sed '/^<script>$/,/^<.script>$/d' page.html | grep -o 'href=.[^#].*'; then
		fail "a link leaves the page"
	fi
	python3 - <<-'EOF'
		import json, re
		page = open("page.html").read()
		cells = [float(v) for v in re.findall(r'data-value="([^"]*)"', page)]
		for r in json.load(open("set/one.json"))["lunbench"]["rows"]:
		    for op in r["ops"].values():
		        assert op["ios_per_s"] in cells, op
		        assert float(op["latency"]["p99_ns"]) in cells, op
		data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
		kinds = {c["kind"] for c in data}
		assert kinds == {"lines", "bars", "ranges"}, kinds
		assert any(c.get("events") for c in data)
	EOF
	LUNBENCH_CHART_JS=$PWD/none expect 2 "$LUNBENCH" report set --format html -o no.html
	has err libjs-chart.js
	[ ! -e no.html ]
}

test_published_figures() {
	results
	jq '.lunbench.job = "copy-large" | .lunbench.target.array = "raid5"' \
		set/one.json >r.json
	expect 0 "$LUNBENCH" report r.json --reference nas-2014
	has out 'raid5 copy-large, paced read'
	expect 2 "$LUNBENCH" report set --reference nas-2014
	has err 'matched by test'
	expect 2 "$LUNBENCH" report set --reference none
	has err nas-2014
	[ -f /usr/share/javascript/chart.js/chart.min.js ] || skip "no libjs-chart.js"
	expect 0 "$LUNBENCH" report r.json --reference nas-2014 --format html
	has out '<caption>copy-large, down (paced)</caption>'
	grep -qE 'raid5</td><td data-value="[0-9.]*">[0-9.]*</td><td data-value="54.1[0-9]*">54.1</td>' out
}

test_png() {
	local status
	results
	mkdir empty
	status=0
	PATH=$PWD/empty "$LUNBENCH" report set --format png -o no.png 2>err || status=$?
	[ $status = 2 ]
	has err gnuplot-nox
	[ ! -e no.png ]
	command -v gnuplot >/dev/null || skip "no gnuplot"
	expect 0 "$LUNBENCH" report set hostile.json --format png -o out.png
	[ "$(head -c 8 out.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
	[ ! -e pwned ]
	# Bars (85 % of their colour) above, lines below.
	python3 "$ROOT/tests/func/png_colors.py" out.png 2 2687be 0072b2 >colors
	awk 'NR == 1 && $1 < 1000 {exit 1} NR == 2 && $2 < 20 {exit 1}' colors ||
		fail "drawn: $(cat colors)"
}

test_bad_input() {
	results
	expect 2 "$LUNBENCH" report
	expect 2 "$LUNBENCH" report none.json
	expect 2 "$LUNBENCH" report set --format pdf
	has err openmetrics
	expect 2 "$LUNBENCH" report set --job none --format csv
	expect 3 "$LUNBENCH" report set --format csv -o none/x.csv
	head -c 999 set/one.json >cut.json
	expect 2 "$LUNBENCH" report cut.json
	has err 'cut off'
	cp cut.json set
	expect 0 "$LUNBENCH" report set --format csv
	has err 'left out'
}

run_tests
