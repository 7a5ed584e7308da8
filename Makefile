# The tasks of this repository. "make help" lists them.
#
# Settings: PKG (packages, default all), BENCHFLAGS for bench (go run ./internal/bench -help), BENCH (pattern) and BENCHTIME for
# microbench, FUZZTIME (a target) for fuzz.

GO        ?= go
PYTHON    ?= python3
PKG       ?= ./...
BENCH     ?= .
BENCHTIME ?= 1s
FUZZTIME  ?= 5s
TOOL      := $(GO) tool -modfile=tools/go.mod

# The library and the command are pure Go; only the race detector needs cgo.
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help build test sweep race purego bench bench-peers microbench fuzz cover generate check-generated lint cross

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile everything; the command goes to bin/amudai
	$(GO) build ./...
	if [ -d cmd/amudai ]; then $(GO) build -trimpath -o bin/ ./cmd/amudai; fi

test: ## run the tests, sweeps over bits, cuts, faults and goldens in a strong selection
	$(GO) test $(PKG)

sweep: ## run the tests with all sweeps whole
	AMUDAI_SWEEP=1 $(GO) test -timeout 30m $(PKG)

# Tests that sweep over every bit, cut or fault do one thing at a time; so do those that compare whole goldens.
RACESKIP := Flip|Cut|Fault|Lies|Hostile|Golden|Damage|Recover|Kill

race: ## run the short tests of packages that share data between goroutines, with the race detector
	CGO_ENABLED=1 $(GO) test -race -short -skip '$(RACESKIP)' $$(tools/concurrent.sh)

purego: ## run the short tests of numbers without assembly of ours
	$(GO) test -short -tags purego ./internal/base/simd ./encoding/fastlanes ./encoding/template ./encoding/numeric ./encoding/bytestring ./internal/format/arrowmap/convert

bench: ## compare size, speed and memory with other formats on whole data sets (BENCHFLAGS="-sets all -rounds 3")
	$(GO) run ./internal/bench $(BENCHFLAGS)

bench-peers: ## the same, with pyarrow, DuckDB, Vortex and Lance as far as PYTHON has them
	$(GO) run ./internal/bench -peers $(PYTHON) $(BENCHFLAGS)

microbench: ## run the benchmarks beside the code (BENCH=pattern BENCHTIME=1s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 60m $(PKG)

fuzz: ## run every fuzz target for FUZZTIME (default 5s)
	tools/fuzz.sh $(FUZZTIME)

cover: ## run all tests, write coverage.out and print the coverage of each package
	$(GO) test -coverprofile=coverage.out $(PKG)
	$(GO) tool cover -func=coverage.out | tail -n 1

generate: ## regenerate gen/ from proto/ and fbs/, and what go:generate directives make
	tools/generate.sh

check-generated: ## fail if generated code is not current
	tools/generate.sh -check

lint: ## check format, go vet, staticcheck, buf lint and buf format
	tools/lint.sh

cross: ## compile everything, tests too, for other systems and processors
	tools/cross.sh
