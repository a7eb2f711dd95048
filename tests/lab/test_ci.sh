#!/bin/bash
# The jobs of docs/CI.md, run as they stand there but for the installing: they
# find a build that flushes once more in a hundred writes, and nothing between
# two runs of one build.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=900
# Where a build decides that it is time for a flush, and what makes it slower.
DUE='p->flush_due = (o->fsync'
MORE='p->flush_due = (o->fsync \&\& p->writes % 100 == 99) || (o->fsync'

# A repository of two commits, the second one slower, and an apt-get that only
# notes what is to be installed.
make_repository() {
	mkdir -p tree bin home
	tar -C "$ROOT" --exclude=.git --exclude=./build --exclude=./results \
		--exclude=./lunbench -cf - . | tar -C tree -xf -
	cat >bin/apt-get <<-END
		#!/bin/sh
		case \$1 in
		update) ;;
		install) echo "\$@" >>'$PWD/installed' ;;
		*) exec $(command -v apt-get) "\$@" ;;
		esac
	END
	chmod +x bin/apt-get
	# The lab's cache stays where it is.
	[ "$(id -u)" = 0 ] || export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$HOME/.cache}"
	export HOME=$PWD/home PATH=$PWD/bin:$PATH
	git config --global user.name test
	git config --global user.email test@localhost
	cd tree || exit
	git init -q
	git add -A
	git commit -q -m before
	BASE=$(git rev-parse HEAD)
	export BASE
	sed -i "s/$DUE/$MORE/" workloads/pattern.c
	git diff --quiet && fail "nothing to patch"
	git commit -q -a -m slower
}

# run_ci STATUS SYSTEM JOB LIMIT
run_ci() {
	"$ROOT/tests/lab/ci_script" "$2" "$3" |
		sed "s/--max-regress [0-9.]*%/--max-regress $4/" >../script
	env -u MAKEFLAGS -u MAKELEVEL -u CC -u SAN -u B -u LUNBENCH bash ../script >../out 2>../err &&
		status=0 || status=$?
	grep -v '^ *\(CC\|LINK\) ' ../out
	[ "$status" = "$1" ] || fail "status $status, wanted $1: $(cat ../err)"
}

# What the Makefile needs for building and for the lab.
check_packages() {
	local p
	for p in $(make -s -pn -f "$ROOT/Makefile" -C "$ROOT" lint 2>/dev/null |
		sed -n 's/^\(BUILD_NEEDS\|RUN_PKGS\|LAB_PKGS\) := //p' | tr ' ' '\n' | sed 's/.*://'); do
		grep -qw -- "$p" ../installed || fail "docs/CI.md does not install $p"
	done
}

test_recipes() {
	local status
	[ "$B" = build/gcc ] || skip "builds what it compares itself"
	make_repository

	run_ci 1 github gate 0.5%
	grep -F worse ../out
	grep -q '<failure' out/compare.xml || fail "no failure in the JUnit file"
	check_packages

	# The first commit again, built in another folder, beside what was measured
	# of it before.
	mkdir ci
	mv out/base ci/baseline
	rm -r out
	git checkout -q "$BASE"
	run_ci 0 gitlab storage 0%
	./lunbench compare out/head ci/baseline --metric iops,mean --max-regress 0% >../back ||
		fail "what was measured again is better: $(cat ../back)"
}

run_tests
