# Everything here needs Go and nothing else, except what says so.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
REVIVE := github.com/mgechev/revive@v1.13.0

DATA     ?= data
LISTEN   ?= 127.0.0.1:8000
FUZZTIME ?= 10s
export FUZZTIME

# A checkout may have no history to ask for a version.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOFLAGS_BUILD := -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.DEFAULT_GOAL := help
.PHONY: help generate console run build reproducible test race lint fuzz bench guests quickjs examples clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

generate: ## all that sdk/abi/contract.json says, written into every language and table
	@go run ./sdk/abi/generate

console: ## the files of the page at /app/d, of the sources in core/console (needs npm)
	@.ci/console build

run: build ## build everything needed and serve ./data on 127.0.0.1:8000
	@mkdir -p $(DATA)/plugins
	bin/armature plugin build examples/todo -o $(DATA)/plugins/todo.wasm
	bin/armature serve --data $(DATA) --listen $(LISTEN)

build: ## bin/armature, the one binary
	CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o bin/armature ./cmd/armature

reproducible: ## bin/armature twice, in different folders: the same bytes?
	@.ci/reproducible

test: ## every module's tests; says what was skipped
	@.ci/test $(TESTFLAGS)

race: ## the same with the race detector (needs a C compiler)
	@.ci/test -race

lint: ## gofmt, go vet for three systems, staticcheck
	@STATICCHECK=$(STATICCHECK) REVIVE=$(REVIVE) .ci/lint

fuzz: ## every fuzz target for FUZZTIME (10s)
	@.ci/fuzz

bench: build examples ## the whole server beside a bare one, on SQLite and PostgreSQL
	@.ci/bench $(BENCHFLAGS)

guests: build ## the conformance guest of every language, twice: the same bytes? and how many
	@.ci/guests

quickjs: ## fetch the JavaScript engine again and compare it (needs npm)
	@.ci/quickjs

examples: build ## every example plugin, into bin/examples
	@.ci/examples

clean: ## remove what the other targets made, except ./data
	rm -rf bin
