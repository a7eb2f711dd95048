# lunbench: one Makefile, nothing recursive but the variants that CI runs.
#
#   make               build ./lunbench
#   make deps          install what building, running and testing need (Debian)
#   make bench         deps, build, then a review: one load curve over four arrays
#                      (2 minutes on two cores); MEMBERS=/dev/sdb,... for disks;
#                      REPEATS=3 for the knees' intervals (three times as long)
#   make bench-basic   deps, build, then measure the bundled target (a minute)
#   make check         deps, build, then every test
#   make check-browser the report's page in headless Chromium
#   make check-lab     deps, deps-lab, build, then the lab's tests (QEMU, minutes)
#   make bench-repeatable  the same job in virtual and in real time, twice each
#   make lint          include rules, headers, format, static checks, docs
#   make bench-peers   against iscsi-perf and qemu-img, in interleaved pairs
#   make bench-wire    batches against libiscsi's own calls, in such pairs (12 minutes)
#   make bench-tuning  each setting of the bundled target beside the tuned ones (docs/TUNING.md)
#   make bench-page    what the report of a first review takes
#   make install       PREFIX=/usr/local DESTDIR=
#   make clean         (V=1 shows whole commands)
#
# Variants, each in its own folder below build/: CC=clang,
# SAN=address,undefined, SAN=thread.

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
SAN ?=
V ?=
PREFIX ?= /usr/local
DESTDIR ?=
comma := ,
VARIANT := $(notdir $(CC))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
B := build/$(VARIANT)

# A review has its time: build on all cores, unless told how.
NPROC := $(shell nproc)
ifeq ($(filter bench,$(MAKECMDGOALS))$(filter -j%,$(MAKEFLAGS)),bench)
MAKEFLAGS += -j$(NPROC)
endif

# V=1 shows whole commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)')

VERSION := 0.1
CPPFLAGS += -I. -D_GNU_SOURCE -DLUNBENCH_VERSION='"$(VERSION)"' \
	-DLUNBENCH_DATADIR='"$(PREFIX)/share/lunbench"'
WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wno-format-nonliteral -Wvla -Wundef -Werror \
	$(if $(findstring clang,$(CC)),,-Wno-format-truncation)
CFLAGS ?= -O2 -g
# The same program from every folder: in virtual time, its bytes decide.
CFLAGS_ALL := -std=gnu11 -pthread -ffile-prefix-map=$(CURDIR)=. $(WARN) $(CFLAGS) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
LDFLAGS_ALL := -pthread $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
LDLIBS := -liscsi -ljansson -lblkid -luring -lm

