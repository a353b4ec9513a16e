# Everything a contributor runs. Set-up is part of every target that needs it: tools/setup.sh
# installs what is missing, says so, and is quick when it is there already.

.DEFAULT_GOAL := help
SHELL := bash

# Where set-up puts Node, Bun and the Python environment; worktrees may share one.
POLYCACHE_TOOLS ?= $(CURDIR)/target/tools
CARGO_TARGET_DIR ?= $(CURDIR)/target
export POLYCACHE_TOOLS CARGO_TARGET_DIR

export PATH := $(POLYCACHE_TOOLS)/bin:$(POLYCACHE_TOOLS)/venv/bin:$(PATH)
# The packages are used from their sources; nothing is installed into an environment.
export PYTHONPATH := $(CURDIR)/python/src
export RUBYLIB := $(CURDIR)/ruby/lib

CLI = $(CARGO_TARGET_DIR)/release/polycache

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: build ## one cache shared by a Rust, a TypeScript, a Python and a Ruby process
	@examples/demo/run.sh

.PHONY: demo-http
demo-http: build typescript-dist ## a live Redis stream over HTTP: a change in the next response, and the speed beside the plain handler
	@tools/setup.sh python redis bun || [ $$? = 3 ]
	@examples/http/run.sh

SECTIONS ?=
LANES ?=
export LANES
.PHONY: test
test: ## the tests of every language; SECTIONS="rust python" for some of them
	@tools/setup.sh python
	@python tools/run_tests.py $(SECTIONS)

.PHONY: test-release
test-release: ## what a release needs besides: packages as they are published, tests without assertions, the oldest Rust, benchmarks that build
	@tools/setup.sh python
	@python tools/run_tests.py --release

SINCE ?=
.PHONY: check
check: ## formatting, lints, types and the nearest tests of what changed; SINCE=HEAD~3 for what changed since then
	@tools/setup.sh python
	@python tools/check.py $(SINCE)

CHECKS ?=
.PHONY: lint
lint: ## formatting, lints and types of every language; CHECKS="ruff clippy" for some
	@tools/setup.sh python
	@python tools/lint.py $(CHECKS)

.PHONY: deny
deny: ## advisories, licences, sources and versions of the crates that we are built from
	@tools/setup.sh deny
	@tools/deny.sh

.PHONY: format
format: typescript-packages ## rewrites the code of every language in the house format
	@tools/setup.sh python ruby
	cargo fmt --all
	for manifest in bench/*/rust/Cargo.toml; do cargo fmt --all --manifest-path $$manifest; done
	cd typescript && npx biome check --write . && npx biome check --write --config-path=. ../examples ../checks ../bench ../tools
	ruff check --fix-only tools model python bench examples checks && ruff format tools model python bench examples checks
	rubocop --autocorrect ruby bench examples checks tools

.PHONY: setup
setup: ## installs everything that the other targets need
	@tools/setup.sh

.PHONY: build
build: ## compiles the workspace in release and gives each language its native extension
	@tools/build.sh

# npm itself writes this file, so it tells which lock file node_modules was made from.
INSTALLED = typescript/node_modules/.package-lock.json
.PHONY: typescript-packages
typescript-packages: $(INSTALLED)

$(INSTALLED): typescript/package-lock.json
	@tools/setup.sh node
	cd typescript && npm ci --no-audit --no-fund
	@touch $@

# The module as it is published; README's snippets and the examples import it.
DIST = typescript/dist/index.js
.PHONY: typescript-dist
typescript-dist: $(DIST)

$(DIST): $(INSTALLED) typescript/tsdown.config.ts $(shell find typescript/src -name '*.ts' -o -name '*.json' 2>/dev/null)
	cd typescript && npm run build --silent
	@touch $@

# Every benchmark installs its peers itself (bench/<name>/setup.sh) and writes bench/results/<name>.jsonl.
BENCHES = memory memory-python memory-ruby redis namespace disk http codec host hit-ratio
BENCH_TARGETS = $(addprefix bench-,$(BENCHES))
.PHONY: bench $(BENCH_TARGETS)

bench: build typescript-dist ## every benchmark and the report; QUICK=1 for under ten minutes
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) QUICK=$(QUICK) python bench/all.py $(BENCHES)
	@$(MAKE) --no-print-directory report

bench-memory: build typescript-dist ## one process' memory: ours, lru-cache, node-cache, ts-cache and others, on Node and Bun
bench-memory-python: build ## one process' memory: ours, cachebox, cachetools, theine and lru_cache, in Python
bench-memory-ruby: build ## one process' memory: ours, ActiveSupport's MemoryStore and lru_redux, in Ruby
bench-redis: build typescript-dist ## Redis clients of Node and Bun
bench-namespace: typescript-dist ## namespaces on Redis, in four languages
bench-disk: build ## disk caches of Python: LMDB, Berkeley DB, RocksDB, files and others
bench-http: build typescript-dist ## HTTP servers of Node, Bun, Rust, Python and Ruby that answer with a Redis stream
bench-codec: ## Rust caches, serializers and compressors
bench-host: build typescript-dist ## the host tier beside LMDB, diskcache and Redis; QUICK=1 for under a minute
bench-hit-ratio: ## eviction policies beside the optimum; TRACES=folder for recorded ones

$(BENCH_TARGETS): bench-%:
	@tools/setup.sh python
	@bench/$*/setup.sh
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) QUICK=$(QUICK) TRACES=$(TRACES) python bench/$*/run.py $(ARGS)

