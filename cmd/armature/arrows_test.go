package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// module is the path under which our own packages are imported.
const module = "armature/"

// arrow says what of ours some packages may import. Paths are relative to the
// module; a final /... takes in what is below.
type arrow struct {
	from    string
	may     []string // and nothing else of ours; empty: nothing at all
	because string
}

var arrows = []arrow{
	{"core/fault", nil, "every layer speaks in kinds of errors, so they may depend on none"},
	{"core/scope", nil, "a token and a plugin are narrowed in one language, below everything that asks"},
	{"core/identity", []string{"core/scope"}, "a Caller goes through every layer unchanged"},
	{"core/query", []string{"core/fault"}, "the tree knows no SQL, HTTP or DocType"},
	{"core/account", []string{"core/fault"}, "whoever takes much memory asks for it there, so it knows none of them"},
	{"core/fair", nil, "whoever shares something among sites takes turns there"},
	{"core/notice", nil, "whoever has something to say to the user says it there"},
	{"core/metrics", []string{"core/account"}, "who counts something brings it here"},
	{"core/serve", nil, "it puts any handler on the network"},
	{"core/trace", nil, "every layer says what it does, to whoever listens"},
	{"core/trace/otlp", []string{"core/trace"}, "who listens knows nothing of those it listens to"},
	{"core/site", nil, "everything hangs off a site, so a site may hang off nothing"},
	{"core/doctype", []string{"core/query", "core/fault"},
		"what documents are is known below everybody who does something with them"},
	{"core/access", []string{"core/doctype", "core/query", "core/identity", "core/scope", "core/fault"},
		"whether a caller may is asked of rules and documents, whoever keeps them"},
	{"core/document", []string{"core/account", "core/doctype", "core/query", "core/access", "core/identity", "core/scope", "core/fault"},
		"the one door declares the Store and the Hooks it needs; it imports neither"},
	{"core/doctypes", []string{"core/document", "core/access", "core/doctype", "core/identity", "core/fault"}, "built-in DocTypes are data, installed through the Store"},
	{"core/migration", []string{"core/document", "core/doctype", "core/identity", "core/fault"},
		"it knows formats and their order; what a binary ships is handed in"},
	{"core/store", []string{"core/account", "core/fair", "core/trace", "core/document", "core/doctype", "core/query", "core/fault"},
		"a store checks no rights and no field rules, so it knows no caller, HTTP or method"},
	{"core/method", []string{"core/notice", "core/trace", "core/document", "core/doctype", "core/query", "core/access", "core/identity", "core/scope", "core/fault"},
		"a method reaches documents through the one door, and knows no WebAssembly"},
	{"core/jobs", []string{"core/method", "core/document", "core/doctype", "core/query", "core/identity", "core/scope", "core/fault"},
		"a job is a call that is made later: who it is made as, and when, is asked"},
	{"core/jobs/pump", []string{"core/jobs", "core/store", "core/metrics", "core/document", "core/doctype", "core/query", "core/fault"},
		"it runs what sites have to do, and knows none of them but by a name and a queue"},
	{"core/crontab", []string{"core/fault"}, "a line of cron is read the same way whoever wrote it"},
	{"core/schedule", []string{"core/crontab", "core/method", "core/document", "core/doctype", "core/query", "core/identity", "core/scope", "core/fault"},
		"a schedule makes jobs: who keeps and runs them is asked"},
	{"core/webhook", []string{"core/egress", "core/jobs", "core/method", "core/document", "core/doctype", "core/query", "core/site", "core/identity", "core/fault"},
		"what is told is read at the one door, as whose webhook it is, and sent by the one way out"},
	{"core/letter", []string{"core/mail", "core/jobs", "core/method", "core/document", "core/doctype", "core/identity", "core/fault"},
		"what a letter says and takes along is read at the one door; how it is handed in is mail's"},
	{"core/live", []string{"core/account", "core/method", "core/document", "core/doctype", "core/query", "core/identity", "core/fault"},
		"what a stream is told is asked at the door, as whoever it is for; what has changed is asked of a log that it declares"},
	{"core/quota", []string{"core/method", "core/document", "core/doctype", "core/query", "core/site", "core/identity", "core/fault"},
		"what a site has is measured through its store, and asked by the door through an interface of the door's"},
	{"core/route", []string{"core/method", "core/identity", "core/fault"},
		"what a service answers itself is said in words of HTTP and methods; the edge and the service know these words, and not each other"},
	{"core/console", []string{"core/coding", "core/proxy", "core/route", "core/identity", "core/fault"}, "its program asks the API as any client does: here it is files, and a page that says who is logged in"},
	{"core/docs/explorer", []string{"core/route", "core/identity", "core/fault"}, "its script asks the API as any client does"},
	{"core/docs/guide", []string{"core/route", "core/fault"}, "it says what the program can do, and asks no site"},
	{"core/coding", nil, "an answer gets smaller whatever it says"},
	{"core/public/publish", []string{"core/method", "core/identity", "core/fault"}, "what is published is an archive: it knows no site, and who serves it does not matter"},
	{"core/public/module", nil, "a script is made ready for browsers whoever serves it"},
	{"core/public/media", nil, "what a file is goes by its name, whoever serves it"},
	{"core/apps/app", nil, "what a plugin brings for browsers is known to who installs it and to who serves it, and knows neither"},
	{"core/apps", []string{"core/apps/app", "core/public/media", "core/coding", "core/proxy", "core/route", "core/fault"},
		"pages of plugins are served without anybody's session: it knows no user, and methods only by the names of those that answer"},
	{"core/public", []string{"core/public/module", "core/public/media", "core/coding", "core/route", "core/identity", "core/fault"}, "a frontend is files: it knows no document, and who asks does not matter"},
	{"core/auth/otp", nil, "a code is right or wrong, whoever asks"},
	{"core/auth", []string{"core/auth/otp", "core/fair", "core/method", "core/document", "core/doctype", "core/query", "core/site", "core/proxy", "core/scope", "core/identity", "core/fault"},
		"credentials are found in documents; it says itself which methods it offers, and runs none: who is let in is known before that"},
	{"core/oauth", []string{"core/oauth/...", "core/auth", "core/route", "core/method", "core/document", "core/doctype", "core/egress", "core/query", "core/site", "core/identity", "core/scope", "core/fault"},
		"the provider finds users by authentication and keeps its records as documents; it knows no page but by an interface, and says itself which endpoints it has"},
	{"core/oauth/oauthstore", []string{"core/document", "core/doctype", "core/query", "core/fault"},
		"codes and tokens are rows; who may have one is decided above"},
	{"core/web", []string{"core/confirm", "core/route", "core/auth", "core/oauth", "core/social", "core/identity", "core/proxy", "core/fault"},
		"a page shows what authentication and the provider decide, and says itself where it is; it knows no document"},
	{"core/web/resetmail", []string{"core/web", "core/auth", "core/mail", "core/fault"},
		"a letter leads to a page with a key that authentication has made; whether the site sends it is asked"},
	{"core/pin", nil, "who holds a thing is counted the same way, whatever the thing is"},
	{"core/proxy", nil, "who made a request is known before anything else of it"},
	{"core/mail", nil, "a letter is handed in; what it says is not this package's"},
	{"core/ratelimit", []string{"core/site", "core/identity", "core/fault"},
		"time is counted before it is known who asks for what, so it knows no HTTP route, document or method"},
	{"core/file", []string{"core/account", "core/file/...", "core/route", "core/method", "core/document", "core/doctype", "core/query", "core/access", "core/identity", "core/scope", "core/fault"},
		"a file is a document with bytes beside it; where the bytes are is below it"},
	{"core/file/backend", []string{"core/file/...", "core/document", "core/site"},
		"where a site's configuration says that bytes are: the one place that knows both"},
	{"core/share", []string{"core/method", "core/document", "core/doctype", "core/query", "core/access", "core/identity", "core/fault"},
		"a share is a document about a document; what it opens is asked at the door"},
	{"core/openapi", []string{"core/doctype", "core/access", "core/identity", "core/fault"},
		"it describes what there is and serves nothing itself"},
	{"core/openapi/typescript", nil, "it reads a description, whoever made it"},
	{"core/confirm", []string{"core/document", "core/doctype", "core/query", "core/fault"},
		"what waits for a person is a row; who asks and who shows it meet there"},
	{"core/mcp", []string{"core/confirm", "core/egress", "core/route", "core/account", "core/method", "core/document", "core/doctype", "core/query", "core/access", "core/notice", "core/identity", "core/fault"},
		"what an agent is shown is asked at the one door and of methods, as REST asks; it knows no token but by what it allows"},
	{"core/egress", []string{"core/fair", "core/trace", "core/fault"}, "the one way out knows nobody who uses it"},
	{"core/egress/endpoint", []string{"core/egress", "core/fault"}, "the endpoints of a protocol are reached in one way, whoever speaks it"},
	{"core/social", []string{"core/auth", "core/document", "core/doctype", "core/egress", "core/egress/endpoint", "core/query", "core/access", "core/site", "core/identity", "core/fault"},
		"a provider says who somebody is; whether they are let in is asked of authentication, and users are made at the door"},
	{"core/connectedapp", []string{"core/route", "core/method", "core/document", "core/doctype", "core/egress", "core/egress/endpoint", "core/query", "core/access", "core/site", "core/identity", "core/fault"},
		"who asks for a connection knocks at the same door as for a document; it says itself which methods it has, and knows no page"},
	{"core/backup", []string{"core/account", "core/store", "core/file", "core/document", "core/doctype", "core/query", "core/fault"},
		"an archive is of what is stored: it knows no site, no caller and no route"},
	{"core/doctor", []string{"core/backup", "core/store", "core/file", "core/migration", "core/document", "core/doctype", "core/query", "core/fault"},
		"it examines what is stored; who asks for it, and by which name, is above"},
	{"core/accesslog", nil, "a line says what it is given"},
	{"core/httpapi", []string{"core/account", "core/fair", "core/live", "core/coding", "core/route", "core/notice", "core/accesslog", "core/trace", "core/document", "core/doctype", "core/method", "core/ratelimit", "core/proxy", "core/query", "core/access", "core/identity", "core/fault"},
		"the edge maps HTTP to the door and to methods; it opens nothing itself"},
	{"core/tenant", []string{"core/apps/...", "core/quota", "core/jobs", "core/live", "core/schedule", "core/webhook", "core/letter", "core/confirm", "core/mcp", "core/metrics", "core/route", "core/auth", "core/oauth", "core/web", "core/web/resetmail", "core/public/...", "core/console", "core/docs/...", "core/connectedapp", "core/social", "core/file/...", "core/share", "core/openapi", "core/backup", "core/doctor",
		"core/migration", "core/doctypes", "core/store", "core/method", "core/httpapi", "core/ratelimit", "core/proxy", "core/mail", "core/egress",
		"core/document", "core/doctype", "core/access", "core/site", "core/identity", "core/fault"},
		"it wires one site: which sites there are, and who holds this one, is above it"},
	{"core/tenant/address", []string{"core/proxy", "core/site"}, "where a site is, is said by its configuration and the request, and by no service"},
	{"core/sites/datafolder", nil, "where things are in the data folder is known below everybody who puts something there"},
	{"core/sites/registry", []string{"core/backup", "core/egress", "core/file/...", "core/ratelimit", "core/site", "core/fault"},
		"a list of sites opens none of them: it knows of each what a configuration may say"},
	{"core/sites/registry/folders", []string{"core/sites/datafolder", "core/site"}, "a site in files is a folder, and no database is opened to find it"},
	{"core/sites/registry/records", []string{"core/sites/registry/folders", "core/sites/datafolder", "core/store", "core/migration", "core/document", "core/doctype", "core/query", "core/site", "core/identity", "core/fault"},
		"the table of sites is one more DocType in a store; it takes over what folders there are"},
	{"core/sites/archive", []string{"core/sites", "core/sites/registry", "core/sites/datafolder", "core/tenant", "core/backup", "core/store", "core/file/...", "core/migration", "core/document", "core/site"},
		"an archive is of a site that is in the set; the set knows nothing of archives but what a configuration says of them"},
	{"core/...", []string{"core/..."}, "core knows no WebAssembly: plugins reach it through core/method.Invoker and document.Hooks"},
	{"sdk/conformance", nil, "the suite knows a server by its address, as a client does"},
	{"sdk/c", nil, "an SDK knows nothing of the server"},
	{"sdk/cpp", nil, "an SDK knows nothing of the server"},
	{"sdk/rust", nil, "an SDK knows nothing of the server"},
	{"sdk/zig", nil, "an SDK knows nothing of the server"},
	{"sdk/assemblyscript", nil, "an SDK knows nothing of the server"},
	{"runtime/abi", nil, "the names of the ABI are read by the SDK's tests too"},
	{"runtime/child", nil, "starting this program once more is below everybody who does so"},
	{"runtime/compile", []string{"core/account", "runtime/child", "runtime/internal/rewrite", "core/fair", "core/fault"},
		"code is made below what runs it: it knows no instance, call or host function"},
	{"runtime/...", []string{"runtime/...", "core/account", "core/fair", "core/notice", "core/document", "core/doctype", "core/query", "core/method", "core/identity", "core/scope", "core/fault"},
		"a guest's host calls reach documents as anybody else's do, and nothing beside them"},
	{"plugins/toolchain", []string{"plugins/bundle", "plugins/manifest", "plugins/testrun", "runtime/sourcemap", "sdk/..."},
		"it turns sources into bundles: what runs them, and where their tests run, is handed in"},
	{"plugins/...", []string{"core/account", "core/crontab", "core/fair", "core/trace", "core/pin", "core/apps/app", "core/public/module", "plugins/...", "sdk/...", "runtime/...", "core/doctypes", "core/document", "core/access", "core/doctype", "core/query", "core/method", "core/identity", "core/scope", "core/fault"},
		"what is installed and how it changes has nothing to do with HTTP or SQL"},
	{"cmd/armature/armaturetest", []string{"cmd/armature/transcript"}, "the program is tested from the outside, by what it prints and answers"},
	{"cmd/armature/outfile", nil, "a file is written the same way whoever writes it"},
	{"cmd/armature/settings", nil, "it sees flags, and no command"},
	{"cmd/armature/secret", []string{"cmd/armature/settings"}, "a secret is found the same way whatever it is for"},
	{"cmd/armature/terminal", []string{"core/backup", "core/fault", "core/site"}, "it prints for every command and knows none"},
	{"cmd/armature/remote", []string{"cmd/armature/terminal"}, "it knows a server by its address, as a client does"},
	{"cmd/armature/installation", []string{"cmd/armature/terminal", "core/..."}, "commands that open a site's data need no plugins for it"},
	{"cmd/armature/platform", []string{"cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/outfile", "core/...", "plugins/...", "runtime/..."},
		"sites and plugins are connected in one place, below every command that needs both"},
	{"cmd/armature/testbench", []string{"cmd/armature/platform", "cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/settings", "cmd/armature/outfile", "core/...", "plugins/...", "runtime/..."},
		"where tests run is a platform, and no command"},
	{"cmd/armature/site", []string{"cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/secret", "cmd/armature/outfile", "core/...", "cmd/armature/remote"},
		"a group of commands knows none of the others; those about sites run no plugins"},
	{"cmd/armature/user", []string{"cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/secret", "core/..."},
		"a group of commands knows none of the others; those about users run no plugins"},
	{"cmd/armature/client", []string{"cmd/armature/platform", "cmd/armature/installation", "cmd/armature/remote", "cmd/armature/terminal", "cmd/armature/outfile", "core/..."},
		"a client is made of what a server says of itself, here or elsewhere"},
	{"cmd/armature/serve", []string{"cmd/armature/platform", "cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/settings", "cmd/armature/secret", "core/..."},
		"the server knows plugins as what the platform runs"},
	{"cmd/armature/devserver", []string{"cmd/armature/platform", "cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/settings", "core/..."},
		"a server for who writes plugins is started the same way, whoever writes"},
	{"cmd/armature/mcp", []string{"cmd/armature/devserver", "cmd/armature/plugintest", "cmd/armature/remote", "cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/settings", "core/auth", "core/tenant", "core/document", "core/identity", "core/fault", "plugins/..."},
		"an agent reaches a site over HTTP alone, on a server of its own too, and a plugin's tests run where those of their author do"},
	{"cmd/armature/pluginbuild", []string{"cmd/armature/platform", "cmd/armature/terminal", "cmd/armature/settings", "cmd/armature/secret", "cmd/armature/outfile", "plugins/...", "runtime/..."},
		"a plugin is built where no site is"},
	{"cmd/armature/plugintest", []string{"cmd/armature/testbench", "cmd/armature/platform", "cmd/armature/installation", "cmd/armature/terminal", "cmd/armature/settings", "sdk/conformance", "core/...", "plugins/..."},
		"tests run on a bench, beside no installation that people use"},
}

