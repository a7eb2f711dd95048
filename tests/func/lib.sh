# shellcheck shell=bash
# Functional tests: a file defines test_NAME functions, then calls run_tests.
# Each runs in a subshell under `set -e` in a fresh folder, with a deadline of
# TEST_DEADLINE seconds (60); TAP on stdout. What a test prints is shown when it
# fails. `skip REASON` ends a test as skipped.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
B=${B:-build/gcc}
LUNBENCH=${LUNBENCH:-$ROOT/$B/lunbench}
# shellcheck disable=SC2034  # the tests use it
AIDS=$ROOT/$B/tests/func
if [ -z "${LUNBENCH_STATE_DIR:-}" ]; then # run alone, not by tests/run
	LUNBENCH_STATE_DIR=$(mktemp -d /tmp/lunbench-test.XXXXXX)
	# shellcheck disable=SC2064
	trap "rm -rf '$LUNBENCH_STATE_DIR'" EXIT
fi
export LUNBENCH_STATE_DIR
LUNBENCH_STATE_DIR=$LUNBENCH_STATE_DIR/$(basename "$0" .sh)

skip() {
	echo "$*" >"$TEST_DIR/.skip"
	exit 77
}

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# run_for STATUS COMMAND...: stdout to ./out, stderr to ./err; the status must fit.
expect() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "exit $got, wanted $want: $*" >&2
		sed 's/^/  out: /' out >&2
		sed 's/^/  err: /' err >&2
		return 1
	}
}

# has FILE TEXT: the file contains that text.
has() {
	grep -qF -- "$2" "$1" || {
		echo "$1 lacks \"$2\":" >&2
		cat "$1" >&2
		return 1
	}
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# A bundled target for the test, taken down with it: target_up [OPTIONS]; sets URL.
target_up() {
	local name=t$BASHPID
	"$LUNBENCH" target up --name "$name" "$@" >target.out 2>target.err || {
		cat target.err >&2
		return 1
	}
	TARGETS="${TARGETS:-} $name"
	# shellcheck disable=SC2034
	TARGET_NAME=$name
	# shellcheck disable=SC2034
	URL=$(grep -oE 'iscsi://[^ ]+' target.out | head -n 1)
	# shellcheck disable=SC2064
	trap "for t in $TARGETS; do '$LUNBENCH' target down --name \$t >/dev/null 2>&1; done" EXIT
}

# The scripted target of tests/target: instant LINE...; sets PORT, URL, INSTANT.
INSTANT_TARGET=$ROOT/$B/tests/target/instant_target
instant() {
	rm -f port
	setpriv --pdeathsig KILL "$INSTANT_TARGET" "$@" >port &
	# shellcheck disable=SC2034
	INSTANT=$!
	until [ -s port ]; do sleep 0.02; done
	PORT=$(cat port)
	# shellcheck disable=SC2034
	URL=iscsi://127.0.0.1:$PORT/iqn.2026-11.lb:instant/1
}

run_tests() {
	local t n=0 status top bad=0
	top=$(mktemp -d /tmp/lunbench-func.XXXXXX)
	mkdir -p "$LUNBENCH_STATE_DIR"
	for t in $(declare -F | awk '$3 ~ /^test_/ {print $3}'); do
		case $t in *"${ONLY:-}"*) ;; *) continue ;; esac
		n=$((n + 1))
		TEST_DIR=$top/$t
		mkdir -p "$TEST_DIR"
		(
			cd "$TEST_DIR" || exit 1
			set -eE
			trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
			"$t"
		) >"$top/log" 2>&1 &
		local pid=$! waited=0
		while kill -0 $pid 2>/dev/null; do
			sleep 0.05
			waited=$((waited + 1))
			if [ $waited -gt $((${TEST_DEADLINE:-60} * 20)) ]; then
				echo "over the deadline of ${TEST_DEADLINE:-60} s" >>"$top/log"
				pkill -KILL -P $pid
				kill -KILL $pid
			fi
		done
		wait $pid
		status=$?
		if [ $status = 77 ] && [ -f "$TEST_DIR/.skip" ]; then
			echo "ok $n - $t # SKIP $(cat "$TEST_DIR/.skip")"
		elif [ $status = 0 ]; then
			echo "ok $n - $t"
		else
			echo "not ok $n - $t"
			sed 's/^/# /' "$top/log"
			bad=1
		fi
	done
	echo "1..$n"
	rm -rf "$top"
	return $bad
}
