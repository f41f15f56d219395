# Everything here works in a fresh clone with only Go installed, unless a target says what else it needs. "make test"
# needs PostgreSQL, which it finds, starts or installs (docs/TESTING.md).

GO        ?= go
BIN       := bin
LINTER    := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0

.PHONY: help fetch build install release image run test freeze test-packages test-release test-image test-races test-faults test-failover test-proxies test-chart test-browser lint lint-openapi lint-migrations lint-workflows check-alerts check-compatibility check-licences check-vulnerabilities check-generated fuzz fuzz-http bench bench-quick bench-db bench-nodes bench-copy generate clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 21

# The program, its tests and the linters share these flags, so that each package is compiled once. Without nomsgpack, gin
# would add six megabytes of MessagePack, which nothing here uses.
export CGO_ENABLED := 0
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -tags=nomsgpack

build: ## build bin/gluepot, statically and without cgo
	@test -e $(BIN)/gluepot || echo "Building $(BIN)/gluepot. The first time, Go fetches and compiles some 700 packages: a few minutes."
	$(GO) build -v -ldflags="-s -w" -o $(BIN)/gluepot ./bootstrap/cmd/gluepot

install: build ## copy bin/gluepot to PREFIX=/usr/local
	install -D -m 755 $(BIN)/gluepot $(DESTDIR)$(or $(PREFIX),/usr/local)/bin/gluepot

# PLATFORMS="linux/amd64 darwin/arm64" selects platforms. Without a version, the release is a snapshot of the commit.
release: ## build the archives, packages and SBOMs of VERSION=v1.2.3 for Linux, macOS and Windows in bin/release (needs GNU tar and zip)
	VERSION=$(VERSION) PLATFORMS="$(PLATFORMS)" OUT=$(or $(OUT),$(BIN)/release) .ci/release

freeze: ## store the migrations and filled databases of VERSION=v0.1.0, for tests of later versions (needs pg_dump)
	@[ -n "$(VERSION)" ] || { echo "Name the version: make freeze VERSION=v0.1.0" >&2; exit 1; }
	$(GO) run ./tests/postgres $(GO) test -count 1 -run '^TestFreeze$$' ./tests/integration -freeze $(VERSION)

test-packages: ## build packages, and install, upgrade, remove and purge them in a container (needs Docker; Debian: apt-get install rpm)
	.ci/test-packages

test-release: ## build a release for this platform twice, and compare the bytes
	.ci/test-release

# PLATFORM=linux/arm64 is cross-compiled. Nothing is fetched: the certificates are this machine's.
IMAGE           ?= gluepot:latest
PLATFORM        ?= linux/$(shell $(GO) env GOARCH)
CA_CERTIFICATES ?= /etc/ssl/certs/ca-certificates.crt

