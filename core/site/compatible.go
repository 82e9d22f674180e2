package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// HeaderAliases are what headers of requests stand for, by the names under which they
// come, both in the canonical form (key "header_aliases"). The caller must not change
// the map.
func (c *Config) HeaderAliases() map[string]string { return c.headers }

// ownHeaders are how the headers begin that others may stand for. With any other a
// setting could make a credential, or the word of a proxy, of what a stranger sends.
const ownHeaders = "X-Framework-"

func readHeaderAliases(c *Config, value json.RawMessage) error {
	var given map[string]string
	if err := json.Unmarshal(value, &given); err != nil {
		return fmt.Errorf("must be an object such as {\"X-Oldbrand-CSRF-Token\": \"X-Framework-CSRF-Token\"}")
	}
	c.headers = make(map[string]string, len(given))
	for name, stands := range given {
		stands = textproto.CanonicalMIMEHeaderKey(stands)
		switch {
		case !httpguts.ValidHeaderFieldName(name) || !strings.HasPrefix(http.CanonicalHeaderKey(name), "X-"):
			return fmt.Errorf("%q cannot stand for another header: it must begin with X-", name)
		case !httpguts.ValidHeaderFieldName(stands) || !strings.HasPrefix(stands, ownHeaders):
			return fmt.Errorf("%q cannot be meant by another header: it must begin with %s", stands, ownHeaders)
		}
		c.headers[http.CanonicalHeaderKey(name)] = stands
	}
	return nil
}

// ReadOnly reports whether nothing is to be written in the name of a caller (key
// "read_only").
func (c *Config) ReadOnly() bool { return c.readOnly }

func readReadOnly(c *Config, value json.RawMessage) error {
	if err := Switch.check(value); err != nil {
		return err
	}
	c.readOnly = string(value) == "true" || string(value) == "1"
	return nil
}
