# kvsqld: a SQL database server in one binary. `make` alone prints the menu.

DATA   ?= kvsqld-data
LISTEN ?= 127.0.0.1:5433
CYCLES ?= 1000
CUTS   ?= 10000
N      ?= 100000
SEED   ?= 1
ROUNDS ?= 100
MINUTES ?= 30
TIMES  ?= 30
SIZE   ?= 0
# the time for one package's tests; a slow machine may need much
LIMIT  ?= 90m
LBS    := testdata/samples/lbs

.PHONY: menu
menu: ## print this menu
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/kvsqld, for the load of the profile that make profile writes
	go build -pgo=testdata/bench/kvsqld.pgo -o bin/kvsqld ./cmd/kvsqld

.PHONY: profile
profile: ## profile the server under a mixed load, for the compiler (needs pgbench)
	testdata/bench/profile.sh

.PHONY: run
run: build ## serve the sample data on 127.0.0.1:5433, loading it the first time
	@if [ ! -e $(DATA) ]; then \
	  echo "loading the sample data into $(DATA), once" && \
	  bin/kvsqld load --data $(DATA).new $(LBS)/schema.sql && \
	  bin/kvsqld import --data $(DATA).new --table city $(LBS)/cities.csv.gz && \
	  bin/kvsqld load --data $(DATA).new $(LBS)/derive.sql && \
	  mv $(DATA).new $(DATA) || { rm -rf $(DATA).new; exit 1; }; \
	fi
	@echo "try: psql -h $(firstword $(subst :, ,$(LISTEN))) -p $(lastword $(subst :, ,$(LISTEN))) -U postgres postgres -f $(LBS)/query.sql"
	bin/kvsqld serve --data $(DATA) --listen $(LISTEN)

.PHONY: test
test: ## run all tests
	go test -timeout $(LIMIT) ./...

.PHONY: lint
lint: ## gofmt, go vet and staticcheck
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt these files:"; echo "$$out"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

.PHONY: check
check: lint ## lint, import rules, all tests with the race detector
	go test -run TestArchitecture ./cmd/kvsqld
	go test -race -timeout $(LIMIT) ./...

.PHONY: golden
golden: ## rewrite the expectations of testdata/sql and show the difference
	go test -count=1 -run 'TestSQL/mem' ./cmd/kvsqld -rewrite
	git --no-pager diff --stat -- testdata/sql
	git --no-pager diff -- testdata/sql

.PHONY: fuzz
fuzz: ## run each fuzz target for a minute
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r f; do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
	    echo "$$target in $$(dirname $$f)"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime 1m $$(dirname $$f) || exit 1; \
	  done; \
	done

TARGETS := linux/386 linux/arm linux/arm64 freebsd/amd64 darwin/arm64 windows/amd64

.PHONY: build-all
build-all: ## compile for other systems and processors, tests included where integers have 32 bits
	@for t in $(TARGETS); do echo $$t; GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 go build ./... || exit 1; done
	GOOS=linux GOARCH=386 CGO_ENABLED=0 go vet ./...

.PHONY: docs
docs: ## write the table of supported functions, catalog/builtin/FUNCTIONS.md
	go test -count=1 -run 'TestFunctionTable$$' ./executor/expr -rewrite

.PHONY: slt
slt: ## run the sqllogictest files of DIR=… (EXCEPT=list, SERVER=postgres)
	@test -n "$(DIR)" || { echo "usage: make slt DIR=directory [EXCEPT=file] [SERVER=postgres]"; exit 2; }
	KVSQLD_SLT_DIR=$(abspath $(DIR)) KVSQLD_SLT_EXCEPT=$(if $(EXCEPT),$(abspath $(EXCEPT))) KVSQLD_SLT_SERVER=$(SERVER) \
	  go test -count=1 -timeout 0 -run 'TestSLTDirectory' -v ./cmd/kvsqld | grep -v '^=== '

.PHONY: diff
diff: ## compare the answers to testdata/diff (or DIR=…) with PostgreSQL's
	CI=true KVSQLD_COMPARE_DIR=$(if $(DIR),$(abspath $(DIR))) go test -count=1 -timeout 0 -run 'TestCompare|TestPostgres' -v ./cmd/kvsqld | grep -v '^=== '

.PHONY: random
random: ## compare random statements with PostgreSQL (N=100000 SEED=1)
	KVSQLD_DIFF_N=$(N) KVSQLD_DIFF_SEED=$(SEED) go test -count=1 -timeout 0 -run TestDifferential -v ./cmd/kvsqld

.PHONY: definitions
definitions: ## compare random definitions with PostgreSQL (N=100000 SEED=1)
	KVSQLD_DEFS_N=$(N) KVSQLD_DEFS_SEED=$(SEED) go test -count=1 -timeout 0 -run TestRandomDefinitions -v ./cmd/kvsqld

