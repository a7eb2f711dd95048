# shellcheck shell=bash
# For tests of the bundled target, in addition to lib.sh: states, processes and
# what is left of them.
# shellcheck source=tests/func/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

T() { "$LUNBENCH" target "$@"; }

# Each test has a state folder of its own, so that what is left is its own.
fresh() {
	export LUNBENCH_STATE_DIR=$PWD/state
	mkdir -p "$LUNBENCH_STATE_DIR"
	trap 'T down --all >/dev/null 2>&1' EXIT
}

# Processes that live on the state folder (a zombie has no environment).
tgtds() {
	grep -lzs "^TGT_IPC_SOCKET=${1:-$LUNBENCH_STATE_DIR}/" /proc/[0-9]*/environ |
		cut -d/ -f3
}

nothing_left() {
	local dir=${1:-$LUNBENCH_STATE_DIR} n=0
	# What dies with a lunbench that was killed is on its way out: on a busy
	# machine it takes a moment.
	while [ -n "$(tgtds "$dir")" ] && [ $n -lt 40 ]; do
		n=$((n + 1))
		sleep 0.05
	done
	[ -z "$(tgtds "$dir")" ] || fail "tgtd left: $(tgtds "$dir")"
	[ -z "$(ls -A "$dir")" ] || fail "state left: $(ls -AR "$dir")"
}

# Asks the private tgtd of target $1: adm NAME ARG...
adm() {
	local name=$1 control
	shift
	control=$(T status --name "$name" --output-format=json | jq '.targets[0].control_port')
	TGT_IPC_SOCKET=$LUNBENCH_STATE_DIR/$name/sock tgtadm -C "$control" --lld iscsi "$@"
}

# Fails with a status of its own, not by a signal.
refused() {
	local got=0
	"$@" >out 2>&1 || got=$?
	case $got in 0 | 12[89] | 1[3-9]? | 2??) fail "exit $got: $*" ;; esac
}

lacks() {
	if grep -qF -- "$2" "$1"; then fail "$1 has \"$2\""; fi
}

none() {
	if [ $# -gt 1 ] || [ -e "$1" ]; then fail "left: $*"; fi
}

field() { jq -er ".targets[0].$1" status.json; }
status_of() { T status --name "$1" --output-format=json >status.json; }

# What we call stands before /usr/sbin in PATH: shadow PROGRAM <<script
shadow() {
	mkdir -p bin
	{
		echo '#!/bin/sh'
		cat
	} >"bin/$1"
	chmod 755 "bin/$1"
}
