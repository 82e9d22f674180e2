// Package remote asks a site on a server elsewhere, over HTTP, as the user of an API
// key.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"armature/cmd/armature/terminal"
)

// Site is a site on a server that is reached by its address.
type Site struct {
	url string // without a slash at the end
	key string // key:secret

	version string // of this program
}

// Flags are those of the commands that work on a hosted site as well.
type Flags struct {
	URL    string // of a hosted site; empty: the site of data and site is meant
	apiKey string // for it
}

func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.URL, "url", "", "address of a hosted site, https://shop.example.org, instead of --data and --site")
	flags.StringVar(&f.apiKey, "api-key", "", "API key and secret for it, key:secret; better in ARMATURE_API_KEY,\nwhich no list of processes shows")
}

// Site is the hosted site that is meant; nil: none. It is used by a program of this
// version, and warn is told where the key is not safe on the way.
func (f *Flags) Site(warn io.Writer, version string) (*Site, error) {
	if f.URL == "" {
		return nil, nil
	}
	u, err := url.Parse(strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(f.URL, "/"), "/api"), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, terminal.Misuse("--url %q: expected the address of a site, such as https://shop.example.org", f.URL)
	}
	key := strings.TrimPrefix(f.apiKey, "token ")
	if id, secret, ok := strings.Cut(key, ":"); !ok || id == "" || secret == "" {
		return nil, terminal.Misuse("--url needs an API key: set ARMATURE_API_KEY to key:secret, both as `armature user keys USER` prints them on the server")
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		fmt.Fprintf(warn, "warning: %s is not encrypted: the API key can be read on the way\n", u)
	}
	return &Site{url: u.String(), key: key, version: version}, nil
}

// At is the site at an address, as the user of a key, key:secret.
func At(address, key, version string) *Site {
	return &Site{url: strings.TrimRight(address, "/"), key: strings.TrimPrefix(key, "token "), version: version}
}

// URL is the address of the site, without a slash at the end.
func (h *Site) URL() string { return h.url }

// Local reports whether an address is of this machine.
func Local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Issuer is where the site says that it is, which is another address than the one that it
// is reached at where a tunnel or a proxy leads there (RFC 8414 section 2).
func (h *Site) Issuer(ctx context.Context) (string, error) {
	resp, text, err := h.exchange(ctx, http.MethodGet, h.url+"/.well-known/oauth-authorization-server", "", nil)
	if err != nil {
		return "", err
	}
	var about struct {
		Issuer string `json:"issuer"`
	}
	if json.Unmarshal(text, &about) != nil || about.Issuer == "" {
		return "", fmt.Errorf("%s does not say where it is: %s", h.url, resp.Status)
	}
	return about.Issuer, nil
}

// Key is the API key that was given; empty: none.
func (f *Flags) Key() string { return f.apiKey }

// Refusal is an error that the server answered with.
type Refusal struct {
	Status  int
	Type    string
	Message string
	Trace   string // as the server shows it; empty: none
}

// HTTPStatus is the status of the answer, and ExcType what it says it is about.
func (r *Refusal) HTTPStatus() int { return r.Status }

func (r *Refusal) ExcType() string { return r.Type }

func (r *Refusal) Error() string {
	text := r.Message
	if text == "" {
		text = r.Type
	}
	switch r.Status {
	case http.StatusUnauthorized:
		text = "the server does not know this API key, or the secret is wrong"
	case http.StatusForbidden:
		text += "\nhint: this needs the key of a user with the role System Manager"
	case http.StatusRequestEntityTooLarge:
		text += "\nhint: the server, or a proxy in front of it, takes no request of this size"
	}
	return text
}

// client follows no redirect: it would turn a POST into a GET, and a key must not
// go where its owner has not sent it.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Call calls a method with a JSON object and returns its message.
func (h *Site) Call(ctx context.Context, verb, path string, args []byte) (json.RawMessage, error) {
	to := h.url + "/api/method/" + url.PathEscape(path)
	if verb == http.MethodGet {
		query, err := queryOf(args)
		if err != nil {
			return nil, err
		}
		return h.send(ctx, verb, to+query, "", nil)
	}
	return h.send(ctx, verb, to, "application/json", bytes.NewReader(args))
}

// queryOf writes arguments as a query: text as it is, anything else as JSON.
func queryOf(args []byte) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(args, &members); err != nil {
		return "", err
	}
	values := url.Values{}
	for name, member := range members {
		var text string
		if json.Unmarshal(member, &text) != nil {
			text = string(member)
		}
		values.Set(name, text)
	}
	if len(values) == 0 {
		return "", nil
	}
	return "?" + values.Encode(), nil
}