// owner says which packages alone may import something from outside.
type owner struct {
	dependency string // an import path, or with /... those below it too
	owners     []string
	because    string
}

var owners = []owner{
	{"github.com/uptrace/bun/...", []string{"core/store"}, "SQL stays in one package"},
	{"github.com/riverqueue/river/...", []string{"core/jobs/pump", "cmd/armature-bench"}, "the queue that runs jobs can be replaced in one place; the benchmark measures beside it alone"},
	{"github.com/jackc/pgx/v5/...", []string{"core/store", "core/jobs/pump", "cmd/armature-bench", "cmd/armature/armaturetest"}, "drivers stay in one package, the baseline of the benchmark and what makes databases for tests aside"},
	{"modernc.org/sqlite/...", []string{"core/store", "cmd/armature-bench"}, "drivers stay in one package, the baseline of the benchmark aside"},
	{"database/sql", []string{"core/store", "core/jobs/pump", "cmd/armature-bench", "cmd/armature/armaturetest"}, "nobody goes round the Store; the baseline of the benchmark has to, and what makes databases for tests"},
	{"github.com/tetratelabs/wazero/...", []string{"runtime/engine/...", "runtime/compile", "runtime/hostapi/..."},
		"the WebAssembly runtime can be replaced in one place"},
	{"github.com/KimMachineGun/automemlimit/...", []string{"cmd/armature/serve"}, "how much memory there is, is found out once"},
	{"golang.org/x/crypto/argon2", []string{"core/auth"}, "passwords are hashed in one place"},
	{"golang.org/x/crypto/acme/...", []string{"core/serve"}, "certificates are fetched where TLS is spoken"},
	{"github.com/wneessen/go-mail/...", []string{"core/mail"}, "letters leave in one place"},
	{"github.com/coreos/go-oidc/v3/...", []string{"core/connectedapp", "core/social"}, "the site is a client of others in two places: for what its users have there, and for who they are"},
	{"aead.dev/minisign", []string{"plugins/publisher"}, "plugins are signed in one place"},
	{"golang.org/x/mod/semver", []string{"plugins/grant"}, "versions are compared in one place"},
	{"filippo.io/age", []string{"core/backup"}, "archives are sealed in one place"},
	{"go.opentelemetry.io/...", []string{"core/trace/otlp"}, "spans leave in one place"},
	{"github.com/ulule/limiter/v3/...", []string{"core/ratelimit"}, "counters are read and charged in one place"},
	{"github.com/redis/go-redis/v9/...", []string{"core/ratelimit"}, "the one thing kept in Redis is rate limits"},
	{"github.com/aws/...", []string{"core/file/s3"}, "object storage is one way to keep bytes"},
	{"github.com/microcosm-cc/bluemonday", []string{"core/doctype"}, "markup is made safe where values are made canonical"},
	{"github.com/ory/fosite/...", []string{"core/oauth/..."}, "the protocol's library can be replaced in one place"},
	{"github.com/spf13/cobra", []string{"cmd/armature/..."}, "flags are the command line's"},
	{"armature/sdk/...", []string{"plugins/toolchain/...", "cmd/armature/...", "sdk/..."}, "what an SDK says is written beside plugins and handed to compilers in one place"},
	{"github.com/prometheus/client_golang/...", []string{"core/metrics", "plugins/meter"}, "what is counted is shown in one place"},
	{"github.com/hashicorp/golang-lru/v2/...", []string{"plugins/kv", "runtime/compile"}, "what is kept for a while is bounded by what came last"},
	{"github.com/evanw/esbuild/...", []string{"plugins/script", "core/public/module"}, "sources are read in two places: those of a plugin, which a site runs, and those of its frontend, which browsers do"},
	{"github.com/modelcontextprotocol/go-sdk/...", []string{"core/mcp", "cmd/armature/mcp"}, "the protocol is spoken in two places: by a site, and on standard input and output for who writes plugins"},
	{"github.com/yuin/goldmark/...", []string{"core/docs/guide"}, "Markdown is read in one place"},
	{"github.com/tdewolff/parse/v2/...", []string{"plugins/script"}, "sources are read in one place"},
	{"github.com/go-sourcemap/sourcemap/...", []string{"runtime/quickjs", "plugins/script"}, "lines of scripts are found where scripts run, and where they are read"},
	{"github.com/nlnwa/whatwg-url/...", []string{"runtime/quickjs"}, "what scripts call a URL is the concern of scripts"},
	{"github.com/fsnotify/fsnotify", []string{"plugins/watch"}, "only the watcher watches"},
}

