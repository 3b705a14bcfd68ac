# make build    bin/kubectl-merge, the plugin
# make test     all tests; starts a real, throw-away API server by itself
# make times    the same tests; prints where their time and CPU go
# make soak     the random and repeated tests SOAK times as long (default 8)
# make lint     gofmt, go mod tidy, vet (also for Windows and macOS), staticcheck, deadcode
# make lint-apart  vet and staticcheck of what compiles Helm, Flux or controller-runtime
# make bench    Go benchmarks of the merge and what it stands on, beside others' libraries
# make bench-cluster  kubectl beside us on the throw-away API server; takes an hour and a quarter
# make fuzz     every fuzz target for FUZZTIME (default 1m)
# make skew     the stories on API servers of other versions (SKEW, default 1.34 1.35)
# make controller  pkg/apply in a controller, and other ways to write one beside it; two minutes
# make helm     what Helm 4 has installed, taken over and upgraded again; some minutes
# make waiters  kubectl, Helm and Flux beside us, waiting for the same objects; some minutes
# make vuln     known vulnerabilities in what is linked in; asks vuln.go.dev
# make docs     docs/cli.md and the man pages, from the commands' own help
# make release-check  a release of every platform, built and looked at; goes to dist
# make pictures  draws the pictures of the documentation from real runs
# make demo     plays a story on the throw-away API server, to be watched
# make cluster  starts that server to play with; ends with Ctrl-D
#
# Nothing but Go is needed. Tools come from go.mod and tools/go.mod, the server
# and its kubectl from test/cluster/go.mod.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

# Stories wait for processes and a server more than they compute.
PARALLEL ?= 4
TIMEOUT  ?= 60m
BENCH    ?= .
FUZZTIME ?= 1m
SOAK     ?= 8

# Modules of their own, so that what they are made of is in no list of the program's. Those APART
# are made of hundreds of packages that neither the program nor make test compiles.
MODULES  := test/cluster test/kstatus
APART    := test/controller test/helm test/waiters

.PHONY: build
build:
	go build -o bin/ ./cmd/kubectl-merge

# What tests start is built first, once, so that no test's time runs out while a
# compiler works. Of the large tests one run plays the part that the commit's hash
# chooses (-args -part=all plays everything).
.PHONY: test
test: cluster-binaries
	go build -overlay test/stranger/testdata/overlay.json -o .tools/stranger/kubectl-merge ./cmd/kubectl-merge
	go test -timeout $(TIMEOUT) -parallel $(PARALLEL) ./...
	go -C test/cluster test -timeout $(TIMEOUT) ./...
	go -C test/kstatus test -timeout $(TIMEOUT) ./...
	go -C test/waiters test ./...
	@echo "make test: all tests passed"

# The tests of the program's own module, by package and by slowest test.
.PHONY: times
times: cluster-binaries
	go run ./test/times -- -count=1 -timeout $(TIMEOUT) -parallel $(PARALLEL) ./...

.PHONY: cluster-binaries
cluster-binaries:
	@go -C test/cluster run . --build-only --controllers >/dev/null

# All parts of the large tests, and each run draws anew and says its seed: random sequences beside kubectl apply,
# sixteen writers at one object (a minute each way with the default), kills, faults,
# planted secrets, a million random triples, a hundred thousand records that are taken back, and
# a hundred thousand server-side applies beside the API server's own field manager, and
# random requests to the model of the API server and to the real one, and a million scenarios
# played in that model, which also finds each defect again whose fix is taken out.
.PHONY: soak
soak: cluster-binaries
	go test -timeout 12h ./test/sweep -args -part=all
	go test -timeout 12h -run 'TestRandomTriples' ./test/sweep -args -part=all -sweep.n=$$((125000 * $(SOAK))) -sweep.seed=$$RANDOM
	go test -timeout 12h -v -run 'TestUndone' ./test/sweep -args -part=all -sweep.n=$$((250000 * $(SOAK))) -sweep.seed=$$RANDOM
	go test -timeout 12h -v -run 'TestSameOwner' ./test/sweep -args -part=all -sweep.n=$$((625000 * $(SOAK))) -sweep.seed=$$RANDOM
	go test -timeout 12h -v -run 'TestSequences|TestBeside|TestActors|TestDefaults|TestSweep|TestWriters|TestInterop|TestKilled|TestServerKilled|TestStorm|TestSilent|TestFaultsEverywhere|TestRollout|TestLawReadyServer|TestDriftIsExact|TestDriftWatched|TestUnownedIsSilent|TestLawBoundUndone' ./test/e2e -args -part=all -soak=$(SOAK)
	go test -timeout 12h -v ./test/sim/model -args -part=all -sim.n=$$((40000 * $(SOAK))) -sim.seed=$$RANDOM
	go test -timeout 12h -v -run TestSeeds ./test/sim/play -args -part=all -sim.n=$$((125000 * $(SOAK))) -sim.seed=$$((RANDOM * 1000000))
	go test -timeout 12h -v -run TestMutations ./test/sim/play -args -sim.mutations=all
	$(MAKE) --no-print-directory controller helm
	@echo "make soak: nothing was found"

