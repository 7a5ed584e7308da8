# The tasks of this repository. "make help" lists them.
#
# Settings: PKG (packages, default all); BENCHFLAGS for bench ("go run -C bench . -help" lists them); BENCH (pattern) and
# BENCHTIME for microbench; FUZZTIME (for each target) for fuzz; PYTHON, NODE and NODE_MODULES (a folder with jsroot,
# @oneidentity/zstd-js and azurite) and GCS (fake-gcs-server) for the targets interop-*, of which "make interop" installs what they need.

GO        ?= go
PYTHON    ?= python3
NODE      ?= node
NODE_MODULES ?= node_modules
GCS       ?= fake-gcs-server
XROOTD    ?= xrootd
PKG       ?= ./...
BENCH     ?= .
BENCHTIME ?= 1s
FUZZTIME  ?= 5s
TOOL      := $(GO) tool -modfile=tools/go.mod

# The library and the command are pure Go; only the race detector needs cgo.
export CGO_ENABLED ?= 0

# Without the traces of gRPC, which Arrow brings along, no template looks for methods by name, and the linker leaves out a sixth of the
# command.
SMALL := -tags grpcnotrace

# Random tests draw the same values in each run, so that what passes here passes in CI. RAPID_SEED=0 draws others.
export RAPID_SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help build command sql test test-sql test-bench random sweep race purego interop interop-formats interop-stores interop-python interop-spark wheel wheels release release-check apidiff startup bench figures bench-peers bench-unseen bench-questions bench-search bench-sql bench-stores microbench fuzz cover generate check-generated lint cross

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: command ## compile everything; the command goes to bin/amudai
	$(GO) build ./...

# Alone, as "make interop" has several targets at a time that need it.
command:
	$(GO) build -trimpath $(SMALL) -o bin/ ./cmd/amudai

# Without go vet, which lint runs once.
test: ## run all tests, with a selection of each sweep over bits, cuts, faults and golden files (under 4 minutes)
	$(BUSY) $(GO) test -vet=off $(TIMEOUT) $(SLOWEST) $(PKG)
	$(GO) test -C internal/testing/outside -vet=off $(TIMEOUT) ./...

test-bench: ## run the tests of the benchmark, a module of its own
	$(GO) test -C bench $(TIMEOUT) ./...

# The module sql has DuckDB, in C++. Its package for Arrow needs a tag.
SQL := CGO_ENABLED=1 $(GO)
SQLTAGS := -tags duckdb_arrow,grpcnotrace
TPCHGEN = AMUDAI_TPCHGEN=$$($(PYTHON) -c 'import shutil, sys, os; print(shutil.which("tpchgen-cli", path=os.path.dirname(sys.executable)) or "")')

sql: ## compile the engine of "amudai sql" to bin/amudai-sql, beside the command (needs a C++ compiler)
	$(SQL) build -C sql -trimpath $(SQLTAGS) -ldflags '-s -w' -o ../bin/ ./cmd/amudai-sql

test-sql: command sql ## test the module sql, and the sessions of docs/sql.md (PYTHON with tpchgen-cli for the questions of TPC-H)
	$(SQL) vet -C sql $(SQLTAGS) ./...
	AMUDAI_PROGRAM=$(abspath bin/amudai) $(TPCHGEN) $(SQL) test -C sql -count=1 $(SQLTAGS) $(TIMEOUT) ./...

# Tests hold little memory for short times: the collector took a quarter of their time.
BUSY := GOGC=300
# These begin first, so that they do not end alone.
SLOWEST := $(if $(filter ./...,$(PKG)),./internal/testing/lifetest ./shard ./cmd/amudai/internal/command ./blockpack)

# One limit for test and sweep, so that the results of packages without sweeps are taken from the cache.
TIMEOUT := -timeout 60m

random: ## run all tests with random values drawn anew, ten times as many
	RAPID_SEED=0 RAPID_CHECKS=1000 $(GO) test -count=1 -short -timeout 60m $(PKG)

SWEEP ?= 1
sweep: ## run all tests with complete sweeps, or with SWEEP=6 about every sixth case
	AMUDAI_SWEEP=$(SWEEP) $(GO) test $(TIMEOUT) $(PKG)

# Matrices of layouts, types, codecs and changes one after the other take the paths between goroutines that their first cases take, which other tests take, too.
RACELONG := FirstRead|TestRelocate$$|RelocateParts$$|AddIndexJoins|SplitBytes|PackedGroups|PackedTables|Decimals64|TestImport(Files|Answers|Types)|NumberedTexts|StructsComeBack|FilterAcrossBlocks|TestSmallBatches|FewDeleted|TestCluster$$|TestPack$$|ChangesInTurn|EveryType|DeepNesting|MergeWidens|TestSequences|TestTwoWriters|TestCloud$$|DeletedRowsAreNotShown|DeletedSpans|DiffFormats|TestTruncated|HTTPRank|HTTPNeedle|AggDecimals|MergeEncodings|VerifySound|WriteTypes|WriteSameBytes

