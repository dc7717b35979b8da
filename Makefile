# ipamsim. `make` alone lists what there is. No variable has to be set.
#
# Everything is built on the generated ("hermetic") runtime, in which a run is a
# function of its seed. Where it cannot be generated for the installed Go, the
# generator says which edit does not fit, and the stock runtime builds; whatever else
# fails ends it.

SHELL       := /bin/bash
export CGO_ENABLED := 0
# Every target runs the long tests of its packages (sim/longtest); make test alone leaves them out.
export IPAMSIM_LONG := 1
test: export IPAMSIM_LONG :=
# Of compilers, tests and the program alike: a fifth less time, for up to twice the memory. The program by
# itself has it, too (scenarios.Tune).
export GOGC ?= 400
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GORELEASER  := github.com/goreleaser/goreleaser/v2@v2.17.0
KREW        := sigs.k8s.io/krew/cmd/validate-krew-manifest@v0.4.3
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
TARGET      ?= FuzzCalico
T           ?= 1m
SEEDS       ?= 200
CHECKS      ?= 10000
RUNS        ?= 10
# A fork's program never takes the place of that of the releases.
BIN          = bin/ipamsim$(if $(strip $(FORK)),-fork)

# gov VERB: "go VERB" with the overlay, or without it and saying so. Your GOFLAGS
# stay; a path with spaces is fine. With FORK=../whereabouts, the folder of a fork (or
# several), everything is built with it, and go.mod stays as it is. cmd/fork also generates
# the packages of upstream's that cannot be imported, and compares them and what we
# transcribe with what the tables record.
gov = $(call early,go list -deps ./cmd/ipamsim) overlay=$$($(fast) go run ./cmd/hermetic) && flags=(-overlay="$$overlay" -tags=hermetic $(nodwarf)) || { [ "$$overlay" = stock ] || exit 2; overlay=; flags=(); echo "building on the stock runtime: the same seed may run differently" >&2; }; $(call early,$(fast) go build "$${flags[@]}" net/http html/template testing) $(forked)$(compiling) go $(1) "$${flags[@]}"
# An eighth of the compiler's time is debuggers' tables (sim/hermetic/overlay has the flag, too), and another its garbage
# collection, which a process of less than 3 GiB does not need. Tests run with GOGC again: TESTS.
nodwarf   = -gcflags=all=-dwarf=false
fast      = GOGC=off GOMEMLIMIT=3GiB
compiling = $(if $(filter build vet,$(1)),$(fast))
test test-long: compiling = $(fast)
# early COMMAND: beside what follows, in a new clone: modules load while the generators compile, and Go's own packages
# compile while modules load.
early = [ -e bin ] || $(1) >/dev/null 2>&1 &
forked = $(if $(strip $(FORK)),export GOWORK=off; )fork=$$($(fast) go run ./cmd/fork $(if $(PINNED),-pinned) -overlay="$$overlay" $(FORK)) || exit 2; $(if $(strip $(FORK)),flags+=(-modfile="$$fork" -overlay="$${fork%.mod}.json"); )

.DEFAULT_GOAL := help
.PHONY: release release-test site help build demo test test-long lint lint-long bench golden why screenshots fuzz determinism nightly quiet runtime-test programs lab gate planted releases mutants reports upstream init-test oracle findings conformance chaos memory

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

# -w: without the tables of a debugger, half of the linker's time.
build: ## bin/ipamsim; FORK=../whereabouts: bin/ipamsim-fork
	@$(call gov,build) $$(git status >/dev/null 2>&1 || echo -buildvcs=false) -ldflags=-w -o $(BIN) ./cmd/ipamsim

demo: ## whereabouts#162 on the StatefulSet of its report
	@$(call gov,build) $$(git status >/dev/null 2>&1 || echo -buildvcs=false) -ldflags=-w -o bin/demo ./cmd/demo/whereabouts
	@bin/demo

