#!/bin/bash
# The Makefile: what is built already never stands in for another variant.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

test_another_variant_is_built() {
	[ -e "$ROOT/lunbench" ] || skip "lunbench is not built at $ROOT"
	expect 0 make -n -C "$ROOT" B="$PWD/other"
	has out "LINK  $PWD/other/lunbench"
}

run_tests