# Sweeps over bits, cuts and faults use one goroutine, and so do comparisons of whole golden files, long texts and random cases. The detector
# takes memory of its own.
RACESKIP := Exchanged|Flip|Cut|Fault|Lie|Hostile|Golden|Damage|Recover|Kill|Inverted|Truth|Bench|Demo|HashIndex|StripeIndex|JSONIndex|Misplaced|Corpus|PeakMemory|WrittenValues|TestSizes|DropTraces|BatchesOf|NamesTheBit$$|Frozen|Mutants|SelectRandom|TestSearch$$|WideWriters|TemporaryFiles|SecretsOf|TestRoundTrips$$|BlockValues|StaleIndex|IndexAnswers|TestMemory|TestQuestions|AgainstOracle|AgainstEval|ChunksGiveMemoryApart|QuantilesOfSamples|FrequentValues|TestFilters|AlternativesWritten|WriteNumberDictionaries|ConditionsOnLengths|TestNullsApart|TestUnionsWithOffsets|TestRandomQuestions|BytesDependOnSpansOnly|ManyAttributes|TestLarge|EveryTerm|$(RACELONG)

race: ## run the short tests of packages that share data between goroutines, with the race detector
	CGO_ENABLED=1 $(BUSY) $(GO) test -race $(TIMEOUT) -short -skip '$(RACESKIP)' ./shard $(STORETESTS) $$(tools/concurrent.sh)

purego: ## run the short tests of kernels in plain Go, without assembly
	$(GO) test -short -tags purego ./internal/base/search ./internal/base/simd ./encoding/internal/fastlanes ./encoding/internal/template ./encoding/internal/radixpack ./encoding/numeric ./encoding/bytestring ./internal/format/arrowmap/convert ./rntuple/internal/column

interop: ## run all targets interop-*, and install what they need: programs by apt-get, packages of Python and Node into a temporary folder
	tools/interop.sh

interop-formats: command ## hold RNTuples and trees to what uproot (PYTHON) and JSROOT 7.11.2 (NODE, NODE_MODULES) read, values to those of DuckDB (PYTHON), spans to OpenTelemetry's SDK (PYTHON), and what terminals show (tmux)
	AMUDAI_PROGRAM=$(abspath bin/amudai) AMUDAI_PYTHON=$(PYTHON) AMUDAI_NODE=$(NODE) AMUDAI_NODE_MODULES=$(abspath $(NODE_MODULES)) \
		$(GO) test -count=1 $(TIMEOUT) -run Interop -skip 'Interop(S3|Azure|Google)' ./rntuple ./internal/engine/compute ./cmd/amudai/internal/command

interop-stores: command sql ## hold s3:// to moto (PYTHON with moto[server]), az:// to Azurite (NODE, NODE_MODULES) and gs:// to fake-gcs-server (GCS), by a proxy that cuts, delays, refuses and lies; also SQL, Python and Spark on them; root:// to XRootD's server (XROOTD)
	$(GO) test -run '^$$' $(STORETESTS)
	$(MAKE) --no-print-directory -j -O interop-S3 interop-Azure interop-Google
	AMUDAI_XROOTD=$(XROOTD) $(GO) test -v -count=1 -run Interop ./storage/xrootd

# Stores wait for one another in none of their tests, and for answers in all of them.
STORETESTS := ./cmd/amudai/internal/command ./internal/testing/lifetest
.PHONY: interop-S3 interop-Azure interop-Google
interop-S3 interop-Azure interop-Google:
	AMUDAI_PROGRAM=$(abspath bin/amudai) AMUDAI_PYTHON=$(PYTHON) AMUDAI_NODE=$(NODE) AMUDAI_NODE_MODULES=$(abspath $(NODE_MODULES)) AMUDAI_GCS=$(GCS) \
		$(GO) test -v -count=1 -timeout 60m -run 'Interop$(@:interop-%=%)$$' $(STORETESTS)

interop-python: command ## test the Python package (PYTHON has its extras, pytest, mypy and ruff), and its wheel
	cd python && $(PYTHON) -m ruff check . && $(PYTHON) -m ruff format --check . && $(PYTHON) -m mypy
	cd python && AMUDAI_PROGRAM=$(abspath bin/amudai) $(PYTHON) -m pytest -q
	tools/wheel.sh -test $(PYTHON)

