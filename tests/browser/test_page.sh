#!/bin/bash
# The page of `report --format html` in headless Chromium: no console error,
# every chart drawn, its values those of the result files, light and dark, on
# paper. make check-browser installs what this needs; SHOTS=DIR keeps pictures.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/../func/lib.sh"

BROWSER=$ROOT/tests/browser
CHROMIUM=$(command -v chromium || command -v chromium-browser || true)

need_chromium() {
	[ -n "$CHROMIUM" ] || skip "no chromium: make check-browser installs it"
	[ -f /usr/share/javascript/chart.js/chart.min.js ] || skip "no libjs-chart.js"
}

# browse ARGUMENTS...: without network, home or sandbox (tests run as root).
browse() {
	timeout 50 "$CHROMIUM" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --hide-scrollbars --no-first-run \
		--host-resolver-rules='MAP * ~NOTFOUND' \
		--user-data-dir="$PWD/profile" --enable-logging=stderr --v=0 \
		--window-size=1200,3000 --virtual-time-budget=5000 "$@"
}

# visit PAGE DOM [ARGUMENTS...]: its DOM with the probe's findings; fails if the
# page complained.
visit() {
	local page=$1 dom=$2
	shift 2
	{
		cat "$page"
		echo '<script>'
		cat "$BROWSER/probe.js"
		echo '</script>'
	} >probed.html
	browse "$@" --dump-dom "file://$PWD/probed.html" >"$dom" 2>log
	if grep CONSOLE log; then fail "the page complains"; fi
}

# Several ops, an open loop, an event, texts that are an attack, repeats.
results() {
	mkdir -p set
	"$AIDS/result_aid" set/one.json
	jq '.lunbench.rows[0].name = "</script><b>x</b> \"q"
		| .lunbench.warnings += ["<img src=x onerror=alert(1)> & co"]
		| .lunbench.events += [{at_ns: 3000000000, kind: "outage",
			text: "</script><i>session lost"}]' \
		set/one.json >set/two.json
	"$LUNBENCH" report set --format html -o page.html
}

# look: the DOM against the files of ./set, in the set's order; what it found is
# in ./found.
look() {
	local files=()
	readarray -t files < <(find set -name '*.json' | LC_ALL=C sort |
		grep -vE 'cut|foreign|set\.json')
	python3 "$BROWSER/check_page.py" dom.html \
		"$ROOT/workloads/reference/nas-2014.csv" "${files[@]}" >found
}

# check PAGE [ARGUMENTS...]
check() {
	visit "$1" dom.html "${@:2}"
	look
}

test_page() {
	need_chromium
	results
	check page.html
	has found '"dark": false'
}

test_dark() {
	need_chromium
	results
	check page.html --blink-settings=preferredColorScheme=0
	has found '"dark": true'
}

# A whole review's set, and its page.
review() {
	"$AIDS/result_aid" base.json
	python3 "$BROWSER/make_set.py" base.json set
	"$LUNBENCH" report set --format html -o page.html 2>err
}

# Four arrays swept, ATTO, CrystalDiskMark, copies; one array failed, a file cut
# off, one that is no result.
test_review() {
	need_chromium
	review
	check page.html
	local section
	for section in Summary "Load curves" "Throughput by transfer size" \
		"Best and mean of the runs" "Beside published figures" "Steady state" \
		"All figures" "Latency by percentile" "Over time" Warnings \
		"How jobs depart from what they stand for"; do
		has found "\"$section\""
	done
	has page.html 'raid0 &gt; raid10 &gt; single &gt; raid5'
	has page.html 'the session is lost'
	has page.html 'mdadm: no &lt;such&gt; device'
	has page.html "lunbench bench netbench --array=raid0,raid1 --out &#39;a set&#39;"
	has page.html 'cut off at line'
	has page.html 'no &quot;lunbench&quot; object'
	has page.html 'this is not CrystalDiskMark'
	if grep -q 'class="quick"' page.html; then fail "it was not quick"; fi
	# Eight tests of CrystalDiskMark and six copies on four arrays; of the arrays
	# the published table has three.
	has found '"tests": 32'
	has found '"beside": 18'
	has found '"raid0 rnd4k-write steady"'
	has found '"raid5 rnd4k-write not steady"'
	# A check that cannot fail is none.
	local name
	for name in raid5/netbench raid10/cdm raid0/copy-small; do
		cp set/$name.json right.json
		jq '.lunbench.rows[2].ops |= map_values(.bytes_per_s *= 1.001)' \
			right.json >set/$name.json
		if look 2>err; then fail "a wrong figure of $name is not seen"; fi
		cp right.json set/$name.json
	done
}

# A phone's width, and paper; SHOTS=DIR keeps pictures for who wants to look.
test_pictures() {
	need_chromium
	review
	check page.html --window-size=420,3000
	browse --screenshot="$PWD/light.png" "file://$PWD/page.html" 2>log
	browse --screenshot="$PWD/dark.png" --blink-settings=preferredColorScheme=0 \
		"file://$PWD/page.html" 2>log
	browse --screenshot="$PWD/phone.png" --window-size=420,3000 \
		"file://$PWD/page.html" 2>log
	browse --print-to-pdf="$PWD/page.pdf" "file://$PWD/page.html" 2>log
	[ "$(head -c 4 light.png | tail -c 3)" = PNG ]
	[ "$(head -c 4 page.pdf)" = %PDF ]
	if cmp -s light.png dark.png; then fail "dark is light"; fi
	[ -z "${SHOTS:-}" ] || cp light.png dark.png phone.png page.pdf "$SHOTS"
}

run_tests