# The server of each version is built once, from the modules that
# test/cluster/skew/VERSION.mod pins. 1.36 is what make test plays on.
SKEW ?= 1.34 1.35
.PHONY: skew
skew:
	@for version in $(SKEW); do \
		go -C test/cluster run . --build-only --kubernetes=$$version >/dev/null; \
		echo "the stories on Kubernetes $$version"; \
		E2E_KUBERNETES=$$version go test -count=1 -timeout $(TIMEOUT) -parallel $(PARALLEL) -run '^TestStories' ./test/e2e; \
	done

# kubectl, Helm, Flux and this program wait for the same objects at the same time;
# WRITE=1 puts the seconds of this run into docs/wait.md.
.PHONY: waiters
waiters: cluster-binaries
	go -C test/waiters test -tags sidebyside -count=1 -v -timeout $(TIMEOUT) -parallel $(PARALLEL) -run TestSideBySide $(if $(WRITE),-args -write)

# A controller over pkg/apply, Flux's and controller-runtime's ways beside it; WRITE=1 puts the writes of
# this run into docs/library.md. It is apart from make test since it compiles controller-runtime and Flux.
.PHONY: controller
controller: cluster-binaries
	go -C test/controller test -count=1 -timeout $(TIMEOUT) ./... $(if $(WRITE),-args -write)

# Charts that Helm 4 installs, others edit, files take over and Helm upgrades. It is apart from make test since it
# compiles Helm.
.PHONY: helm
helm: cluster-binaries
	go -C test/helm test -count=1 -timeout $(TIMEOUT) -parallel $(PARALLEL) ./...

.PHONY: vuln
vuln:
	go tool -modfile=tools/go.mod govulncheck ./cmd/kubectl-merge

.PHONY: lint
lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w is needed for:"; echo "$$unformatted"; exit 1; fi
	go mod tidy -diff
	go -C tools mod tidy -diff
	go vet ./...
	@for os in windows darwin; do echo "GOOS=$$os go vet ./cmd/... ./test/e2e ./test/bench"; GOOS=$$os go vet ./cmd/... ./test/e2e ./test/bench || exit 1; done
	go tool -modfile=tools/go.mod staticcheck ./...
	@for module in $(MODULES); do \
		echo "$$module: go mod tidy, go vet, staticcheck"; \
		(cd $$module && go mod tidy -diff && go vet ./... && go tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...) || exit 1; \
	done
	@dead=$$(go tool -modfile=tools/go.mod deadcode -test ./...) || exit 1; if [ -n "$$dead" ]; then echo "nothing calls:"; echo "$$dead"; exit 1; fi
	go tool -modfile=tools/go.mod actionlint
	@$(MAKE) --no-print-directory apidiff
	@echo "make lint: nothing to complain about"

.PHONY: lint-apart
lint-apart:
	@for module in $(APART); do \
		echo "$$module: go mod tidy, go vet, staticcheck"; \
		(cd $$module && go mod tidy -diff && go vet -tags sidebyside ./... && go tool -modfile=$(CURDIR)/tools/go.mod staticcheck -tags sidebyside ./...) || exit 1; \
	done

# What the public packages have changed since TAG, the last one. Only of pkg/apply is an incompatible
# change an error, until 1.0.0. Until there is a tag, pkg/api.txt and its test hold the names.
TAG ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
.PHONY: apidiff
apidiff:
	@[ -n "$(TAG)" ] || { echo "apidiff: there is no tag yet: pkg/api.txt holds the names"; exit 0; }; \
	old=$$(mktemp -d); trap 'rm -rf "$$old"' EXIT; mkdir "$$old/tree"; git archive "$(TAG)" | tar -xf - -C "$$old/tree"; \
	for package in apply diff lastapplied merge schema strategy; do \
		[ -d "$$old/tree/pkg/$$package" ] || continue; path=$$(go list -m)/pkg/$$package; \
		(cd "$$old/tree" && go tool -modfile=$(CURDIR)/tools/go.mod apidiff -w "$$old/$$package" "$$path") || exit 1; \
		changes=$$(go tool -modfile=tools/go.mod apidiff -incompatible "$$old/$$package" "$$path") || exit 1; \
		[ -n "$$changes" ] || continue; echo "pkg/$$package since $(TAG):"; echo "$$changes"; \
		[ $$package != apply ] || exit 1; \
	done

