package web_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"testing"

	"armature/core/sites/sitetest"
)

// device is an authenticator with one passkey, as Web Authentication section 6 has it,
// and the browser before it, which says whatever a test wants.
type device struct {
	id      []byte
	key     *ecdsa.PrivateKey
	handle  []byte
	party   string
	counter uint32
	flags   byte // beside that somebody was there

	origin string // of the page, as the browser says it
}

// The flags of section 6.1.
const (
	present, verified, syncable, synced, attested = 1, 4, 8, 16, 64
)

const shop = "https://shop.example.test"

func newDevice() *device { return &device{flags: verified, origin: shop} }

var b64 = base64.RawURLEncoding

func (d *device) data(flags byte) []byte {
	sum := sha256.Sum256([]byte(d.party))
	data := append(sum[:], flags|present|d.flags)
	return binary.BigEndian.AppendUint32(data, d.counter)
}

func (d *device) client(t *testing.T, what, challenge string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": what, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type asked struct {
	Challenge string
	RP        struct{ ID string }
	RPID      string `json:"rpId"`
	User      struct{ ID, Name string }
	Allow     []struct{ ID string } `json:"allowCredentials"`
	Exclude   []struct{ ID string } `json:"excludeCredentials"`
	Verify    string                `json:"userVerification"`
}

// create makes the passkey that a page asks for.
func (d *device) create(t *testing.T, q asked) string {
	t.Helper()
	id := make([]byte, 32)
	rand.Read(id)
	return d.createAs(t, q, id)
}

func (d *device) createAs(t *testing.T, q asked, id []byte) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d.key, d.party, d.id = key, q.RP.ID, id
	if d.handle, err = b64.DecodeString(q.User.ID); err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	data := d.data(attested)
	data = append(data, make([]byte, 16)...) // no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.id)))
	data = append(data, d.id...)
	data = append(data, 0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32) // COSE: EC2, ES256, P-256
	data = append(append(data, point[1:33]...), 0x22, 0x58, 32)
	data = append(data, point[33:]...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return d.answer(t, map[string]any{
		"clientDataJSON": b64.EncodeToString(d.client(t, "webauthn.create", q.Challenge)), "attestationObject": b64.EncodeToString(append(object, data...)),
	})
}

// get shows the passkey.
func (d *device) get(t *testing.T, q asked) string {
	t.Helper()
	d.counter++
	client, data := d.client(t, "webauthn.get", q.Challenge), d.data(0)
	sum := sha256.Sum256(client)
	digest := sha256.Sum256(append(data[:len(data):len(data)], sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return d.answer(t, map[string]any{
		"clientDataJSON": b64.EncodeToString(client), "authenticatorData": b64.EncodeToString(data),
		"signature": b64.EncodeToString(signature), "userHandle": b64.EncodeToString(d.handle),
	})
}

func (d *device) answer(t *testing.T, response map[string]any) string {
	t.Helper()
	id := b64.EncodeToString(d.id)
	text, err := json.Marshal(map[string]any{"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	optionsField  = regexp.MustCompile(`data-options="([^"]*)"`)
	questionField = regexp.MustCompile(`name="question" value="([^"]*)"`)
	csrfField     = regexp.MustCompile(`name="csrf_token" value="([^"]*)"`)
)

// question is what a page asks a device, and the token that goes back.
func question(t *testing.T, r reply) (q asked, token string) {
	t.Helper()
	if err := json.Unmarshal([]byte(html.UnescapeString(found(t, optionsField, r.text))), &q); err != nil {
		t.Fatal(err)
	}
	return q, html.UnescapeString(found(t, questionField, r.text))
}

// passkeys is the page of a session's passkeys.
func passkeys(t *testing.T, s *sitetest.Server, sid string) reply {
	t.Helper()
	r := send(t, s, "GET", "/app/passkeys", "", "Cookie", sid)
	if r.StatusCode != 200 {
		t.Fatalf("%d to %s: %s", r.StatusCode, r.Header.Get("Location"), r.text)
	}
	return r
}

// change sends a form of that page.
func change(t *testing.T, s *sitetest.Server, sid string, form url.Values) reply {
	t.Helper()
	form.Set("csrf_token", found(t, csrfField, passkeys(t, s, sid).text))
	return send(t, s, "POST", "/app/passkeys", form.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
}

// registered makes a passkey of the session's user.
func registered(t *testing.T, s *sitetest.Server, sid, title string) (*device, reply) {
	t.Helper()
	d := newDevice()
	q, token := question(t, passkeys(t, s, sid))
	r := change(t, s, sid, url.Values{"do": {"make"}, "question": {token}, "passkey": {d.create(t, q)}, "title": {title}})
	if r.StatusCode != 200 && r.StatusCode != 303 {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	return d, r
}

// asking opens the login page: what it asks, and the cookie that goes with it.
func asking(t *testing.T, s *sitetest.Server) (q asked, token, cookie string) {
	t.Helper()
	r := send(t, s, "GET", "/login", "")
	q, token = question(t, r)
	return q, token, r.cookies()
}

// answering sends the form of the login page.
func answering(t *testing.T, s *sitetest.Server, token, cookie, answer string, headers ...string) reply {
	t.Helper()
	form := url.Values{"question": {token}, "passkey": {answer}}
	return send(t, s, "POST", "/login", form.Encode(), append(headers, "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded")...)
}

// touched logs in with a passkey.
func touched(t *testing.T, s *sitetest.Server, d *device) reply {
	t.Helper()
	q, token, cookie := asking(t, s)
	return answering(t, s, token, cookie, d.get(t, q))
}
