package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// DefaultMaxFileSize is the most bytes a request body may have when the
// configuration sets no max_file_size.
const DefaultMaxFileSize = 25 << 20

// Config is a site's configuration (site_config.json), an immutable value. Keys
// that this version does not know are kept as they are, so that a newer or an
// older server may share the file.
type Config struct {
	raw map[string]json.RawMessage

	hosts       []string
	url         string
	location    *time.Location
	maxFileSize int64

	maxAnswerSize    int
	maxGuestBodySize int64
	streamsPerUser   int

	aliases map[string]string
	headers map[string]string // canonical forms
	origins []string
	plugins map[string]map[string]json.RawMessage

	pluginLimits   PluginLimits
	quotas         Quotas
	mailPerDay     int64
	noMCP          bool
	mcpTools       []string
	mcpConfirm     string
	recordFailed   bool
	liveReload     bool
	appsHost       string
	refusesUnknown bool
	readOnly       bool
	privateHosts   []string
	publishers     []string
}

// ParseConfig reads the text of a configuration. The error names the key that
// is wrong; the configuration then comes with it, fit for nothing but With, which
// may mend it. It is nil where the text is no JSON object.
func ParseConfig(text []byte) (*Config, error) {
	c := &Config{}
	if len(bytes.TrimSpace(text)) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(text, &c.raw); err != nil {
		return nil, fmt.Errorf("site configuration: %w", err)
	}
	return c, c.parse()
}

// With returns a copy in which key has the value, given as JSON; a value of
// null removes the key. It fails on a key that is no setting, naming the one that
// was probably meant, and on a value that the setting cannot have.
func (c *Config) With(key string, value json.RawMessage) (*Config, error) {
	if key == "" {
		return nil, fmt.Errorf("site configuration: the key is empty")
	}
	if !json.Valid(value) {
		return nil, fmt.Errorf("site configuration: the value of %s is not JSON; text needs quotes", key)
	}
	next := &Config{raw: maps.Clone(c.raw)}
	if next.raw == nil {
		next.raw = make(map[string]json.RawMessage)
	}
	next.raw[key] = value
	if string(bytes.TrimSpace(value)) == "null" {
		delete(next.raw, key)
	} else if err := checkSetting(key, value); err != nil {
		return nil, err
	}
	if err := next.parse(); err != nil {
		return nil, err
	}
	return next, nil
}

// Get returns the value of a key as JSON; ok is false when it is not set.
func (c *Config) Get(key string) (value json.RawMessage, ok bool) {
	value, ok = c.raw[key]
	return value, ok
}

// MarshalJSON writes every key, sorted.
func (c *Config) MarshalJSON() ([]byte, error) {
	if c.raw == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(c.raw)
}

// MarshalIndent writes the configuration as a person edits it.
func (c *Config) MarshalIndent() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

// Hosts are the host names the site answers; none: every one.
func (c *Config) Hosts() []string { return c.hosts }

// URL is where the site is, as links name it: host_name, or else https and the
// first of the hosts; empty when neither is set. It does not end in a slash.
func (c *Config) URL() string {
	if c.url == "" && len(c.hosts) > 0 {
		return httpsTo(c.hosts[0])
	}
	return c.url
}

// Named reports whether the configuration has a host_name.
func (c *Config) Named() bool { return c.url != "" }

// URLFor is URL for a request to host, which counts where the configuration has no
// host_name and lists it: then links stay at the host that was asked.
func (c *Config) URLFor(host string) string {
	if host = canonicalHost(host); c.url == "" && slices.Contains(c.hosts, host) {
		return httpsTo(host)
	}
	return c.URL()
}

func httpsTo(host string) string {
	if strings.Contains(host, ":") { // an address of IPv6
		host = "[" + host + "]"
	}
	return "https://" + host
}

// Location is the time zone; UTC when none is set.
func (c *Config) Location() *time.Location {
	if c.location == nil {
		return time.UTC
	}
	return c.location
}

// MaxFileSize is the most bytes a request body may have.
func (c *Config) MaxFileSize() int64 {
	if c.maxFileSize == 0 {
		return DefaultMaxFileSize
	}
	return c.maxFileSize
}

// MaxGuestBodySize is the most bytes of a request body of who is not logged in;
// 0: nothing is set.
func (c *Config) MaxGuestBodySize() int64 { return c.maxGuestBodySize }

