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

test_page() {
	need_chromium
	results
	visit page.html dom.html
	python3 "$BROWSER/check_page.py" dom.html set/one.json set/two.json >found
	has found '"dark": false'
}

test_dark() {
	need_chromium
	results
	visit page.html dom.html --blink-settings=preferredColorScheme=0
	python3 "$BROWSER/check_page.py" dom.html set/one.json set/two.json >found
	has found '"dark": true'
}

# One array after the other, a row for each number of clients.
test_sweep() {
	need_chromium
	results
	jq '.lunbench.job = "netbench" | .lunbench.target.array = "raid0"
		| .lunbench.rows[].fairness.clients = 1
		| .lunbench.rows[1].fairness.clients = 4
		| .lunbench.rows[2].fairness.clients = 8' set/one.json >set/one
	rm set/*.json
	mv set/one set/one.json
	jq '.lunbench.target.array = "raid5"' set/one.json >set/two.json
	"$LUNBENCH" report set --format html -o page.html
	visit page.html dom.html
	python3 "$BROWSER/check_page.py" dom.html set/one.json set/two.json >found
	has found sweep_rate
	has found sweep_time
}

# A phone's width, paper, and pictures for who wants to look.
test_pictures() {
	need_chromium
	results
	visit page.html dom.html --window-size=420,3000
	browse --screenshot="$PWD/light.png" "file://$PWD/page.html" 2>log
	browse --screenshot="$PWD/dark.png" --blink-settings=preferredColorScheme=0 \
		"file://$PWD/page.html" 2>log
	browse --print-to-pdf="$PWD/page.pdf" "file://$PWD/page.html" 2>log
	[ "$(head -c 4 light.png | tail -c 3)" = PNG ]
	[ "$(head -c 4 page.pdf)" = %PDF ]
	if cmp -s light.png dark.png; then fail "dark is light"; fi
	[ -z "${SHOTS:-}" ] || cp light.png dark.png page.pdf "$SHOTS"
}

# The page of a first review: four arrays, 16 steps each, in a second.
test_is_quick() {
	need_chromium
	results
	mkdir big
	jq '.lunbench.rows[1] as $r | .jobs[1] as $j
		| .lunbench.rows = [range(16) | . as $i | $r
			| .name = "step\($i)" | .fairness.clients = 4 * $i + 1]
		| .jobs = [range(16) | $j]' set/one.json >big/raid0.json
	local a start
	for a in raid10 raid5 single; do
		jq --arg a $a '.lunbench.target.array = $a' big/raid0.json >big/$a.json
	done
	start=$(date +%s%N)
	"$LUNBENCH" report big --format html -o big.html
	[ $((($(date +%s%N) - start) / 1000000)) -lt 1000 ] || fail "report took over a second"
	visit big.html dom.html
	python3 "$BROWSER/check_page.py" dom.html big/raid0.json big/raid10.json \
		big/raid5.json big/single.json >found
	has found sweep_rate
}

run_tests
