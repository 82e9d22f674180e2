package public

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// policy is what a page may do unless the site's _headers say otherwise: load what lies
// beside it, and be in nobody's frame.
var policy = [][2]string{
	{"Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "strict-origin-when-cross-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
}

// settable are the headers that _headers may set. Others belong to the answer, to the
// session or to the server.
var settable = strings.Fields(`Access-Control-Allow-Origin Cache-Control Content-Disposition Content-Language Content-Security-Policy
	Content-Security-Policy-Report-Only Cross-Origin-Embedder-Policy Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy Document-Policy
	Link Origin-Agent-Cluster Permissions-Policy Referrer-Policy Reporting-Endpoints Timing-Allow-Origin X-Content-Type-Options
	X-Frame-Options X-Robots-Tag`)

const (
	headersFile = "_headers"
	maxHeaders  = 64 << 10 // bytes of the file
)

// headers is the site's _headers as they were read last.
type headers struct {
	mu    sync.Mutex
	at    time.Time
	size  int64
	rules []rule
}

// rule sets headers for the paths that a pattern matches.
type rule struct {
	pattern string // of a path; * at its end stands for any rest
	set     [][2]string
}

// guard sets the headers that go with a file: the platform's, then the site's. A header
// that is set to nothing is taken away.
func (f *Frontend) guard(root *os.Root, h http.Header, name string) {
	for _, header := range policy {
		h.Set(header[0], header[1])
	}
	for _, rule := range f.rules(root) {
		if !rule.matches("/" + name) {
			continue
		}
		for _, header := range rule.set {
			if header[1] == "" {
				h.Del(header[0])
			} else {
				h.Set(header[0], header[1])
			}
		}
	}
}

func (r rule) matches(path string) bool {
	if before, prefix := strings.CutSuffix(r.pattern, "*"); prefix {
		return strings.HasPrefix(path, before)
	}
	return path == r.pattern || r.pattern == "/" && path == "/"+index
}

// rules reads _headers if it has changed. With a mistake in it none of it counts, which
// leaves the strict policy, and the log says where.
func (f *Frontend) rules(root *os.Root) []rule {
	file, info, err := open(root, headersFile)
	c := &f.headers
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.rules, c.at, c.size = nil, time.Time{}, 0
		if !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("the frontend's headers cannot be read", "error", err)
		}
		return nil
	}
	defer file.Close()
	if info.ModTime().Equal(c.at) && info.Size() == c.size {
		return c.rules
	}
	c.at, c.size, c.rules = info.ModTime(), info.Size(), nil
	text, err := io.ReadAll(io.LimitReader(file, maxHeaders+1))
	if err == nil {
		c.rules, err = parseHeaders(text)
	}
	if err != nil {
		f.log.Warn("the frontend's headers do not count until they are mended", "error", err)
	}
	return c.rules
}

// parseHeaders reads lines: a path, and below it, indented, the headers of what it
// matches; # begins a comment.
func parseHeaders(text []byte) ([]rule, error) {
	if len(text) > maxHeaders {
		return nil, fmt.Errorf("%s: over %d KiB", headersFile, maxHeaders>>10)
	}
	var rules []rule
	for i, line := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case line[0] == '/':
			rules = append(rules, rule{pattern: trimmed})
		case line[0] != ' ' && line[0] != '\t' || len(rules) == 0:
			return nil, fmt.Errorf("%s:%d: expected a path, such as /* or /about.html", headersFile, i+1)
		default:
			header, err := parseHeader(trimmed)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", headersFile, i+1, err)
			}
			last := &rules[len(rules)-1]
			last.set = append(last.set, header)
		}
	}
	return rules, nil
}

func parseHeader(line string) ([2]string, error) {
	name, value, ok := strings.Cut(line, ":")
	name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
	switch {
	case !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
		return [2]string{}, errors.New("expected a header, such as X-Frame-Options: DENY")
	case !slices.Contains(settable, name):
		return [2]string{}, fmt.Errorf("%s cannot be set here; there are %s", name, strings.Join(settable, ", "))
	}
	return [2]string{name, value}, nil
}
