# shellcheck shell=bash
# shellcheck disable=SC2034  # the tests use what is set here
# A tgtd of the test's own, for what `lunbench target` does not offer: several
# LUNs, limits, accounts. raw_up [TGTD-OPTION...] sets PORT, IQN, TGTD_PID; T runs
# tgtadm on it. It dies with the test's subshell, whatever ends that.

raw_up() {
	PORT=${PORT:-$(free_port)}
	IQN=iqn.2026-11.dev.lunbench.test:t$BASHPID
	CONTROL=$((PORT % 32768))
	mkdir -p tgt
	export TGT_IPC_SOCKET=$PWD/tgt/sock
	raw_start "$@"
}

raw_start() {
	setpriv --pdeathsig KILL tgtd -f -C "$CONTROL" \
		--iscsi "portal=127.0.0.1:$PORT" "$@" >tgt/log 2>&1 </dev/null &
	TGTD_PID=$!
	local n=0
	until tgtadm -C "$CONTROL" --mode sys --op show >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt 200 ] || fail "tgtd does not start: $(cat tgt/log)"
		sleep 0.05
	done
	tgtadm -C "$CONTROL" --mode portal --op show | grep -qx "Portal: 127.0.0.1:$PORT,1" ||
		fail "tgtd does not listen on 127.0.0.1:$PORT"
	T --mode target --op new --tid 1 -T "$IQN"
	T --mode target --op bind --tid 1 -I ALL
}

T() {
	tgtadm -C "$CONTROL" --lld iscsi "$@"
}

# raw_lun NUMBER SIZE [OPTION...]: on an image in this folder; sets URL.
raw_lun() {
	local n=$1 size=$2
	shift 2
	truncate -s "$size" "l$n.img"
	T --mode logicalunit --op new --tid 1 --lun "$n" -b "$PWD/l$n.img" "$@"
	URL=iscsi://127.0.0.1:$PORT/$IQN/$n
}

# raw_null NUMBER: tgt's null store, 1 TiB.
raw_null() {
	T --mode logicalunit --op new --tid 1 --lun "$1" --bstype null -b 1
	URL=iscsi://127.0.0.1:$PORT/$IQN/$1
}

raw_set() {
	T --mode logicalunit --op update --tid 1 --lun "$1" --params "$2"
}

raw_param() {
	T --mode target --op update --tid 1 --name "$1" --value "$2"
}

# What is no target: listener swallow accepts and stays silent, listener hole drops
# every SYN. Sets PORT; dies with the test.
listener() {
	rm -f port
	setpriv --pdeathsig KILL python3 - "$1" >port <<-'PYTHON' &
		import socket, sys, time
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(0 if sys.argv[1] == "hole" else 8)
		port = s.getsockname()[1]
		fill = []
		while sys.argv[1] == "hole":
		    c = socket.socket()
		    c.settimeout(0.3)
		    try:
		        c.connect(("127.0.0.1", port))
		        fill.append(c)
		    except socket.timeout:
		        break
		print(port, flush=True)
		time.sleep(60)
	PYTHON
	until [ -s port ]; do sleep 0.05; done
	PORT=$(cat port)
}