image: ## build the container image IMAGE=gluepot:latest from the static binary
	rm -rf $(BIN)/image && mkdir -p $(BIN)/image/writable/data $(BIN)/image/writable/tmp && chmod 700 $(BIN)/image/writable/*
	GOOS=linux GOARCH=$(notdir $(PLATFORM)) $(GO) build -ldflags="-s -w" -o $(BIN)/image/gluepot ./bootstrap/cmd/gluepot
	GOOS=linux GOARCH=$(notdir $(PLATFORM)) .ci/licences >$(BIN)/image/THIRD_PARTY_LICENSES
	install -m 644 $(CA_CERTIFICATES) $(BIN)/image/ca-certificates.crt
	docker build --platform $(PLATFORM) -t $(IMAGE) -f Dockerfile $(BIN)/image

test-image: ## build the image and run it with Docker: it becomes healthy, stops, keeps its data, works with PostgreSQL
	.ci/test-image

# Settings of a real installation in the environment do not affect the demonstration. The program replaces the shell, so
# that make does not report Ctrl-C as an error.
run: build ## serve demonstration data at 127.0.0.1:8080 from its own SQLite database
	@exec env GLUEPOT_DATABASE_READ_URL= GLUEPOT_DATABASE_READ_URL_FILE= \
	$(BIN)/gluepot serve --demo --database-url sqlite://data/demo.db --database-migrate

# The race detector leaves out SQLite's engine, a translation from C whose memory it does not know (docs/decisions/0031).
# GORACE keeps processes from sleeping for a second before they exit.
RACE := -race -ldflags="-s -w" -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false

# The packages share a PostgreSQL server, so that they can run at the same time: if each started a container, the reaper of
# one might end the container of another. The slowest packages come first.
PACKAGES = ./tests/e2e ./tests/integration ./tests/contract $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | \
	grep -vE '/tests/(e2e|integration|contract|faults|browser|failover|proxies|chart)$$')

# Tests mostly wait for databases and processes, so four of a package run at the same time. "make lint" vets them.
test: ## run every test
	@began=$$(date +%s); packages=$$(echo $(PACKAGES)); output=$$(mktemp); \
	{ $(GO) run ./tests/postgres $(GO) test -vet=off -parallel 4 -ldflags="-s -w" -timeout 20m $$packages && echo passed >>$$output.passed; } | \
		tee $$output; \
	result=FAILED; [ ! -e $$output.passed ] || result=ok; \
	echo "The slowest packages:"; grep -E '^(ok|FAIL).*[0-9]s$$' $$output | awk '{print "  " $$3, $$2}' | sort -rn | head -5; \
	rm -f $$output $$output.passed; \
	echo "make test: $$result, $$(echo $$packages | wc -w) packages on PostgreSQL and SQLite in $$(($$(date +%s) - began)) s." \
		"Not run: test-faults, test-failover, test-proxies, test-chart, test-browser."; \
	[ $$result = ok ]

# These packages start no goroutines. The program that other tests start contains them, too.
SEQUENTIAL := domain/.*|application/moderation|adapters/(cli|client|detection|gormstore/model|httpapi/wire|internal/(filename|view)|linediff|pages|pages/(account|admin|editor|lists|markdown|marks|pastes)|pastemyst|tracing)|tests/(architecture|openapi)

# It compiles first, and runs two tests of a package at a time: with more, or beside a compiler, tests run out of time.
test-races: export CGO_ENABLED = 1
test-races: export GORACE = atexit_sleep_ms=20
test-races: ## run every test with the race detector, also in the program that tests start (needs a C compiler)
	$(GO) build $(RACE) ./...
	$(GO) run ./tests/postgres $(GO) test -vet=off $(RACE) -parallel 2 -timeout 30m \
		$$(for package in $(PACKAGES); do echo $$package; done | grep -vE '/gluepot/($(SEQUENTIAL))$$')

test-faults: ## kill, freeze, fill and starve what Gluepot depends on, under load (five minutes; prints a table)
	$(GO) test -count 1 -parallel 2 -timeout 20m -v ./tests/faults

# SCENARIO=killed_primary runs one scenario. DOCS=docs writes the table into docs/SCALING.md.
test-failover: export GLUEPOT_TEST_POSTGRES = local
test-failover: ## lose the primary in several ways, with Patroni, etcd, HAProxy and PgBouncer (five minutes; prints a table)
	$(GO) test -count 1 -timeout 20m -v ./tests/failover $(if $(SCENARIO),-run '^TestFailover$$/^(migrate|$(SCENARIO))$$') \
		$(if $(DOCS),-args -docs $(abspath $(DOCS)))

# It mostly waits: for nodes that stop, and for a slow upload.
test-proxies: ## run the proxies with the files of docs/operations/proxies (Debian: apt-get install nginx caddy haproxy apache2-bin)
	$(GO) run ./tests/postgres $(GO) test -count 1 -parallel 8 -timeout 10m ./tests/proxies

# Outside the repository, as REDOCLY is.
HELM := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/helm-v3.22.0
KUBECONFORM := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/kubeconform-v0.7.0
KUBERNETES := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/kubernetes-v1.37.2.json

test-chart: $(HELM) $(KUBECONFORM) $(KUBERNETES) ## render the Helm chart, and validate it and the manifests against the schemas of Kubernetes
	$(GO) test -count 1 -timeout 5m ./tests/chart -helm $(HELM) -kubeconform $(KUBECONFORM) -swagger $(KUBERNETES)

$(HELM): PACKAGE := helm.sh/helm/v3/cmd/helm
$(KUBECONFORM): PACKAGE := github.com/yannh/kubeconform/cmd/kubeconform
$(HELM) $(KUBECONFORM):
	GOBIN=$(@D) $(GO) install -ldflags="-s -w" $(PACKAGE)@$(lastword $(subst -, ,$(@F)))
	mv $(@D)/$(firstword $(subst -, ,$(@F))) $@

# Only this file of the module is needed.
$(KUBERNETES):
	mkdir -p $(@D)
	cp "$$(cd / && $(GO) mod download -json k8s.io/kubernetes@$(basename $(lastword $(subst -, ,$(@F)))) | sed -n 's/^.*"Dir": "\(.*\)",$$/\1/p')/api/openapi-spec/swagger.json" $@
	chmod 644 $@

# Outside the repository, as REDOCLY is.
AXE_VERSION := 4.14.1
AXE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/axe-core-$(AXE_VERSION)

SCREENSHOTS ?= $(CURDIR)/$(BIN)/screenshots

test-browser: $(AXE)/node_modules/axe-core/axe.min.js ## test the pages in headless Chromium; SCREENSHOTS=bin/screenshots (Debian: apt-get install chromium-headless-shell npm)
	$(GO) test -count 1 -timeout 10m ./tests/browser -screenshots "$(SCREENSHOTS)" -axe $<

$(AXE)/node_modules/axe-core/axe.min.js:
	@command -v npm >/dev/null || { echo "These tests need axe-core, and npm to install it. Debian: apt-get install npm" >&2; exit 1; }
	npm install --prefix $(AXE) --ignore-scripts --no-audit --no-fund axe-core@$(AXE_VERSION)

lint: $(LINTER)-$(LINT_VERSION) ## run the linters and check that the modules are tidy
	$(GO) mod tidy -diff
	$(LINTER)-$(LINT_VERSION) run --allow-serial-runners ./...

$(LINTER)-$(LINT_VERSION):
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(LINTER) $@

# Outside the repository, so that no tool takes its packages for ours.
REDOCLY_VERSION := 2.77.0
REDOCLY := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/redocly-$(REDOCLY_VERSION)

lint-openapi: $(REDOCLY)/node_modules/.bin/redocly ## lint the OpenAPI document (needs Node.js)
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $< lint --config adapters/httpapi/redocly.yaml adapters/httpapi/openapi.yaml

$(REDOCLY)/node_modules/.bin/redocly:
	npm install --prefix $(REDOCLY) --ignore-scripts --no-audit --no-fund @redocly/cli@$(REDOCLY_VERSION)

SQUAWK_VERSION := 2.66.0
SQUAWK := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gluepot/squawk-$(SQUAWK_VERSION)

lint-migrations: $(SQUAWK)/node_modules/.bin/squawk ## check the locks of new PostgreSQL migrations (needs Node.js)
	.ci/lint-migrations $<

$(SQUAWK)/node_modules/.bin/squawk:
	npm install --prefix $(SQUAWK) --ignore-scripts --no-audit --no-fund squawk-cli@$(SQUAWK_VERSION)

lint-workflows: ## check the workflows of .github
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# The npm packages that .ci/run needs.
fetch: $(REDOCLY)/node_modules/.bin/redocly $(SQUAWK)/node_modules/.bin/squawk $(AXE)/node_modules/axe-core/axe.min.js

check-compatibility: ## fail if clients of the last tag would break, unless VERSION=v2.0.0 may break them (docs/versioning.md)
	VERSION=$(VERSION) .ci/check-compatibility

check-licences: ## list the licences of all linked modules, and fail if one is not compatible with MIT
	$(GO) test -count 1 -v -run '^TestLicences$$' ./tests/architecture

# Without vuln.go.dev, use a copy of its database: DB=file:///a/folder.
check-vulnerabilities: ## fail if the program calls code with a known vulnerability (needs vuln.go.dev)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(if $(DB),-db $(DB)) ./bootstrap/cmd/gluepot

# Needs promtool and Prometheus (Debian: apt-get install prometheus).
check-alerts: ## check the alert rules and the dashboard of docs/operations
	promtool check rules docs/operations/alerts.yaml
	promtool test rules docs/operations/alerts_test.yaml
	$(GO) test -count 1 -run '^TestDashboard$$' ./tests/e2e

fuzz: ## fuzz each parser of foreign input for 20 seconds
	$(GO) test -run '^$$' -fuzz FuzzParseName -fuzztime 20s ./domain/user
	$(GO) test -run '^$$' -fuzz FuzzReadings -fuzztime 20s ./adapters/httpapi/wire
	$(GO) test -run '^$$' -fuzz FuzzHeaders -fuzztime 20s ./adapters/httpapi
	$(GO) test -run '^$$' -fuzz FuzzCreate -fuzztime 20s ./adapters/httpapi
	$(GO) test -run '^$$' -fuzz FuzzEdit -fuzztime 20s ./adapters/httpapi
	$(GO) test -run '^$$' -fuzz FuzzForms -fuzztime 20s -fuzzminimizetime 10x ./adapters/pages/editor
	$(GO) test -run '^$$' -fuzz FuzzFind -fuzztime 20s ./adapters/catalogue
	$(GO) test -run '^$$' -fuzz FuzzURL -fuzztime 20s ./adapters/gormstore/db
	$(GO) test -run '^$$' -fuzz FuzzRecords -fuzztime 20s ./adapters/pastemyst
	$(GO) test -run '^$$' -fuzz FuzzEdit -fuzztime 20s ./domain/paste
	$(GO) test -run '^$$' -fuzz FuzzRevert -fuzztime 20s ./domain/paste
	$(GO) test -run '^$$' -fuzz FuzzUnified -fuzztime 20s ./adapters/linediff

fuzz-http: ## send a million raw requests and check the answers; SEED=N repeats a run
	GLUEPOT_TEST_HTTP_REQUESTS=$(or $(REQUESTS),1000000) GLUEPOT_TEST_HTTP_SEED=$(or $(SEED),$$(date +%s)) \
		$(GO) test -count 1 -timeout 60m -v -run TestRawRequests ./tests/fuzzhttp

# Needs wrk (Debian: apt-get install wrk). OUT=FILE writes the rows there as JSON.
bench: build ## compare with other programs and rewrite docs/BENCHMARKS.md (half an hour, 10 GB of disk)
	$(GO) run ./tests/bench -docs docs $(if $(OUT),-out $(OUT))

# PASTES=10000000 sets the size of the database, and ROWS='raw text' selects rows by name. DOCS=docs rewrites
# docs/BENCHMARKS.md.
bench-quick: build ## run a shorter benchmark on less data, and print it (six minutes)
	$(GO) run ./tests/bench -quick $(if $(PASTES),-pastes $(PASTES)) $(if $(ROWS),-rows '$(ROWS)') $(if $(DOCS),-docs $(DOCS)) $(if $(OUT),-out $(OUT))

# As root, it gives PostgreSQL huge pages. SIZES=10000,1000000 sets the numbers of pastes.
# DOCS=docs writes the tables into docs/SCALING.md and docs/BENCHMARKS.md.
bench-db: build ## measure answers and the size of databases with 10 thousand to 10 million pastes (25 minutes, 15 GB of disk)
	$(GO) run ./tests/bench -growth $(if $(SIZES),-sizes $(SIZES)) $(if $(DOCS),-docs $(DOCS)) $(if $(OUT),-out $(OUT))

# Needs wrk and PgBouncer (Debian: apt-get install wrk pgbouncer), and root to limit the nodes. DOCS=docs writes the table
# into docs/SCALING.md.
bench-nodes: build ## measure one to three nodes on one database, with PgBouncer and without (six minutes)
	$(GO) run ./tests/bench -nodes $(if $(DOCS),-docs $(DOCS)) $(if $(OUT),-out $(OUT))

# PASTES=10000000 takes ten times as long.
bench-copy: build ## measure "gluepot copy", from SQLite to PostgreSQL and back (two minutes)
	$(GO) run ./tests/bench -copies $(or $(PASTES),1000000) $(if $(OUT),-out $(OUT))

check-generated: ## fail if generated pages, scripts or pictures differ from their sources (needs Node.js)
	$(GO) generate -run templ ./adapters/pages/...
	$(GO) generate ./adapters/pages/site ./bootstrap/program ./tests/listclient
	git diff --exit-code -- '*.templ' '*_templ.go' adapters/pages/site docs/ARCHITECTURE.md tests/listclient
	@new=$$(git ls-files --others --exclude-standard adapters/pages/site); [ -z "$$new" ] || { echo "not committed: $$new" >&2; exit 1; }

generate: ## regenerate all generated files (needs Node.js)
	$(GO) generate ./...

clean: ## remove build results and the demonstration's database
	rm -rf $(BIN)
	rm -f data/demo.db data/demo.db-*