ROOMS := base workloads initiator target vm report commands
SRC := $(foreach r,$(ROOMS),$(wildcard $(r)/*.c))
HEADERS := $(foreach r,$(ROOMS),$(wildcard $(r)/*.h))
MAIN_OBJ := $(B)/commands/main.o
ROOM_OBJ := $(filter-out $(MAIN_OBJ),$(SRC:%.c=$(B)/%.o))
LIB := $(B)/lunbench.a

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)
# Helper programs of the functional tests, one file each.
AID_SRC := $(wildcard tests/func/*.c)
AID_BIN := $(patsubst %.c,$(B)/%,$(filter-out %_preload.c,$(AID_SRC))) \
	$(patsubst %.c,$(B)/%.so,$(filter %_preload.c,$(AID_SRC)))
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
REPLAY_BIN := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/tests/fuzz/replay_%)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(B)/%)

.PHONY: all deps bench bench-basic check check-browser check-lab deps-lab bench-repeatable lint bench-peers bench-wire bench-tuning bench-page fuzz install clean test-programs FORCE
all: lunbench

# header:package pairs that the build needs, then programs for the rest.
BUILD_NEEDS := iscsi/iscsi.h:libiscsi-dev jansson.h:libjansson-dev \
	blkid/blkid.h:libblkid-dev liburing.h:liburing-dev
RUN_PKGS := tgt
CHECK_PKGS := libcunit1-dev clang clang-format cppcheck shellcheck valgrind \
	fio jq git python3-jsonschema python3-six python3-yaml libiscsi-bin qemu-utils qemu-block-extra \
	libjs-chart.js gnuplot-nox \
	python3-prometheus-client mandoc perl iproute2 e2fsprogs procps strace tshark
# What the lab needs on this host, and takes into its guests.
LAB_PKGS := qemu-system-x86 supermin kmod cpio mdadm cryptsetup-bin tgt \
	iproute2 procps util-linux mount mawk
# A host that can make arrays needs no lab for its benches: root, md, RAM disks.
HAS_MD = $(shell [ "$$(id -u)" = 0 ] && PATH=$$PATH:/usr/sbin:/sbin && \
	modprobe -n -q md_mod && modprobe -n -q null_blk && echo yes)
BENCH_PKGS = libjs-chart.js $(if $(HAS_MD),mdadm,$(LAB_PKGS))
LAB_GOALS := deps-lab check-lab bench-repeatable
DEPS_PKGS := gcc libc6-dev $(foreach n,$(BUILD_NEEDS),$(lastword $(subst :, ,$(n)))) \
	$(RUN_PKGS) $(if $(filter bench bench-basic,$(MAKECMDGOALS)),,$(CHECK_PKGS)) \
	$(if $(filter bench,$(MAKECMDGOALS)),$(BENCH_PKGS)) \
	$(if $(filter check-browser,$(MAKECMDGOALS)),chromium) \
	$(if $(filter $(LAB_GOALS),$(MAKECMDGOALS)),$(LAB_PKGS))

deps:
	@missing=; for p in $(sort $(DEPS_PKGS)); do \
		dpkg-query -W -f='$${db:Status-Status}\n' $$p 2>/dev/null | \
			grep -qx installed || missing="$$missing $$p"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	echo "installing$${sudo:+ with sudo}:$$missing"; \
	$$sudo apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -qq -y \
		--no-install-recommends $$missing >/dev/null

deps-lab: deps

# Goals that do all set-up themselves install first; the others only look.
$(B)/needs.ok: $(if $(filter deps bench bench-basic check check-browser lint bench-peers bench-wire bench-tuning bench-page $(LAB_GOALS),$(MAKECMDGOALS)),| deps)
	@mkdir -p $(@D); missing=; \
	command -v $(CC) >/dev/null || missing=" $(notdir $(CC))"; \
	for n in $(BUILD_NEEDS); do \
		echo "#include <$${n%%:*}>" | $(CC) -E - >/dev/null 2>&1 || \
			missing="$$missing $${n##*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
		echo "missing to build lunbench. Install with (or: make deps):"; \
		echo "  apt-get install$$missing"; exit 1; \
	fi; touch $@

# One record of the flags: a changed flag rebuilds.
FLAGS_NOW := $(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LDFLAGS_ALL)
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(FLAGS_NOW))' >$@

$(B)/%.o: %.c $(B)/flags | $(B)/needs.ok
	@mkdir -p $(@D)
	$(call say,CC    $<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# What a source embeds, no compiler tells.
$(B)/report/format_html.o: report/page.css report/page.js
$(B)/vm/appliance.o: vm/init

$(LIB): $(ROOM_OBJ)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(B)/lunbench: $(MAIN_OBJ) $(LIB)
	$(call say,LINK  $@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS)

lunbench: $(B)/lunbench FORCE
	@ln -sfn $< $@

$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(LIB)
	$(call say,LINK  $@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS) -lcunit

$(B)/tests/func/%: $(B)/tests/func/%.o $(LIB)
	$(call say,LINK  $@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS)

# The scripted target: no libiscsi in it, and of the program only base/.
TARGET_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/target/*.c))
INSTANT := $(B)/tests/target/instant_target
$(INSTANT): $(TARGET_OBJ) $(LIB)
	$(call say,LINK  $@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

$(B)/tests/unit/test_wire_session $(B)/tests/unit/test_wire_load: | $(INSTANT)

# Preloaded into other programs: never instrumented.
$(B)/tests/func/%_preload.so: tests/func/%_preload.c $(B)/flags | $(B)/needs.ok
	@mkdir -p $(@D)
	$(call say,CC    $<)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(CFLAGS) -shared -fPIC -o $@ $< -ldl

# Fuzzers: `make fuzz` runs libFuzzer for FUZZ_SECONDS each; `make check` replays
# the corpus with any compiler through replay.c.
$(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(LIB)
	$(call say,LINK  $@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS)

FUZZ_SECONDS ?= 60
build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(filter-out $(MAIN_OBJ:$(B)/%.o=%.c),$(SRC)) $(HEADERS)
	@mkdir -p $(@D)
	clang $(CPPFLAGS) -std=gnu11 -pthread -g -O1 \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) $(LDLIBS)
fuzz: $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
	@for f in $^; do n=$${f##*fuzz_}; mkdir -p build/fuzz/found_$$n; \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=8192 \
			build/fuzz/found_$$n tests/fuzz/corpus_$$n || exit 1; done

test-programs: lunbench $(UNIT_BIN) $(AID_BIN) $(REPLAY_BIN) $(INSTANT)

check: deps test-programs
	@B=$(B) SAN=$(SAN) tests/run

# Chromium is large, so its tests have a goal and packages of their own.
check-browser: deps test-programs
	@B=$(B) SAN=$(SAN) TESTS='tests/browser/test_page.sh' JOBS=1 tests/run

# One at a time: a guest takes a core. LAB=exec runs tests/lab/test_exec.sh alone.
LAB ?= *
check-lab: deps test-programs
	@B=$(B) SAN=$(SAN) JOBS=1 TESTS="$(wildcard tests/lab/test_$(LAB).sh)" tests/run

bench-repeatable: deps lunbench
	@tests/lab/repeatable

lint: deps lunbench
	@tests/lint/run

# NetBench's load curve over four arrays, a part of its steps and of its time,
# over RAM disks that behave like disks (docs/METHOD.md). Where the host cannot
# make arrays: in the lab, in virtual time, a guest a core.
MEMBERS ?= 4x256M@hdd
REVIEW = netbench --array raid0,raid10,raid5,single --members $(MEMBERS) \
	--threads 64 --clients=1,4,8,12,16,20,28,36,48,60 --runtime=5 --ramp_time=1 \
	--no-prepare $(if $(REPEATS),--repeats $(REPEATS)) $(if $(HAS_MD),--where host,--virtual-time --jobs $(NPROC))
bench: deps lunbench
	@out=results/review-$$(date -u +%Y%m%dT%H%M%SZ); \
	./lunbench bench $(REVIEW) --out $$out; status=$$?; \
	[ ! -e $$out ] || ./lunbench report $$out --format html -o $$out/page.html && \
		echo "page:    $$out/page.html"; exit $$status

bench-basic: deps lunbench
	@./lunbench bench basic --out results

bench-peers: deps lunbench
	@tests/bench/peers

bench-page: deps test-programs
	@B=$(B) tests/bench/page

bench-wire: deps lunbench $(INSTANT)
	@INSTANT_TARGET=$(INSTANT) tests/bench/wire
	@INSTANT_TARGET=$(INSTANT) tests/bench/instructions

bench-tuning: deps lunbench
	@tests/bench/tuning

install: lunbench
	install -D -m 755 $(B)/lunbench $(DESTDIR)$(PREFIX)/bin/lunbench
	install -d $(DESTDIR)$(PREFIX)/share/lunbench/workloads
	install -m 644 workloads/*.fio $(DESTDIR)$(PREFIX)/share/lunbench/workloads
	install -d $(DESTDIR)$(PREFIX)/share/lunbench/workloads/reference
	install -m 644 workloads/reference/*.csv \
		$(DESTDIR)$(PREFIX)/share/lunbench/workloads/reference
	install -D -m 644 docs/lunbench.1 $(DESTDIR)$(PREFIX)/share/man/man1/lunbench.1
	install -D -m 644 docs/result.schema.json \
		$(DESTDIR)$(PREFIX)/share/lunbench/result.schema.json
	install -m 644 docs/baseline.schema.json $(DESTDIR)$(PREFIX)/share/lunbench

clean:
	rm -rf build lunbench

# Objects that only implicit rules lead to are kept. Not all targets: make does
# not remake a missing secondary one, FORCE and another variant's program among them.
.SECONDARY: $(patsubst %.c,$(B)/%.o,$(UNIT_SRC) $(AID_SRC) $(FUZZ_SRC) tests/fuzz/replay.c)
-include $(SRC:%.c=$(B)/%.d) $(UNIT_SRC:%.c=$(B)/%.d) $(AID_SRC:%.c=$(B)/%.d) \
	$(FUZZ_SRC:%.c=$(B)/%.d) $(TARGET_OBJ:.o=.d)