# Without the packages that are generated from upstream's source.
OURS = $$(go list ./... | grep -v '^ipamsim/sim/.*/upstream/')
# The longest begin first, so that none of them is left over at the end for one processor.
LONGEST = ./scenarios ./fuzz ./fuzz/campaign ./scenarios/plan ./cmd/cli ./sim/ipam/calico
# -vet=off: make lint has all of vet. -count=1: a test binary that may be cached logs every file it opens, under a mutex
# that the bubble would share with etcd outside: a race that no seed decides. One processor for each test
# binary, as the program has it (scenarios.Tune): a bubble has no use for a second one, and pays for it.
TESTS = -vet=off -json -count=1 -exec 'env GOMAXPROCS=1 GOGC=$(GOGC) GOMEMLIMIT=off' $(LONGEST) $(OURS) | go run $(GOTESTSUM) --raw-command --format pkgname --jsonfile bin/tests.json -- cat
SLOWEST = code=$$?; echo; echo "the slowest:"; go run $(GOTESTSUM) tool slowest --jsonfile bin/tests.json --threshold 5s --num 15; [ $$code = 0 ]
test: ## every test but the long ones; then the slowest, and which did not run and why
	@mkdir -p bin && : >bin/runs && export IPAMSIM_RUNS=$(CURDIR)/bin/runs; set -o pipefail; $(call gov,test) -timeout 20m $(TESTS); $(SLOWEST) && .ci/woken bin/runs

# A long test is one that asks sim/longtest.
test-long: ## every test, also the long ones, which it lists first (an hour)
	@grep -rnE 'longtest\.|^\[!long\]' --include='*_test.go' --include='*.txtar' cmd fuzz scenarios sim | sed 's/:.*longtest/: longtest/'
	@mkdir -p bin; set -o pipefail; $(call gov,test) -timeout 3h $(TESTS); $(SLOWEST)

lint: ## gofmt, vet, the house rules (sim/tidy_test.go)
	@out=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	@$(call gov,vet) $(OURS)
	@$(call gov,test) -count=1 -run 'Tidy|Upstream' ./sim