// forbidden may be imported by no package of ours.
var forbidden = map[string]string{
	"plugin":    "Go's own plugins share the process's memory; and the name is wanted for a variable",
	"math/rand": "randomness that matters comes from crypto/rand, the rest from math/rand/v2",
	"log":       "the log is log/slog, injected",
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
}

func TestArrows(t *testing.T) {
	packages := all(t)
	for _, a := range arrows {
		found := false
		for _, p := range packages {
			path, ours := strings.CutPrefix(p.ImportPath, module)
			if !ours || !matches(a.from, path) {
				continue
			}
			found = true
			for _, imported := range p.Imports {
				dep, ours := strings.CutPrefix(imported, module)
				if !ours || below(path, dep) || slices.ContainsFunc(a.may, func(m string) bool { return matches(m, dep) }) {
					continue
				}
				t.Errorf("%s imports %s, and may not: %s", path, dep, a.because)
			}
		}
		if !found {
			t.Errorf("the rule about %s speaks of no package: rename it or take it out", a.from)
		}
		for _, m := range a.may {
			if !slices.ContainsFunc(packages, func(p goPackage) bool { return matches(m, strings.TrimPrefix(p.ImportPath, module)) }) {
				t.Errorf("the rule about %s allows %s, which does not exist", a.from, m)
			}
		}
	}
}