// upload calls a method with a file and fields.
func (h *Site) upload(ctx context.Context, path string, file []byte, fields map[string]string) (json.RawMessage, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := error(nil)
	for name, value := range fields {
		err = errors.Join(err, form.WriteField(name, value))
	}
	part, perr := form.CreateFormFile("file", "file")
	if err = errors.Join(err, perr); err != nil {
		return nil, err
	}
	if _, err := part.Write(file); err != nil {
		return nil, err
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	return h.send(ctx, http.MethodPost, h.url+"/api/method/"+path, form.FormDataContentType(), &body)
}

// Manage calls a method that manages the site, with a file if there is one, and reads
// the answer into result.
func (h *Site) Manage(ctx context.Context, path string, args map[string]any, result any) error {
	var message json.RawMessage
	var err error
	if file, ok := args["file"].([]byte); ok {
		fields := map[string]string{}
		for name, value := range args {
			if text, ok := value.(string); ok && text != "" {
				fields[name] = text
			}
		}
		message, err = h.upload(ctx, path, file, fields)
	} else {
		text := []byte("{}")
		if len(args) > 0 {
			if text, err = json.Marshal(args); err != nil {
				return err
			}
		}
		message, err = h.Call(ctx, http.MethodPost, path, text)
	}
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(message, result); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

func (h *Site) send(ctx context.Context, verb, to, media string, body io.Reader) (json.RawMessage, error) {
	resp, text, err := h.exchange(ctx, verb, to, media, body)
	if err != nil {
		return nil, err
	}
	return h.read(resp, text)
}

// Description is the OpenAPI document of what the user of the key may do.
func (h *Site) Description(ctx context.Context) ([]byte, error) {
	resp, text, err := h.exchange(ctx, http.MethodGet, h.url+"/api/openapi.json", "", nil)
	if err != nil {
		return nil, err
	}
	if _, err := h.read(resp, text); err != nil {
		return nil, err
	}
	return text, nil
}

// exchange sends a request and reads the answer.
func (h *Site) exchange(ctx context.Context, verb, to, media string, body io.Reader) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, verb, to, body)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "token "+h.key)
	r.Header.Set("Accept", "application/json")
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	resp, err := client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, fmt.Errorf("%w\nhint: is --url %s right, and does the server run?", err, h.url)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: read the answer: %w", h.url, err)
	}
	return resp, text, nil
}

// read takes an answer apart.
func (h *Site) read(resp *http.Response, text []byte) (json.RawMessage, error) {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return nil, fmt.Errorf("%s sends on to %s: give the address of the site itself with --url", h.url, to)
	}
	var answer struct {
		Message json.RawMessage `json:"message"`
		Type    string          `json:"exc_type"`
		Exc     string          `json:"exc"`
	}
	err := json.Unmarshal(text, &answer)
	// Outside of the API an Armature site has pages.
	page := resp.StatusCode == http.StatusNotFound && strings.Contains(messageOf(answer.Message), "no page at this address")
	if err != nil || resp.StatusCode/100 != 2 && answer.Type == "" || page {
		if resp.StatusCode == http.StatusRequestEntityTooLarge {
			return nil, &Refusal{Status: resp.StatusCode, Message: "413 Request Entity Too Large"}
		}
		return nil, fmt.Errorf("%s does not answer as an Armature site does: %s, %s\nhint: --url is the site's own address, without a path", h.url, resp.Status, resp.Header.Get("Content-Type"))
	}
	if resp.StatusCode/100 == 2 {
		return answer.Message, nil
	}
	refused := &Refusal{Status: resp.StatusCode, Type: answer.Type, Message: messageOf(answer.Message)}
	var traces []string
	if json.Unmarshal([]byte(answer.Exc), &traces) == nil && len(traces) > 0 && strings.HasPrefix(traces[0], "Traceback") {
		refused.Trace = traces[0]
	}
	if strings.Contains(refused.Message, "Failed to get method for command framework.") {
		refused.Message = "the server at " + h.url + " cannot do this over HTTP: it is older than this program (" + h.version + ")"
	}
	return nil, refused
}

// messageOf is the text that an error says; a method's answer may be anything else.
func messageOf(message json.RawMessage) string {
	var text string
	if json.Unmarshal(message, &text) != nil {
		return ""
	}
	return text
}