.PHONY: bench-disk-growth
bench-disk-growth: build ## disk caches of Python that grow to ten million entries; QUICK=1 for a short look
	@tools/setup.sh python
	@bench/disk/setup.sh
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) QUICK=$(QUICK) python bench/disk/growth.py $(ARGS)

.PHONY: bench-failures
bench-failures: build typescript-dist ## a Redis that is killed, hangs, is full: what ours and others do; QUICK=1 for a short look
	@tools/setup.sh python
	@bench/failures/setup.sh
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) QUICK=$(QUICK) python bench/failures/run.py $(ARGS)

.PHONY: bench-listeners
bench-listeners: build ## what it costs a server to tell 1, 10 and 100 hosts of writes; QUICK=1 for a short look
	@tools/setup.sh python
	@bench/listeners/setup.sh
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) QUICK=$(QUICK) python bench/listeners/run.py $(ARGS)

.PHONY: report readme
report: ## pages of all benchmarks' results: target/report/index.html
	@tools/setup.sh python
	@bench/report/setup.sh
	@PYTHONPATH=$(CURDIR)/bench:$(PYTHONPATH) python bench/report/run.py

readme: ## writes the figures of bench/results/ into docs/benchmarks.md, its picture and README.md
	@tools/setup.sh python
	@bench/report/setup.sh
	@python tools/figures.py

CHECKS_PROGRAM = $(CARGO_TARGET_DIR)/release/polycache-checks

.PHONY: model
model: ## visits every moment of the slot protocol's model (make test visits fewer); ARGS="--without insert-rescans" for one rule less
	@tools/setup.sh python
	@python model/check.py $(or $(ARGS),--all)

READS ?= 10000000
.PHONY: check-coherence
check-coherence: build ## looks for a stale read among processes of all four languages; READS=1000000 for a short look
	@$(CHECKS_PROGRAM) coherence --reads $(READS) $(ARGS)

KILLS ?= 500
.PHONY: torture
torture: build ## kills writers at random while others go on, then checks what is left; KILLS=25 for a short look
	@$(CHECKS_PROGRAM) torture --kills $(KILLS) $(ARGS)

.PHONY: check-remote
check-remote: build typescript-packages ## two hosts, Redis, Valkey, Sentinels and a Cluster, with trouble of every kind: no read is further behind than it may be; READS=1000000, QUICK=1 for a short look
	@tools/setup.sh servers clients
	@$(CHECKS_PROGRAM) remote --reads $(if $(QUICK),20000 --deal,$(READS)) $(ARGS)