func TestNobodyImportsCommands(t *testing.T) {
	for _, p := range all(t) {
		for _, imported := range p.Imports {
			command, _, _ := strings.Cut(strings.TrimPrefix(imported, module+"cmd/"), "/")
			if strings.HasPrefix(imported, module+"cmd/") && !matches(module+"cmd/"+command+"/...", p.ImportPath) {
				t.Errorf("%s imports %s: a command connects the parts and is a part of nothing", p.ImportPath, imported)
			}
		}
	}
}

func TestOwners(t *testing.T) {
	packages := all(t)
	for _, o := range owners {
		used := false
		for _, p := range packages {
			path := strings.TrimPrefix(p.ImportPath, module)
			for _, imported := range p.Imports {
				if !matches(o.dependency, imported) {
					continue
				}
				if slices.ContainsFunc(o.owners, func(own string) bool { return matches(own, path) }) {
					used = true
				} else {
					t.Errorf("%s imports %s, which only %s may: %s", path, imported, strings.Join(o.owners, ", "), o.because)
				}
			}
		}
		if !used {
			t.Errorf("nobody imports %s any more: take the rule out", o.dependency)
		}
	}
}

func TestForbidden(t *testing.T) {
	for _, p := range all(t) {
		for _, imported := range p.Imports {
			if because, bad := forbidden[imported]; bad {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, because)
			}
		}
		// These names say nothing about what is inside; runtime would fight the
		// standard library's.
		if slices.Contains([]string{"util", "utils", "common", "types", "models", "helpers", "runtime", "plugins"}, p.Name) {
			t.Errorf("%s is named %s", p.ImportPath, p.Name)
		}
	}
}

