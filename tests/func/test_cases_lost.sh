#!/bin/bash
# Reported problems: targets that die, freeze, throw us out or refuse. The table
# of all cases is in cases_lib.sh.
# shellcheck source=tests/func/cases_lib.sh
. "$(dirname "$0")/cases_lib.sh"

cpu_ticks() {
	awk '{print $14 + $15}' "/proc/$1/stat"
}

# Case 1: some clients spin at 100 % of a core for ever.
test_no_spinning_while_the_target_is_away() {
	raw_up
	raw_lun 1 64M
	start --iodepth=8 --runtime=30 --reopen-timeout=3 "$URL"
	kill -9 "$TGTD_PID"
	sleep 0.5
	local before after
	before=$(cpu_ticks $RUN)
	sleep 1.5
	after=$(cpu_ticks $RUN)
	[ $((after - before)) -le 15 ] || fail "$((after - before)) ticks in 1.5 s"
	ends 3
	has err "could not be opened again in 3 s: connection refused by 127.0.0.1:$PORT"
	has err partial
}

# Case 2: the gap is zeros in the series, not missing; what was cut is timed.
test_an_outage_is_in_the_series() {
	raw_up
	raw_lun 1 64M
	start --iodepth=8 --runtime=5 --interval=250ms "$URL"
	kill -9 "$TGTD_PID"
	sleep 2
	raw_start
	raw_lun 1 64M
	ends 0
	holds '.lunbench.rows[0].series.read.ios | [.[] | select(. == 0)] | length >= 4'
	holds '.lunbench.rows[0].series.read.ios | length >= 20 and .[-2] > 0'
	holds '.jobs[0].read.clat_ns.max > 1500000000'
	holds '.lunbench.rows[0].outages.outage_ns | . > 1500000000 and . < 4000000000'
}

# Case 4: a target throws out who answers no pings.
test_frozen_initiator() {
	raw_up
	raw_lun 1 8M
	raw_param nop_interval 1
	raw_param nop_count 1
	start --thinktime=100ms --runtime=6 "$URL"
	kill -STOP $RUN
	until ! T --mode conn --op show --tid 1 | grep -q '^Session'; do sleep 0.1; done
	kill -CONT $RUN
	ends 0
	has err "lost the connection to 127.0.0.1:$PORT"
	holds '.lunbench.rows[0].outages.disconnects == 1'
}

# Cases 12, 30: thrown out right after each login, and no storm of logins.
test_thrown_out_again_and_again() {
	local mode
	for mode in logout drop; do
		scripted $mode
		expect 3 "$LUNBENCH" run --rw=read --size=1m --quiet -o r.json --timeout=1 \
			--reopen-timeout=1 --initiator-name=iqn.x:me "$URL"
		[ "$(wc -l <err)" -lt 15 ] || fail "$(wc -l <err) lines: $(head -n 20 err)"
		has err "again (another initiator with this name?)"
		has err "lost the connection to 127.0.0.1:$PORT: the target"
		holds '.lunbench.rows[0].outages.disconnects | . >= 3 and . < 10'
	done
}

# Cases 21, 24, 31: at once, or by the deadline; named; never taken for data.
test_refusals() {
	local mode text
	while read -r mode text; do
		scripted "$mode"
		expect 3 "$LUNBENCH" run --rw=read --size=1m --bs=64k --quiet --timeout=1 \
			-o r.json "$URL"
		has err "$text"
		holds '.lunbench.run.end == "failed" and .jobs[0].read.total_ios == 0'
		expect 3 "$LUNBENCH" run --rw=write --overwrite --size=1m --bs=64k --timeout=1 \
			--output-format=json "$URL"
		has err "$text"
		jq -e -s 'length == 1' out >/dev/null || fail "not pure JSON"
	done <<-'END'
		busy retries: BUSY
		full retries: TASK SET FULL
		conflict failed: RESERVATION CONFLICT
		underflow GOOD, but 32768 of 65536 bytes were not transferred
		overflow GOOD, but the command was for 28672 bytes more
	END
}

run_tests