CASES ?=
.PHONY: test-production
test-production: build typescript-dist ## runs the cache as production does, and prints cases and outcomes; CASES="space" for some, QUICK=1 for a short look
	@tools/setup.sh python
	@QUICK=$(QUICK) python checks/production/run.py $(CASES)

SEEDS ?= 20000
SEED ?=
REMOTE ?=
.PHONY: simulate
simulate: ## the processes of a host under one seeded scheduler and clock; SEED=n replays one with its whole log; REMOTE=1 for several hosts and a simulated Redis
	@cargo run --release --quiet -p polycache-simulation -- $(if $(REMOTE),--remote) $(if $(SEED),--seed $(SEED),$(SEEDS))

SECONDS ?= 300
.PHONY: fuzz
fuzz: ## gives hostile bytes to every decoder, SECONDS=300 each; CHECKS="entry typed" for some
	@tools/setup.sh fuzz
	@tools/fuzz.sh $(SECONDS) $(CHECKS)

TARGETS ?=
.PHONY: check-platforms
check-platforms: ## type-checks the crates for macOS and Windows; TARGETS=x86_64-apple-darwin for one
	@tools/setup.sh platforms
	@tools/check_platforms.sh $(TARGETS)

.PHONY: test-musl test-arm64
test-musl: ## the tests of the engine and of the Rust package with musl instead of glibc; ARGS="-p polycache-host --test basics" for some
	@tools/setup.sh platforms
	@tools/test_platform.sh musl $(ARGS)

test-arm64: ## the same for ARM64, in QEMU
	@tools/setup.sh arm64
	@tools/test_platform.sh arm64 $(ARGS)

COMMANDS ?= 1000000
.PHONY: check-namespace
check-namespace: typescript-packages ## two namespaces and a bare neighbour in each language, on one server; COMMANDS=100000 for a short look
	@tools/setup.sh python ruby node bun servers clients
	@cargo build --release --quiet -p polycache-redis-namespace --example check_namespace
	@PYTHONPATH=tools:$(PYTHONPATH) python checks/namespace/run.py --commands $(COMMANDS) $(ARGS)

.PHONY: commands
commands: ## makes spec/commands.json anew, from live servers
	@tools/setup.sh python servers
	@python tools/commands.py $(ARGS)

MUTANTS ?=
.PHONY: mutants
mutants: ## plants one fault at a time and shows that the checks find it; MUTANTS="name" for one
	@tools/setup.sh python
	@python tools/run_mutants.py $(MUTANTS)

.PHONY: conformance
conformance: ## the cases of spec/conformance in every language
	@$(MAKE) --no-print-directory test SECTIONS="$(addprefix conformance-,rust typescript python ruby)"

.PHONY: examples
examples: build ## runs the README's snippets and the programs in examples/
	@tools/setup.sh python
	@python tools/run_docs.py

.PHONY: reference
reference: build typescript-packages ## makes each package's reference from its docstrings, into target/reference
	@tools/setup.sh python
	@python tools/reference.py $(ARGS)

.PHONY: api
api: build typescript-packages ## compares the four packages with spec/api.toml and writes spec/api.md; ARGS=--check only compares
	@tools/setup.sh python ruby node
	@python tools/api.py $(ARGS)

.PHONY: package
package: ## builds what would be published, into target/package
	@tools/package.sh

.PHONY: package-quick
package-quick: # the same for tests, out of what is compiled already
	@tools/package.sh --quick

# In one go, so that each crate is compiled with one set of features.
PROFILE = assertions
RUN = --no-run
.PHONY: rust-tests
rust-tests: # compiles the tests in Rust; runs them with RUN=
	cargo test --profile $(PROFILE) --no-fail-fast $(RUN) --workspace --exclude polycache-examples \
		--exclude polycache-node --exclude polycache-python --exclude polycache-ruby

.PHONY: clean
clean: ## removes everything that was built (set-up's tools stay; they live in POLYCACHE_TOOLS)
	@tools/clean.sh