// TestNestedModules makes sure that the SDK needs nothing, and an example
// nothing but the SDK: both have to build on an author's machine, offline.
func TestNestedModules(t *testing.T) {
	top := armaturetest.Root(t)
	mods, err := filepath.Glob(filepath.Join(top, "examples", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if len(mods) == 0 {
		t.Fatal("there are no examples")
	}
	for _, mod := range append(mods, filepath.Join(top, "sdk", "go", "go.mod")) {
		dir := filepath.Dir(mod)
		name, err := goRun(dir, "list", "-m")
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimSpace(name)
		for _, p := range list(t, dir, "-deps", "./...") {
			path := p.ImportPath
			first, _, _ := strings.Cut(path, "/")
			standard := !strings.Contains(first, ".") && first != "armature" && !strings.HasPrefix(path, name)
			if standard || matches(name+"/...", path) || matches("armature/sdk/go/...", path) {
				continue
			}
			t.Errorf("%s needs %s", name, path)
		}
	}
}

// matches reports whether path is what the pattern names, or below it where the
// pattern ends in /....
func matches(pattern, path string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return path == base || tree && strings.HasPrefix(path, base+"/")
}

// below reports whether dep is a part of the package at path or of the same
// package's folder.
func below(path, dep string) bool {
	return dep == path || strings.HasPrefix(dep, path+"/") || strings.HasPrefix(path, dep+"/")
}

// everything is what go list says of the module's packages; it takes seconds.
var everything = sync.OnceValues(func() ([]goPackage, error) { return packagesIn(filepath.Join("..", ".."), "./...") })

func all(t *testing.T) []goPackage {
	t.Helper()
	packages, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func list(t *testing.T, dir string, args ...string) []goPackage {
	t.Helper()
	packages, err := packagesIn(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func packagesIn(dir string, args ...string) (packages []goPackage, err error) {
	out, err := goRun(dir, append([]string{"list", "-e", "-json=ImportPath,Name,Imports"}, args...)...)
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

func goRun(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}