lint-long: lint ## lint, and staticcheck and actionlint (25 minutes: staticcheck analyses all of Kubernetes)
	@cmd/hermetic/staticcheck.sh $(STATICCHECK) $(OURS)
	@go run $(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

bench: ## measure; writes bench.json and prints the table of reports/BENCH.md
	@$(call gov,test) -timeout 60m -count=1 -run '^TestBench$$' -v ./scenarios -bench-json $(CURDIR)/bench.json
	@$(call gov,test) -timeout 60m -count=1 -run '^TestBench$$' -v ./sim/ipam/calico -bench-json $(CURDIR)/bench.json
	@$(call gov,test) -timeout 60m -count=1 -run '^TestBench$$' -v ./model/capacity -bench-json $(CURDIR)/bench.json
	@$(call gov,test) -timeout 60m -count=1 -gcflags=ipamsim/fuzz/coverage/counter=-d=libfuzzer -run '^TestBench$$' -v ./fuzz -bench-json $(CURDIR)/bench.json

golden: ## rewrite the goldens; read the diff before you commit it
	@$(call gov,test) -count=1 -run 'Library|Golden|Schema|BadInput' ./scenarios ./reports ./reports/formats ./reports/baseline -update
	@$(call gov,test) -count=1 -run 'ReadyPlans|Forms' ./scenarios/plan ./reports/answer -update
	@$(call gov,test) -count=1 -run 'Corpora' ./fuzz -update
	@$(call gov,test) -count=1 -run '^Test((Action|Hazard|Invariant)Table|Reference)$$' ./cmd/cli -update

why: build ## why a golden changed: the first step that differs from an earlier commit; SCENARIO=NAME SINCE=HEAD~3
	@go run ./cmd/why -scenario '$(SCENARIO)' -since '$(SINCE)'

screenshots: ## README's pictures of pages and plans, drawn anew (needs chromium)
	@export IPAMSIM_CHROMIUM_REQUIRED=1; $(call gov,test) -count=1 -run '^TestStories$$' ./scenarios -screenshots $(CURDIR)/reports/screenshots
	@export IPAMSIM_CHROMIUM_REQUIRED=1; $(call gov,test) -count=1 -run '^TestPictures$$' ./scenarios/plan -screenshots $(CURDIR)/reports/screenshots

# Go's fuzzer learns from counters that the compiler inserts: into fuzz/coverage/counter, whose
# functions show what the system did, and into the allocators; for files into their loader.
# Plain "go test -fuzz" works, too, but inserts them into all of Kubernetes and etcd: minutes of
# building, slower runs, and lines that show nothing about an allocator.
FUZZED = ipamsim/fuzz/coverage/counter github.com/k8snetworkplumbingwg/whereabouts/... github.com/projectcalico/calico/libcalico-go/lib/ipam/...
fuzz: FUZZED += $(patsubst %,ipamsim/%,$(if $(filter FuzzScenarioFile,$(TARGET)),scenarios scenarios/strict,$(if $(filter FuzzImport,$(TARGET)),scenarios/dump,$(if $(filter FuzzStore,$(TARGET)),sim/etcd/...))))
fuzz: ## go test -fuzz; TARGET=FuzzCalico T=1m
	@pkg=$$(grep -rlE "^func $(TARGET)\(" --include=*_test.go . | head -n 1 | xargs -r dirname); [ -n "$$pkg" ] || { echo "no fuzz target $(TARGET)" >&2; exit 2; }; \
	$(call gov,test) -c -o bin/fuzz.test $(FUZZED:%=-gcflags='%=-d=libfuzzer') $$pkg && cd $$pkg && \
	exec $(CURDIR)/bin/fuzz.test -test.run '^$$' -test.fuzz '^$(TARGET)$$' -test.fuzztime $(T) -test.fuzzminimizetime 0s -test.fuzzcachedir $(CURDIR)/bin/fuzzed

determinism: ## SEEDS=200 seeds of every scenario, or of SCENARIOS=N, in eight processes, idle and loaded (hours); CONTROLLERS=real
	@$(call gov,test) -timeout 24h -count=1 -run '^TestDeterminism$$' -v ./scenarios -full -seeds $(SEEDS) -pick '$(SCENARIOS)' -controllers '$(CONTROLLERS)'

nightly: SEEDS = 2
nightly: build ## what make test leaves out of determinism and replay: the scenarios of over 2,500 steps; the gate with each run twice
	@$(BIN) gate --twice --budget 2h
	@$(call gov,test) -timeout 6h -count=1 -run '^(TestDeterminism|TestReplayOfRecordedSchedule)$$' -v ./scenarios -full -seeds $(SEEDS) -pick long

# These look at the heap itself.
memory runtime-test: export GOGC = 100
memory: ## 1,000 runs with Kubernetes' own controllers leave nothing behind (minutes)
	@$(call gov,test) -timeout 2h -count=1 -run '^TestMemory$$' -v ./scenarios -full

quiet: ## 1,000 seeds of every scenario that must stay silent (an hour)
	@$(call gov,test) -timeout 24h -count=1 -run '^TestQuiet$$' -v ./scenarios -full

chaos: ## 100 kills of a campaign's workers and 5 of its coordinator lose nothing, of a plan's neither
	@$(call gov,test) -timeout 60m -count=1 -run '^Test(Plan)?Chaos$$' -v ./fuzz/campaign -full

runtime-test: ## Go's own tests of what the generated runtime changes; records the overlay that passed
	@cmd/hermetic/runtime-test.sh

programs: ## 1,000 generated programs under load give one order each in eight processes
	@$(call gov,test) -timeout 60m -count=1 -run '^TestPrograms$$' -v ./sim/hermetic -programs 1000

# Rootless and offline. LABFLAGS=-slow measures what takes minutes too.
lab: ## the routes against real BIRD in network namespaces; LAB_REQUIRED=1: a skip fails
	@echo "building cmd/calico/lab"; $(call gov,build) $$(git status >/dev/null 2>&1 || echo -buildvcs=false) -o bin/lab ./cmd/calico/lab
	@bin/lab $(LABFLAGS)

# GATEFLAGS="--junit gate.xml --sarif gate.sarif --markdown gate.md" writes reports,
# GATEFLAGS=--update rewrites the baseline.
gate: build ## compare the library with scenarios/baseline.json; FORK=../whereabouts: of a fork
	@$(BIN) gate $(GATEFLAGS)
planted: ## the gate is red for each planted regression, green for a mend: cmd/fork (an hour)
	@go test -timeout 6h -count=1 -run '^Test(Planted|Author)' -v ./cmd/fork -planted
releases: ## programs of older releases are built and run: cmd/fork (ten minutes)
	@go test -timeout 1h -count=1 -run '^TestReleases$$' -v ./cmd/fork -releases
# MANAGER=whereabouts SAMPLE=200 SEED=1; FORK=../whereabouts makes them of a fork. Interrupted, it goes on where it was.
MANAGER ?= whereabouts
mutants: ## which small mistakes in an address manager the gate sees; writes reports/MUTANTS.md (hours; MANAGER=calico SAMPLE=100 SEED=1)
	@go run ./cmd/mutants -manager '$(MANAGER)' $(if $(SAMPLE),-sample $(SAMPLE)) $(if $(SEED),-seed $(SEED)) $(if $(strip $(FORK)),-source '$(strip $(FORK))')
reports: ## write the pages that are made from recorded results: the track record, MUTANTS, BENCH, VERIFY; BENCH=bench.json takes its figures first
	@go test -vet=off -count=1 -run '^TestPages$$' ./reports/trackrecord -update
	@go test -vet=off -count=1 -run '^TestPages$$' ./reports/bench -update $(if $(BENCH),-measured '$(abspath $(BENCH))')
	@$(call gov,run) ./cmd/mutants -manager harness -known
# Wants a checkout without changes; HACKING.md has what remains by hand.
# Nothing is published: .github/workflows/release.yml uploads dist/.
release: build ## dist/: archives, checksums, SBOMs, image and krew manifest; VERSION=v0.1.0
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$$ ]] || { echo "release: want VERSION=vX.Y.Z, have '$(VERSION)'" >&2; exit 2; }
	@rm -rf bin/release-docs && $(BIN) reference --man bin/release-docs/man --completions bin/release-docs/completions --date "$$(git log -1 --format=%cs)"
	@overlay=$$(go run ./cmd/hermetic) && go run ./cmd/fork -overlay="$$overlay" && \
	  VERSION=$(VERSION) OVERLAY="$$overlay" COMMIT=$$(git rev-parse HEAD) COMMIT_TIME=$$(git log -1 --format=%ct) COMMIT_DATE=$$(git log -1 --format=%cI) GOGC=off GOMEMLIMIT=3GiB go run $(GORELEASER) release --snapshot --clean --skip=publish
	@git archive --format=tar.gz --prefix=ipamsim_$(VERSION)_source/ -o dist/ipamsim_$(VERSION)_source.tar.gz HEAD
	@go run -C cmd/release . -version $(VERSION) -time "$$(git log -1 --format=%ct)" "$(CURDIR)/dist"