.PHONY: plays
plays: ## compare random statements of two or three sessions that meet with PostgreSQL (N=100000 SEED=1)
	KVSQLD_PLAYS_N=$(N) KVSQLD_PLAYS_SEED=$(SEED) go test -count=1 -timeout 0 -run TestRandomPlays -v ./cmd/kvsqld

.PHONY: conversations
conversations: ## compare random messages of the protocol with PostgreSQL (N=100000 SEED=1)
	KVSQLD_TALKS_N=$(N) KVSQLD_TALKS_SEED=$(SEED) go test -count=1 -timeout 0 -run TestRandomConversations -v ./cmd/kvsqld

.PHONY: matrix
matrix: ## compare casts, operators and functions of all types with PostgreSQL (SIZE=0: all, SEED=1, ONLY=pattern)
	CI=true KVSQLD_MATRIX=$(SIZE) KVSQLD_MATRIX_SEED=$(SEED) KVSQLD_MATRIX_ONLY='$(ONLY)' go test -count=1 -timeout 0 -run 'TestMatrix$$' -v ./cmd/kvsqld | grep -v '^=== '

.PHONY: crash
crash: ## kill the server under writes again and again (CYCLES=1000)
	KVSQLD_CRASH_CYCLES=$(CYCLES) go test -count=1 -timeout 0 -run TestCrash -v ./cmd/kvsqld

.PHONY: faults
faults: ## fail each operation on files of a mixed load, one after the other
	KVSQLD_ALL_FAULTS=1 go test -count=1 -timeout 0 -run 'TestFaults|TestRoomAgain|TestMappingFails' -v ./storage/boltkv

.PHONY: powerloss
powerloss: ## lose power again and again at random moments (CUTS=10000)
	KVSQLD_POWER_CUTS=$(CUTS) go test -count=1 -timeout 0 -run TestPowerLoss -v ./storage/boltkv

.PHONY: histories
histories: ## random concurrent transactions, checked against their isolation level (ROUNDS=100)
	KVSQLD_HISTORIES=$(ROUNDS) go test -count=1 -timeout 0 -run 'TestListHistories|TestRegisterHistories' -v ./cmd/kvsqld

.PHONY: autocommit
autocommit: ## single statements of all kinds at once on few rows; none may fail for it (MINUTES=30)
	KVSQLD_AUTOCOMMIT=$$(($(MINUTES) * 30)) go test -count=1 -timeout 0 -run TestAutocommitUnderLoad -v ./executor/session

.PHONY: pauses
pauses: ## tests under load, with pauses where others may come in between (TIMES=30)
	go test -tags pauses -count=$(TIMES) -timeout 0 -run 'UnderLoad|Beside|Writers|ConcurrentDDL|Exclude|Locks' ./executor/session ./storage/txn
	go test -tags pauses -count=$(TIMES) -timeout 0 -run 'Histories|ManyWriters|Concurrently|Twins|References|UniqueKeys' ./cmd/kvsqld

.PHONY: figures
figures: ## what waiting, checksums and a restart after a crash cost (writes 1 GB)
	KVSQLD_FIGURES=1 go test -count=1 -timeout 0 -run 'TestChecksumCost' -v ./storage/table | grep -v '^=== '
	KVSQLD_FIGURES=1 go test -count=1 -timeout 0 -run 'TestWaitersCostNothing|TestRestartAfterKill' -v ./cmd/kvsqld | grep -v '^=== '

.PHONY: soak
soak: ## 200 clients do everything at once, break and cancel; nothing may be left over (MINUTES=30)
	KVSQLD_SOAK=$(MINUTES) go test -count=1 -timeout 0 -run TestSoak -v ./cmd/kvsqld

.PHONY: large
large: ## posting lists of a million keys, arrays and objects of 100,000 elements
	KVSQLD_LARGE=1 go test -count=1 -timeout 0 -run 'TestLarge' -v ./executor/session

.PHONY: clients
clients: build ## run programs of real clients on kvsqld and on PostgreSQL and compare (ONLY='psql|django')
	testdata/clients/clients.sh

.PHONY: bench
bench: build ## compare with PostgreSQL on this machine (needs PostgreSQL 15)
	testdata/bench/bench.sh

.PHONY: bench-lbs
bench-lbs: build ## the location-based services, beside PostgreSQL and PostGIS (LBS_SIZES=1, LBS_USERS=10000)
	testdata/bench/lbs.sh

.PHONY: clean
clean: ## remove the binary and the sample data directory
	rm -rf bin $(DATA) $(DATA).new
