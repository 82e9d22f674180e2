package oauth

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"armature/core/oauth/oauthstore"
)

// How long a person has to type in the code that a device shows, and how long the
// device waits between two questions at least (RFC 8628 section 3.2), in seconds.
const (
	deviceLives    = int64(10 * time.Minute / time.Second)
	deviceInterval = 5
)

// deviceCodes is the answer to a device (RFC 8628 section 3.2).
type deviceCodes struct {
	Device   string `json:"device_code"`
	User     string `json:"user_code"`
	At       string `json:"verification_uri"`
	AtWhole  string `json:"verification_uri_complete"`
	Expires  int64  `json:"expires_in"` // in seconds
	Interval int64  `json:"interval"`   // in seconds
}

// askForDevice is the device authorization endpoint (RFC 8628 section 3.1): a device
// without a browser gets a code to show to its user, who types it in elsewhere.
func (s *Service) askForDevice(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return fail(w, err)
	}
	answer, err := s.beginDevice(r, form)
	if err != nil {
		return fail(w, err)
	}
	return sendJSON(w, http.StatusOK, answer)
}

func (s *Service) beginDevice(r *http.Request, form url.Values) (*deviceCodes, error) {
	client, err := s.authenticateClient(r, form)
	if err != nil {
		return nil, err
	}
	if !client.device {
		return nil, refuse("unauthorized_client", "The client may not use this grant_type.")
	}
	base, asked := s.c.Base(r), &authorization{client: client}
	if err := checkScope(asked, form); err != nil {
		return nil, err
	}
	if err := checkResources(asked, form["resource"], base); err != nil {
		return nil, err
	}
	kinds, code, shown := &strategy{s.c.Secret}, random(), newUserCode()
	d := &oauthstore.Device{
		Signature: kinds.hash(deviceKind, code), Client: client.id, Scopes: asked.scopes, Resources: asked.resources,
		Expires: s.c.Now().Unix() + deviceLives, Interval: deviceInterval,
	}
	if err := s.store.CreateDevice(r.Context(), d, kinds.hash(userCodeKind, shown)); err != nil {
		return nil, err
	}
	at := base + devicePath
	return &deviceCodes{
		Device: code, User: grouped(shown), At: at, AtWhole: at + "?" + url.Values{"user_code": {grouped(shown)}}.Encode(),
		Expires: deviceLives, Interval: deviceInterval,
	}, nil
}

// letters are those of user codes: no vowels, so that no code is a word, and none that
// look like others (RFC 8628 section 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// userCodeLength has some 34 bits, of which a person may guess as often as at a
// password, within minutes.
const userCodeLength = 8

// newUserCode makes a code for a person to type in.
func newUserCode() string {
	code := make([]byte, 0, userCodeLength)
	for len(code) < userCodeLength {
		var random [1]byte
		rand.Read(random[:])
		if n := int(random[0]); n < 256/len(letters)*len(letters) { // each letter as often
			code = append(code, letters[n%len(letters)])
		}
	}
	return string(code)
}

// grouped is a code as it is shown.
func grouped(code string) string { return code[:userCodeLength/2] + "-" + code[userCodeLength/2:] }

// typed is a code that a person has typed in, without what does not count; empty where
// it cannot be one.
func typed(text string) string {
	code := strings.Map(func(c rune) rune {
		if strings.ContainsRune(letters, c) {
			return c
		}
		return -1
	}, strings.ToUpper(text[:min(len(text), 100)]))
	if len(code) != userCodeLength {
		return ""
	}
	return code
}