// DefaultStreamsPerUser is how many streams a user has open where nothing is set.
const DefaultStreamsPerUser = 100

// StreamsPerUser is how many streams of live changes a user may have open at a time.
func (c *Config) StreamsPerUser() int {
	if c.streamsPerUser == 0 {
		return DefaultStreamsPerUser
	}
	return c.streamsPerUser
}

// The bounds of max_answer_size, and what it is when nothing is set, in bytes.
const (
	DefaultMaxAnswerSize = 32 << 20
	minAnswerSize        = 1 << 20 // DocTypes are documents, too
	maxAnswerSize        = 1 << 30
)

// MaxAnswerSize is the most bytes of an answer that is not a file, and of a
// document with its rows.
func (c *Config) MaxAnswerSize() int {
	if c.maxAnswerSize == 0 {
		return DefaultMaxAnswerSize
	}
	return c.maxAnswerSize
}

// Aliases are the method aliases: what an incoming path may begin with, and what
// that stands for. The caller must not change the map.
func (c *Config) Aliases() map[string]string { return c.aliases }

// parse checks the known keys. A null counts as absent.
func (c *Config) parse() error {
	for _, key := range slices.Sorted(maps.Keys(c.raw)) {
		setting := FindSetting(key)
		value := c.raw[key]
		if setting == nil || setting.read == nil || string(bytes.TrimSpace(value)) == "null" {
			continue
		}
		if err := setting.read(c, value); err != nil {
			return fmt.Errorf("site configuration: %s: %w", key, err)
		}
	}
	return nil
}

func readHosts(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.hosts); err != nil {
		return fmt.Errorf("must be a list of host names")
	}
	for i, h := range c.hosts {
		if h == "" || strings.ContainsAny(h, "/ ") {
			return fmt.Errorf("%q is not a host name", h)
		}
		c.hosts[i] = canonicalHost(h)
	}
	return nil
}

func readHostName(c *Config, value json.RawMessage) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("must be an address such as \"https://example.com\"")
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q is not an address such as https://example.com", text)
	}
	c.url = u.String()
	return nil
}

func readTimeZone(c *Config, value json.RawMessage) error {
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		return fmt.Errorf("must be the name of a time zone, such as \"Europe/Paris\"")
	}
	// LoadLocation takes "Local" for the server's own zone, which would make a
	// site answer differently from one machine to the next.
	if name == "" || name == "Local" {
		return fmt.Errorf("%q is not the name of a time zone", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return err
	}
	c.location = loc
	return nil
}

// DefaultMailPerDay is how many letters a site may send a day unless it says otherwise.
const DefaultMailPerDay = 1000

// MailPerDay is how many letters the site may send in 24 hours (mail_per_day).
func (c *Config) MailPerDay() int64 {
	if c.mailPerDay == 0 {
		return DefaultMailPerDay
	}
	return c.mailPerDay
}

func readMailPerDay(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.mailPerDay); err != nil || c.mailPerDay <= 0 {
		return fmt.Errorf("must be a number of letters above 0")
	}
	return nil
}

func readMaxFileSize(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.maxFileSize); err != nil || c.maxFileSize <= 0 {
		return fmt.Errorf("must be a number of bytes above 0")
	}
	return nil
}

func readMaxGuestBodySize(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.maxGuestBodySize); err != nil || c.maxGuestBodySize <= 0 {
		return fmt.Errorf("must be a number of bytes above 0")
	}
	return nil
}

func readStreamsPerUser(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.streamsPerUser); err != nil || c.streamsPerUser <= 0 {
		return fmt.Errorf("must be a number above 0")
	}
	return nil
}

func readMaxAnswerSize(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.maxAnswerSize); err != nil || c.maxAnswerSize < minAnswerSize || c.maxAnswerSize > maxAnswerSize {
		return fmt.Errorf("must be a number of bytes from %d to %d", minAnswerSize, maxAnswerSize)
	}
	return nil
}

func readAliases(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.aliases); err != nil {
		return fmt.Errorf("must be an object such as {\"oldbrand.\": \"framework.\"}")
	}
	for prefix, canonical := range c.aliases {
		if prefix == "" || canonical == "" {
			return fmt.Errorf("a prefix is empty")
		}
	}
	return nil
}
