# killswitchd: what a developer does. Each target says what it is for in one line; the logic lives
# in the tools it calls.

BUILD  = .build/release
# Each function has a section of its own, so that what nobody calls is left out and like functions are one.
# A target that imports another without saying so in Package.swift is an error.
# Where a program was built is nowhere in it: not as debug information, nor in the hash by which the
# compiler knows an object again. Two builds are the same bytes.
COMPILER = --explicit-target-dependency-import-check error -debug-info-format none -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
    -Xswiftc -Xfrontend -Xswiftc -function-sections
# A program has the Swift runtime inside, exports nothing and has no symbols: several megabytes less. What is linked is
# what is installed: nothing strips it later. The linker is the toolchain's own. Modules are compiled as for a dynamic
# runtime, so that the tests are linked from the same objects; the static FoundationEssentials (of
# swift-argument-parser) then needs its own three libraries by name.
COMMON_LINKER = -static-stdlib -l_FoundationCollections -l_FoundationCShims -lswiftSynchronization -use-ld=lld \
    -resource-dir $(CURDIR)/$(RUNTIME) -Xlinker --strip-all -Xlinker --no-export-dynamic -Xlinker --icf=safe $(ORDERED)
RUNTIME = .build/runtime
# The programs of this system, which are tested and are in its Debian package: relocations are packed, where the C
# library reads that.
LINKER = $(COMMON_LINKER) $(PACKED)
PACKED := $(shell printf 'glibc 2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION)" | sort -CV && \
    echo -Xlinker -z -Xlinker pack-relative-relocs)
# What runs lies side by side, so that less of the program is read into memory.
ORDERED = -Xlinker --symbol-ordering-file=packaging/link-order -Xlinker --no-warn-symbol-ordering
TESTS = --configuration release $(COMPILER) $(MACHINE)
# For another machine: what "swift build" and swiftc are told of it. See packaging/roots/arm64.
MACHINE =
MACHINE_RUNTIME =
RELEASE = KILLSWITCHD_LINK='$(LINKER)' swift build $(TESTS) --disable-local-rpath
# The programs of the tarball and the RPM, for other systems: the same objects, linked once more, with RE2 inside (each
# distribution has another one) and plain relocations (packed ones need glibc 2.36). packaging/release/check-symbols says
# what a system must have.
PORTABLE = .build/portable
RELEASE_PORTABLE = KILLSWITCHD_PORTABLE=yes KILLSWITCHD_LINK='$(COMMON_LINKER)' swift build $(TESTS) --disable-local-rpath
# A source package has swift-argument-parser in it, and nothing is fetched: see packaging/build-source.
ifneq ($(wildcard swift-argument-parser),)
export KILLSWITCHD_PARSER = swift-argument-parser
endif
PREFIX ?= /usr
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system
# The administrator's, as the snippets for web servers are: made where there is none, and never replaced.
CONFIGURATION = $(DESTDIR)/etc/killswitchd/killswitchd.toml
DEMO   = .build/demo
# One short line for a step; V=1 shows the commands.
Q = $(if $(V),,@)
# Where the three shells look for what a package brings. Elsewhere than on Debian zsh looks in zsh/site-functions.
ZSH   ?= zsh/vendor-completions
COMPLETIONS = bash-completion/completions $(ZSH) fish/vendor_completions.d

.PHONY: deps build portable run test sanitize fuzz faults soak check pages site site-test bench compare link-order decision-benchmark fleet-benchmark signing-benchmark install deb reproducible clean deps-build deps-deb ansible-test rpm release release-test deps-release source source-test debian13 debian-unstable arm64 first-look

# The Debian packages that building, packing and testing need and that are missing, and nothing else: as root they
# are installed, otherwise the one command to type is printed. Each target below sees to its own.
deps:
	@.ci/packages build test

deps-build:
	@.ci/packages build

deps-deb:
	@.ci/packages build deb

deps-release:
	@.ci/packages build release

# Both programs, optimised, with the Swift runtime inside: .build/release/killswitchd, killswitchctl.
build: deps-build $(RUNTIME)
	@echo 'build: $(BUILD)/killswitchd'
	$(Q)$(RELEASE) --product killswitchd
	@echo 'build: $(BUILD)/killswitchctl'
	$(Q)$(RELEASE) --product killswitchctl

# Both once more, for the tarball and the RPM: .build/portable.
portable: build
	$(RELEASE_PORTABLE) --product killswitchd-portable
	$(RELEASE_PORTABLE) --product killswitchctl-portable
	install -D -m 755 $(BUILD)/killswitchd-portable $(PORTABLE)/killswitchd
	install -D -m 755 $(BUILD)/killswitchctl-portable $(PORTABLE)/killswitchctl
	packaging/release/check-symbols $(PORTABLE)/killswitchd $(PORTABLE)/killswitchctl

$(RUNTIME): packaging/lean-runtime $(shell command -v swiftc)
	packaging/lean-runtime $@ $(MACHINE_RUNTIME)

# The daemon in the foreground on a copy of the demonstration, and what to type in a second terminal.
run: build
	@mkdir -p $(DEMO)
	@[ -e $(DEMO)/flags.json ] || cp etc/demo/flags.json etc/demo/killswitchd.toml $(DEMO)
	@sed 's|@DEMO@|$(DEMO)|g; s|@BUILD@|$(BUILD)|g; s|@HERE@|$(CURDIR)|' etc/demo/second-terminal
	@$(BUILD)/killswitchd --config $(DEMO)/killswitchd.toml \
	    --runtime-directory $(DEMO)/run --state-directory $(DEMO)/state

# Everything: unit tests, process tests and, as root, the tests on a booted systemd. What they spawn are
# the programs of "make build". For some of them: make test FILTER='SettingsTests|Packaged'.
test: build deps
	$(Q)FILTER='$(FILTER)' .ci/test $(TESTS)

# Memory that is used after its end, read out of bounds, or lost: the tests of a release build under
# AddressSanitizer, and the daemon under valgrind. For one of the two: make sanitize PARTS=daemon.
sanitize: build deps
	.ci/sanitize $(PARTS)

# Each thing that reads foreign bytes under libFuzzer, for a minute: see docs/fuzzing.md. Longer, or some of them:
# make fuzz SECONDS=600 TARGETS='json settings'.
fuzz: deps-build
	.ci/fuzz $(or $(SECONDS),60) $(TARGETS)

# Each system call of the daemon fails once, and a table tells what came of it: a quarter of an hour. Some of them:
# make faults SAMPLE=20.
faults: build deps
	Tests/Faults/faults --sample $(or $(SAMPLE),1)

# The package on a booted systemd, with random orders and faults for an hour, and a model that says what must be true. As
# root. A night, or a failure once more: make soak HOURS=8, make soak SEED=7.
soak: deb deps
	Benchmarks/soak/soak $(if $(HOURS),--hours $(HOURS)) $(if $(SEED),--seed $(SEED))

# Formatting, layering, man pages, shell scripts.
check: deps
	.ci/check

# The pictures of the page in each state, by headless Chromium, and what axe-core finds in them.
pages: build
	@.ci/packages pages
	docs/pictures/draw-pages

# The man pages, the README and docs as HTML, in build/site: see packaging/site/make-site.
site:
	@.ci/packages site
	packaging/site/make-site build/site

# Its bytes, its HTML, its mistakes, each page in headless Chromium, and the search.
site-test:
	@.ci/packages site site-test
	packaging/site/test

# Our figures beside a peer's, in one run.
bench: deb deps
	Benchmarks/run

# Ours beside what people would use instead, on a booted systemd: docs/comparison.md. As root, a quarter of an hour.
compare: deb deps
	@.ci/packages compare
	Benchmarks/compare/compare $(if $(QUICK),--quick)

# packaging/link-order anew, after functions were renamed or added: from a program with its symbols.
link-order: deps $(RUNTIME)
	KILLSWITCHD_LINK='$(subst -Xlinker --strip-all,,$(LINKER))' swift build $(TESTS) --product killswitchd
	Benchmarks/counts/order $(BUILD)/killswitchd > $(BUILD)/link-order
	mv $(BUILD)/link-order packaging/link-order
	$(MAKE) build

# What measures the decision alone, what simulates many hosts, and what verifies signed documents, built as the programs
# are.
decision-benchmark fleet-benchmark signing-benchmark: deps-build $(RUNTIME)
	$(RELEASE) --product $@

# Both programs as "make build" has left them (root may have no compiler), their manual and completions,
# the unit and what it needs, and a configuration where there is none. Afterwards, as root:
# systemd-sysusers, systemd-tmpfiles --create, journalctl --update-catalog, systemctl daemon-reload and
# systemctl reload dbus.
install: $(BUILD)/killswitchd $(BUILD)/killswitchctl
	install -D -m 755 $(BUILD)/killswitchd $(DESTDIR)$(PREFIX)/sbin/killswitchd
	install -D -m 755 $(BUILD)/killswitchctl $(DESTDIR)$(PREFIX)/bin/killswitchctl
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 man/*.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 man/*.5
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man7 man/*.7
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 man/*.8
	install -d -m 755 $(DESTDIR)$(UNITDIR)
	for unit in killswitchd killswitchd-alarm killswitchd-attach killswitchd-attach-early killswitchd-gates killswitchd-motd killswitch-drill@; do \
	    sed -E 's#/usr/(s?bin/killswitch)#$(PREFIX)/\1#' packaging/systemd/$$unit.service \
	        > $(DESTDIR)$(UNITDIR)/$$unit.service || exit 1; \
	done
	install -D -m 644 -t $(DESTDIR)$(UNITDIR)/sysinit.target.d packaging/systemd/sysinit.target.d/50-killswitchd.conf
	install -m 644 -t $(DESTDIR)$(UNITDIR) packaging/systemd/*.target packaging/systemd/*.timer \
	    packaging/systemd/*.socket
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/killswitchd/prometheus $(filter-out %/silence,$(wildcard packaging/prometheus/*))
	install -m 755 -t $(DESTDIR)$(PREFIX)/share/killswitchd/prometheus packaging/prometheus/silence
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/killswitchd/review packaging/review/action.yml
	install -m 755 -t $(DESTDIR)$(PREFIX)/share/killswitchd/review packaging/review/plan-flags packaging/review/pre-commit
	install -m 755 -t $(DESTDIR)$(PREFIX)/share/killswitchd packaging/dpkg/policy-rc.d
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/dbus-1/system.d packaging/dbus-1/system.d/killswitchd.conf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/tmpfiles.d packaging/tmpfiles.d/killswitchd.conf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/sysusers.d packaging/sysusers.d/killswitchd.conf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/catalog \
	    packaging/catalog/killswitchd.catalog
	install -d -m 755 $(COMPLETIONS:%=$(DESTDIR)$(PREFIX)/share/%)
	$(BUILD)/killswitchctl --generate-completion-script bash | sed 1d \
	    > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/killswitchctl
	$(BUILD)/killswitchctl --generate-completion-script zsh \
	    > $(DESTDIR)$(PREFIX)/share/$(ZSH)/_killswitchctl
	$(BUILD)/killswitchctl --generate-completion-script fish \
	    > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/killswitchctl.fish
	install -d -m 755 $(DESTDIR)/etc/killswitchd/conf.d
	test -e $(CONFIGURATION) || test -L $(CONFIGURATION) || \
	    install -m 644 etc/killswitchd.toml $(CONFIGURATION)
	install -d -m 755 $(DESTDIR)/etc/killswitchd/web
	for file in packaging/web/*; do \
	    test -e $(DESTDIR)/etc/killswitchd/web/$${file##*/} || \
	        install -m 644 -t $(DESTDIR)/etc/killswitchd/web $$file || exit 1; \
	done
	install -D -m 644 etc/killswitchd.toml \
	    $(DESTDIR)$(PREFIX)/share/doc/killswitchd/examples/killswitchd.toml
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/killswitchd docs/host.schema.json \
	    docs/brief.schema.json
	install -D -m 644 etc/page.html $(DESTDIR)$(PREFIX)/share/doc/killswitchd/examples/page.html
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/killswitchd/examples/killswitchd.service.d \
	    etc/killswitchd.service.d/credentials.conf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/killswitchd/examples/hooks etc/hooks/chat@.service
	install -m 755 -t $(DESTDIR)$(PREFIX)/share/doc/killswitchd/examples/hooks etc/hooks/killswitch-chat

