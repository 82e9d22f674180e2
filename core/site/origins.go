package site

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Origins are those whose scripts may read the site's answers, in the form in which
// browsers send them, or "*" for all (key "allow_cors"). The caller must not change
// the list.
func (c *Config) Origins() []string { return c.origins }

// TrustsOrigin reports whether the site names an origin. Its pages act with the
// cookies of whoever looks at them, as the site's own do; "*" names none.
func (c *Config) TrustsOrigin(origin string) bool {
	return origin != "*" && slices.Contains(c.origins, origin)
}

func readOrigins(c *Config, value json.RawMessage) error {
	var one string
	c.origins = nil
	if json.Unmarshal(value, &one) == nil {
		c.origins = []string{one}
	} else if err := json.Unmarshal(value, &c.origins); err != nil {
		return fmt.Errorf("must be a list of origins such as [\"https://app.example.com\"], or \"*\"")
	}
	for i, o := range c.origins {
		if o == "*" {
			continue
		}
		origin, err := canonicalOrigin(o)
		if err != nil {
			return err
		}
		c.origins[i] = origin
	}
	return nil
}

// canonicalOrigin writes an origin as browsers do (RFC 6454, section 6.2): in lower
// case, without the port that the scheme has anyway. "null", which any sandboxed
// page sends, is none.
func canonicalOrigin(text string) (string, error) {
	u, err := url.Parse(strings.ToLower(strings.TrimSuffix(text, "/")))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("%q is not an origin such as https://app.example.com", text)
	}
	if p := u.Port(); p == "443" && u.Scheme == "https" || p == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+p)
	}
	return u.Scheme + "://" + u.Host, nil
}
