#!/bin/bash
# README, man page and --help say the same, and what they show works.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

commands=(run plan discover bench compare report workloads selftest check)

man_page() {
	mandoc -T ascii "$ROOT/docs/lunbench.1" | sed 's|.\x08||g' >man.txt
}

# names FILE NAME: as a word of its own, with or without dashes.
names() {
	grep -qE -- "(^|[^a-zA-Z0-9_-])(--)?$2([^a-zA-Z0-9_-]|\$)" "$1"
}

test_every_command_is_documented() {
	man_page
	expect 0 "$LUNBENCH" --help
	local c
	# "  run        [JOB] URL   ..." of the overview
	for c in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' out); do
		names man.txt "$c" || fail "the man page lacks $c"
		expect 0 "$LUNBENCH" "$c" --help
		[ ! -s err ] || fail "$c --help on stderr: $(cat err)"
	done
	expect 0 "$LUNBENCH" --version
	grep -qE '^lunbench [0-9]' out
	expect 2 "$LUNBENCH"
}

test_every_option_is_documented() {
	man_page
	local c o
	for c in "${commands[@]}"; do
		expect 0 "$LUNBENCH" "$c" --help
		for o in $(grep -oE -- '--[a-z][a-z0-9_-]+' out | sort -u); do
			names man.txt "${o#--}" || fail "the man page lacks $o of $c"
		done
	done
}

test_every_lab_option_is_documented() {
	man_page
	local o
	expect 0 "$LUNBENCH" lab exec --help
	for o in $(grep -oE -- '--[a-z][a-z0-9_-]+' out | sort -u); do
		names man.txt "${o#--}" || fail "the man page lacks $o of lab exec"
	done
}

test_every_key_is_documented() {
	man_page
	expect 0 "$LUNBENCH" workloads --keys
	[ "$(wc -l <out)" -gt 100 ] || fail "too few keys"
	local name alias kind
	while IFS=$'\t' read -r name alias kind _; do
		names man.txt "$name" || fail "the man page lacks $name ($kind)"
		[ "$alias" = - ] || names man.txt "$alias" || fail "the man page lacks $alias"
	done <out
}

# The other way round: no option in the man page that nothing takes.
test_no_option_is_made_up() {
	man_page
	local c o
	for c in "${commands[@]}" target; do
		"$LUNBENCH" "$c" --help
	done >help.txt
	"$LUNBENCH" target --help >>help.txt || true
	for c in up down status fail replace; do
		"$LUNBENCH" target $c --help >>help.txt 2>/dev/null || true
	done
	for c in build exec up down status shell; do
		"$LUNBENCH" lab $c --help >>help.txt
	done
	"$LUNBENCH" --help >>help.txt
	for o in $(sed -n '/^OPTIONS/,/^JOB KEYS/p' man.txt | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		grep -qF -- "$o" help.txt || fail "no command takes $o"
	done
}

test_man_page_is_well_formed() {
	mandoc -T lint -W warning "$ROOT/docs/lunbench.1" || fail "mandoc complains"
}

# The README's commands: make targets that exist, lunbench lines that parse.
test_readme() {
	local readme=$ROOT/README.md line target
	has "$readme" 'make bench'
	has "$readme" 'make check'
	for target in $(grep -oE '(^ +|`)make [a-z-]+' "$readme" | awk '{print $NF}' | sort -u); do
		grep -qE "^$target:" "$ROOT/Makefile" || fail "no target: make $target"
	done
	# indented lines that begin with lunbench
	sed -nE 's/^ {4}(\.\/)?lunbench ([a-z]+) .*/\2/p' "$readme" | sort -u >used
	[ -s used ] || fail "the README shows no command"
	while read -r line; do
		"$LUNBENCH" "$line" --help >/dev/null || fail "no command: $line"
	done <used
	grep -oE -- '--[a-z][a-z_-]+' "$readme" | sort -u >options
	for line in run plan discover bench compare report workloads target; do "$LUNBENCH" $line --help; done >help
	for target in up down status; do
		"$LUNBENCH" target $target --help >>help 2>/dev/null || true
	done
	while read -r line; do
		grep -qF -- "$line" help || fail "the README's $line is no option"
	done <options
}

run_tests