$(BUILD)/killswitchd $(BUILD)/killswitchctl:
	@echo "make: '$@' is not there: type 'make build' first" >&2; exit 1

# A Debian package of both: build/killswitchd_VERSION_ARCH.deb, with lintian's word on it.
deb: build deps-deb
	packaging/build-deb $(VERSION)

# Builds the package once more, in another place, and compares the two.
reproducible: deb
	packaging/reproduce

# The Ansible role on a booted system: needs root. Its tools come from PyPI, into .build.
ansible-test: deb
	@.ci/packages ansible
	packaging/build-deb 0.0.9
	Tests/Ansible/run

# An RPM of both: build/killswitchd-VERSION-1.ARCH.rpm, with rpmlint's word on it.
rpm: portable deps-release
	packaging/rpm/build $(VERSION)

# Everything that a release consists of, in build/release-VERSION: see docs/release.md. KEY=FILE signs it.
release: portable deps-release
	KEY='$(KEY)' DIRTY='$(DIRTY)' packaging/release/make

# What a user does with a release, tried. For one of the two: make release-test PARTS=files.
release-test: portable deps deps-release
	Tests/Release/run $(PARTS)

# The Debian source package of the commit that is checked out, with all that it needs to be built offline, in build.
source: deps-deb
	packaging/build-source $(VERSION)