.PHONY: bench
bench: cluster-binaries
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# One table of one run: wall time, CPU, memory and requests, and which targets are
# met. BENCH_FLAGS are its own (-sizes, -rounds, -kubectl=false, -o FILE and others);
# WRITE=1 puts the table into docs/performance.md and the README.
BENCH_FLAGS ?=
.PHONY: bench-cluster
bench-cluster: build cluster-binaries
	go run ./test/bench -merge bin/kubectl-merge $(if $(WRITE),-write) $(BENCH_FLAGS)

# go test fuzzes one target of one package at a time.
.PHONY: fuzz
fuzz:
	@targets=$$(grep -rEo '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sed 's|/[^/]*:func | |' | sort -u); \
	while read -r package target; do \
		[ -n "$$target" ] || continue; \
		echo "fuzzing $$package $$target for $(FUZZTIME)"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
	done <<<"$$targets"

.PHONY: docs
docs:
	go run ./internal/docgen docs

# goreleaser pulls in the clients of every forge and cloud, so it is no tool of
# tools/go.mod: tools/goreleaser pins it and what it is made of, with checksums. It is
# built once, into a folder that git ignores.
GORELEASER := .tools/goreleaser
$(GORELEASER): tools/goreleaser/go.mod tools/goreleaser/go.sum
	go -C tools/goreleaser build -mod=readonly -o $(CURDIR)/$@ github.com/goreleaser/goreleaser/v2

# Neither network nor tag nor remote is needed once goreleaser is there. The program
# is built a second time in another place: it has to be the same, byte for byte. The
# copy belongs to whoever makes it (-o), or git tells goreleaser no commit.
.PHONY: release-check
release-check: $(GORELEASER) cluster-binaries
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean
	go run ./packaging/check dist
	@$(collect)
	go test -tags release -timeout $(TIMEOUT) -run TestInstalled ./test/e2e -args -dist $(CURDIR)/dist
	@again=$$(mktemp -d); trap 'rm -rf "$$again"' EXIT; \
	tar -cf - --exclude ./dist --exclude ./.tools --exclude ./bin . | tar -xof - -C "$$again"; \
	(cd "$$again"; $(CURDIR)/$(GORELEASER) build --snapshot --single-target --output "$$again/program"); \
	cmp "$$again/program" dist/kubectl-merge_$$(go env GOOS)_$$(go env GOARCH)*/kubectl-merge
	@if docker version >/dev/null 2>&1; then \
		docker build -q -f examples/in-cluster/Dockerfile -t kubectl-merge:check . && docker run --rm kubectl-merge:check version; \
	else echo "there is no docker: the image is not built; go test ./test/readme -run TestDockerfile reads its file"; fi
	@echo "make release-check: a release is as it should be"

# What a release consists of, in one folder: the workflow attests and publishes all of it.
collect = rm -rf dist/release && mkdir dist/release && cp dist/*.tar.gz dist/*.zip dist/*.deb dist/*.rpm dist/*.apk dist/*.spdx.json \
	dist/checksums.txt krew-manifest.yaml dist/homebrew/Casks/*.rb dist/scoop/*.json dist/release

# What the release workflow runs on a tag. It needs no secret and publishes nothing. The notes are
# the version's part of the changelog.
.PHONY: release
release: $(GORELEASER)
	$(GORELEASER) release --clean --skip=publish,announce
	go run ./packaging/check -write dist
	@$(collect)
	awk '/^## /{on = $$2 == substr(tag, 2)} on' tag="$${GITHUB_REF_NAME:?is the tag}" CHANGELOG.md > dist/release/notes.md
	@test -s dist/release/notes.md || { echo "CHANGELOG.md has no part for $$GITHUB_REF_NAME"; exit 1; }

# The manifest that krew installs VERSION by, as the release's archives will be.
VERSION ?= v0.1.0
.PHONY: krew-manifest
krew-manifest: $(GORELEASER)
	GORELEASER_CURRENT_TAG=$(VERSION) $(GORELEASER) release --clean --skip=publish,announce,validate
	go run ./packaging/check -write dist

.PHONY: pictures
pictures: cluster-binaries
	go test ./test/e2e -run TestPictures -args -update

.PHONY: demo
demo: build cluster-binaries
	@test/demo/play

.PHONY: cluster
cluster:
	@echo "Ctrl-D ends it; KUBECONFIG and kubectl are in the line below"
	@go -C test/cluster run .

.PHONY: clean
clean:
	rm -rf bin dist