SPARK_ENGINES ?= local[2] local-cluster[2,1,1024] sail sail-cluster
interop-spark: command ## test the data source of PySpark on Spark and Sail (PYTHON has pyspark[connect], pysail, duckdb and tpchgen-cli)
	cd python/spark_tests && for engine in $(SPARK_ENGINES); do echo "$$engine"; \
		some=; case "$$engine" in *cluster*) some=write ;; esac; \
		AMUDAI_ENGINE="$$engine" AMUDAI_PROGRAM=$(abspath bin/amudai) PYTHONPATH=../src $(PYTHON) -m pytest -q -k "$$some" || exit; done

wheel: ## build the wheel of the Python package for this machine, in python/dist; hatchling is installed if PYTHON lacks it
	tools/wheel.sh $(PYTHON)

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
wheels: ## build the wheels for all platforms, each of which compiles everything anew
	tools/wheel.sh $(PYTHON) $(PLATFORMS)

release: ## build archives, wheels, bills of materials and checksums of all platforms, in dist
	tools/release.sh $(PYTHON)

release-check: ## build a release twice from the last commit, and fail unless all bytes are equal
	tools/release.sh -check $(PYTHON)

apidiff: ## fail if the exported API has changed incompatibly since the last release, except as tools/api-changes says
	tools/apidiff.sh

startup: command ## print what amudai version takes: seconds, and kB of memory, most of which are pages of the program in the page cache
	for i in 1 2 3; do /usr/bin/time -f '%e s, %M kB' bin/amudai version >bin/version.txt || exit; done; rm bin/version.txt

bench: ## compare size, speed and memory with other formats on whole data sets (BENCHFLAGS="-sets all -rounds 3")
	$(GO) run -C bench . $(BENCHFLAGS)

figures: ## write docs/figures.json, which bench made with -json, into the tables of the documents
	$(GO) run -C bench . -render ../docs/figures.json ../README.md ../docs/performance.md

bench-peers: ## like bench, with those of pyarrow, DuckDB, Vortex and Lance that PYTHON has
	$(GO) run -C bench . -peers $(PYTHON) $(BENCHFLAGS)

bench-unseen: ## measure tables that nobody had seen beside pyarrow, Vortex and Lance of PYTHON, and write their table (BENCHFLAGS="-data DIR", with their Arrow files)
	$(GO) run -C bench . -peers $(PYTHON) -sets unseen -ops write,scan,take -json ../docs/figures.json $(BENCHFLAGS)
	$(MAKE) figures

bench-questions: ## ask ClickBench's 43 questions on data made like its table, shards and Parquet beside DuckDB, which PYTHON has
	$(GO) run -C bench . -questions -peers $(PYTHON) $(BENCHFLAGS)

bench-search: ## search a million log lines and a million texts, beside Tantivy, Lance and ripgrep, as far as PYTHON has them (BENCHFLAGS="-data DIR", with other logs in DIR/search, and for indexes that stay)
	$(GO) run -C bench . -search -peers $(PYTHON) $(BENCHFLAGS)

bench-sql: ## ask the 22 questions of TPC-H (SCALE=1) of shards, of Parquet files and of DuckDB's file, all by DuckDB (PYTHON with tpchgen-cli; 2 GB of disk in TMPDIR)
	$(TPCHGEN) $(SQL) test -C sql -run '^$$' -bench TPCH -benchtime $(or $(ROUNDS),3)x $(SQLTAGS) $(TIMEOUT) . -scale $(or $(SCALE),1)

bench-stores: command ## ask a shard in a store that answers late, beside Polars and pyarrow of PYTHON: requests, rounds, bytes (SHARD, PARQUET; LATENCY=0.2)
	$(PYTHON) bench/peers/stores.py --amudai bin/amudai --shard $(SHARD) --parquet $(PARQUET) --latency $(or $(LATENCY),0.2)

# Folders of the packages that have benchmarks, a fifth of all: the tests of others are not compiled for it.
BENCHED = $$($(GO) list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}' $(PKG) | xargs grep -l '^func Benchmark' | xargs -n1 dirname | sort -u)

microbench: ## run the benchmarks of Go packages (BENCH=pattern BENCHTIME=1s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 60m $(BENCHED)

fuzz: ## run every fuzz target for FUZZTIME (default 5s)
	tools/fuzz.sh $(FUZZTIME)

cover: ## run all tests, write coverage.out and print the total coverage
	$(GO) test -coverprofile=coverage.out $(PKG)
	$(GO) tool cover -func=coverage.out | tail -n 1

generate: ## generate gen/ from proto/ and fbs/, and run all go:generate directives
	tools/generate.sh

check-generated: ## fail if generated code is out of date
	tools/generate.sh -check

lint: ## check format, go vet, staticcheck, buf lint and buf format
	tools/lint.sh

cross: ## check the types of everything and its tests for other systems and processors
	tools/cross.sh
