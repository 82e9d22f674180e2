package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/oauth/oauthstore"
)

// devicePath is where a person goes with the code that a device shows.
const devicePath = "/device"

const deviceAction = "/api/method/" + Prefix + "device"

// wrongUserCode is what everybody is told whose code is none of now.
const wrongUserCode = "This code is not known, or too old. Look at the device again."

var errUserCode = refuse("invalid_request", wrongUserCode)

// device is where a person says what the device may do (RFC 8628 section 3.3).
func (s *Service) device(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return s.devicePage(w, r)
	case http.MethodPost:
		return s.answerDevice(w, r)
	}
	w.Header().Set("Allow", "GET, HEAD, POST")
	return s.refuseToUser(w, r, &problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed})
}

// toDevice leads from the short address to where the page is.
func (s *Service) toDevice(w http.ResponseWriter, r *http.Request) error {
	to := deviceAction
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return sendTo(w, r, to)
}

// devicePage asks for the code, and then whether the device may do what it wants.
func (s *Service) devicePage(w http.ResponseWriter, r *http.Request) error {
	browser, err := s.browser(r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	if browser == nil {
		return sendTo(w, r, "/login?redirect-to="+url.QueryEscape(r.URL.RequestURI()))
	}
	text := r.URL.Query().Get("user_code")
	if text == "" {
		return s.c.Pages.Device(w, r, Device{Action: deviceAction})
	}
	d, c, err := s.deviceOf(r, browser, text)
	if err == errUserCode {
		return s.c.Pages.Device(w, r, Device{Action: deviceAction, Code: text, Error: wrongUserCode})
	}
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	name, err := s.shown(r.Context(), c)
	if err != nil {
		return err
	}
	code := typed(text)
	return s.c.Pages.Consent(w, r, Consent{
		Client: c.id, Host: c.host, Name: name, Itself: c.itself, Policy: c.policy, Terms: c.terms, UserCode: grouped(code), Scopes: d.Scopes,
		User: browser.Caller.User, FullName: browser.Caller.FullName, Request: r.URL.RequestURI(), Action: deviceAction,
		Hidden: [][2]string{{"request", code}, {"proof", s.deviceProof(browser, d)}},
	})
}

// deviceOf finds what a device asks a user for. Codes are short: who tries them out is
// stopped as who guesses at passwords is (RFC 8628 section 5.1).
func (s *Service) deviceOf(r *http.Request, browser *auth.Browser, text string) (d *oauthstore.Device, c *client, err error) {
	ctx := r.Context()
	err = s.c.Auth.Guess(ctx, "oauth user code", browser.Caller.User, s.c.Remote(r), func() error {
		if d, err = s.store.DeviceOf(ctx, (&strategy{s.c.Secret}).hash(userCodeKind, typed(text))); err != nil {
			return err
		}
		if d == nil {
			return errUserCode
		}
		return nil
	}, func(err error) bool { return err == errUserCode })
	if err != nil {
		return nil, nil, err
	}
	c, err = s.client(ctx, d.Client)
	switch {
	case gone(err):
		return nil, nil, errUserCode
	case err != nil:
		return nil, nil, err
	case !c.device || !allCovered(c.scopes, d.Scopes):
		return nil, nil, refuse("unauthorized_client", "The application may not do this any more.")
	case !c.admits(browser.Caller):
		return nil, nil, refuse("access_denied", "The user may not use this application.")
	}
	return d, c, nil
}

// deviceProof is what only a page shown in this session for this device has.
func (s *Service) deviceProof(browser *auth.Browser, d *oauthstore.Device) string {
	return hex.EncodeToString(s.c.Secret.MAC("oauth device consent", strings.Join([]string{
		browser.Session, browser.Caller.User, d.Signature, strings.Join(d.Scopes, " "),
	}, "\n")))
}

// answerDevice takes the answer of the consent page.
func (s *Service) answerDevice(w http.ResponseWriter, r *http.Request) error {
	browser, err := s.answering(w, r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	code := r.PostForm.Get("request")
	if browser == nil {
		return sendTo(w, r, "/login?redirect-to="+url.QueryEscape(devicePath+"?"+url.Values{"user_code": {code}}.Encode()))
	}
	d, c, err := s.deviceOf(r, browser, code)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	if err := proved(r, s.deviceProof(browser, d)); err != nil {
		return s.refuseTwo(w, r, err)
	}
	allowed := r.PostForm.Get("decision") == "allow"
	d.User, d.Status = browser.Caller.User, oauthstore.DeviceDenied
	if allowed {
		d.Status, d.Grant = oauthstore.DeviceAllowed, newID()
		d.AuthTime, d.Methods = browser.Begun.Unix(), browser.Methods
	}
	ctx := r.Context()
	err = s.store.AnswerDevice(ctx, d, s.recording(c, d.Scopes, browser, allowed))
	if errors.Is(err, oauthstore.ErrSpent) {
		return s.refuseToUser(w, r, errUserCode)
	}
	if err != nil {
		return err
	}
	return s.c.Pages.Told(w, r, allowed)
}

// recording is the entry of an answer, written with it.
func (s *Service) recording(c *client, scopes []string, browser *auth.Browser, yes bool) oauthstore.Write {
	return func(ctx context.Context, tx document.Tx) error {
		return s.recordAnswer(ctx, tx, &authorization{client: c, scopes: scopes}, browser, yes)
	}
}