# The source package, built without a network, linted, and tried by autopkgtest on a booted systemd: eight minutes. As root.
source-test: deb
	@.ci/packages source
	Tests/SourcePackage/run

# The package of Debian 13, in build/debian13, built, packed and tested in a root of Debian 13: as root.
debian13: deb deps
	FILTER='$(FILTER)' SWIFT_FLAGS='$(TESTS)' packaging/roots/debian13

# As Debian would: the source package, in build/debian-unstable, built by Debian's swiftlang in a root of unstable without a
# network, and tested there: as root.
debian-unstable: deb deps
	FILTER='$(FILTER)' SWIFT_FLAGS='$(TESTS)' packaging/roots/debian-unstable

# The package for arm64, in build/arm64, compiled in the root of unstable, packed and tested by emulation: as root.
arm64: deb deps
	FILTER='$(FILTER)' SWIFT_FLAGS='$(TESTS)' packaging/roots/arm64

# An image with the package that "make deb" has built and a shop, for podman: docs/guides/first-look.md. BASE is an image of
# the distribution that this is.
first-look: BASE ?= $(shell . /etc/os-release && echo $$ID:$${VERSION_ID:-unstable})
first-look: PACKAGE = build/killswitchd_$(shell packaging/version deb)_$(shell dpkg --print-architecture).deb
first-look:
	@test -e $(PACKAGE) || { echo "make: '$(PACKAGE)' is not there: type 'make deb' first" >&2; exit 1; }
	podman build --tag localhost/killswitchd-first-look --file packaging/container/Containerfile \
	    --build-arg BASE=$(BASE) --build-arg PACKAGE=$(PACKAGE) .

clean:
	swift package clean
	rm -rf $(DEMO)
