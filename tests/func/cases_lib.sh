# shellcheck shell=bash
# What the tests of reported problems (test_cases_*.sh) share.
#
# Where each case of the list that the project started from is tested, by its
# number there; conformance (17, 29, 39, 44 to 47) has a room to come. TARGET
# stands for test_bad_target.sh, FAULTS for test_faults.sh, ISCSI for
# test_iscsi.sh, RUN for test_run.sh.
#
#  1  target dies in mid-I/O, no spinning     test_cases_lost.sh, FAULTS
#  2  target comes back                       test_cases_lost.sh, FAULTS
#  3  teardown after a lost session           ISCSI lost
#  4  pings answered; a frozen initiator      ISCSI nop_pings, test_cases_lost.sh
#  6  refused; not up yet                     TARGET closed_port, RUN wait
#  7  black hole, silent portal               TARGET black_hole
#  8  unknown host, all addresses of a name   TARGET
# 10  wildcard portals, busy port             ISCSI address_we_came_in_by,
#                                             test_target.sh, test_cases_login.sh
# 12  the target asks for a logout            ISCSI bad_sessions, test_cases_lost.sh
# 13  every LUN is LUN 0                      ISCSI each_lun, RUN expect_serial
# 14  LUN 256 and up                          ISCSI lun_300, RUN lun_300
# 15  hundreds of LUNs                        ISCSI, test_discover.sh 600_luns
# 16  over 2 TiB                              ISCSI over_2_tib, test_cases_data.sh
# 18  grown or shrunk in mid-run              test_cases_data.sh
# 19  4 KiB blocks, 512-byte job              RUN, ISCSI 4k_blocks
# 20  tiny, odd, zero                         TARGET, ISCSI sizes
# 21  residuals                               ISCSI bad_answers, test_cases_lost.sh
# 22  MaxBurstLength, R2T                     ISCSI negotiation
# 23  a CmdSN window of 1                     RUN window_of_one_command
# 24  BUSY, TASK SET FULL                     test_session.c, test_cases_lost.sh
# 25  odd CHAP secrets                        ISCSI chap
# 26  short, long, empty secrets              ISCSI chap, TARGET chap,
#                                             test_bad_input.sh
# 27  mutual CHAP                             ISCSI mutual_chap
# 28  odd URLs                                test_url.c, test_cases_login.sh
# 30  two initiators of one name              test_cases_login.sh, test_session.c
# 31  reservation conflict                    ISCSI bad_answers, test_cases_lost.sh
# 32  read-only LUN                           RUN read_only_lun
# 33  LUN off line, removed, added            test_cases_data.sh
# 34  medium error, short read, failed flush  ISCSI medium_error, test_cases_data.sh
# 36  stalls under a rate                     test_cases_data.sh
# 37  UNMAP and its limits                    ISCSI unmap, test_cases_data.sh
# 38  flushes that reach no disk              test_target.sh aio, test_cases_data.sh
# 40  failed writes are no corruption         test_cases_check.sh
# 42  corruption is found, named, shown       test_cases_check.sh, test_check.sh
# 48  leftovers of a killed run               test_target*.sh, test_bench.sh
# 50  digests                                 ISCSI digests, test_cases_login.sh

# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

# start OPTION... URL: a run in the background, RUN, that has begun to measure.
start() {
	rm -f out err
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=randread --bs=4k --norandommap \
		--time_based --quiet -o r.json "$@" >out 2>err &
	RUN=$!
	until T --mode conn --op show --tid 1 | grep -q '^Session'; do
		kill -0 $RUN || fail "did not start: $(cat err)"
		sleep 0.05
	done
	sleep 0.5
}

# ends STATUS: what RUN ends with.
ends() {
	local got=0
	wait "$RUN" || got=$?
	[ "$got" = "$1" ] || fail "exit $got, wanted $1: $(cat err)"
}

# holds FILTER: of the result; jq's.
holds() {
	jq -e "$1" r.json >/dev/null || fail "not so: $1: $(jq -c '.lunbench.rows[0] |
		[.errors, .retries, .outages, .series]' r.json)"
}

# scripted MODE: a target that misbehaves; sets PORT and URL.
scripted() {
	rm -f port
	setpriv --pdeathsig KILL python3 "$ROOT/tests/func/scripted_target.py" "$1" >port &
	until [ -s port ]; do sleep 0.02; done
	PORT=$(cat port)
	# shellcheck disable=SC2034  # the tests use it
	URL=iscsi://127.0.0.1:$PORT/iqn.2026-11.lb:scripted/1
}

# raw_faulty: raw_up with tgtd's store under the faults that the file ctl tells.
raw_faulty() {
	export FAULT_CTL=$PWD/ctl
	: >ctl
	LD_PRELOAD=$AIDS/fault_preload.so raw_up
}