site: ## the documents as a static site with a search: bin/site
	@$(call gov,run) ./cmd/site bin/site
release-test: ## use dist/ as someone who has nothing else: no Go, no repository, no network
	@go test -C cmd/release -count=1 -v . -dist "$(CURDIR)/dist"
	@go run $(KREW) -manifest dist/krew/ipam-check.yaml -skip-install

upstream: ## list newer releases of upstream's modules; BUMP=k8s.io/kubernetes@v1.37.3: move to one on a branch, and report what changed (half an hour)
	@go run ./cmd/upstream $(if $(BUMP),-bump '$(BUMP)')
init-test: ## what ipamsim init writes builds, passes, finds its planted race; controller-runtime; one more of each kind; the tutorials
	@$(call gov,test) -timeout 60m -count=1 -run '^TestInit(Controller)?$$|^TestAddOneMore$$|^TestTutorials$$' -v ./cmd/cli -init
# The first time builds kube-apiserver and kubectl 1.37.2 from the module proxy: ten minutes, 250 MB in the user's cache.
oracle: ## recorded runs against upstream's own kube-apiserver (RUNS=10, 0: all); kubectl and calicoctl on a paused run; upstream's suite of IPAM on our API server; findings again on upstream's own programs
	@$(call gov,run) ./cmd/oracle -runs $(RUNS)
	@$(call gov,run) ./cmd/oracle -show all
	@$(call gov,test) -timeout 60m -count=1 -run '^TestServePrograms$$' -v ./cmd/cli -programs
	@$(call gov,test) -timeout 60m -count=1 -run '^TestUpstreamSuite$$' -v ./sim/ipam/calico -suite
findings: ## run the command of every row of the track record (reports/README.md)
	@$(call gov,test) -timeout 60m -count=1 -run "^TestFindings$$" -v ./cmd/ipamsim -findings
conformance: ## stores, watches and leases = etcd, simple controllers = Kubernetes' own, references = the real allocators: CHECKS=10000 random histories each; bands of a load hold the truth
	@$(call gov,test) -timeout 3h -count=1 -run '^TestConformance' -v ./sim/etcd/twin ./sim/ipam/calico ./sim/ipam/whereabouts ./sim/ipam/metallb ./sim/ipam -rapid.checks $(CHECKS)
	@$(call gov,test) -timeout 6h -count=1 -run '^TestConformance' -v ./sim/cluster -rapid.checks $(CHECKS)
	@$(call gov,test) -timeout 1h -count=1 -run '^TestRoundTrip$$|^TestImportedPodsGo$$' -v ./fuzz/space -roundtrips 1000 -departures 300
	@$(call gov,test) -timeout 1h -count=1 -run '^TestConformance' -v ./scenarios/plan -full
