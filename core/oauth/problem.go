package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/ory/fosite"

	"armature/core/fault"
	"armature/core/oauth/oauthstore"
)

// problem is a refusal in the words of an RFC.
type problem struct {
	code        string // of the error: a name from an RFC, always
	description string // for the developer of the client
	status      int    // 0: 400
	header      http.Header
}

func (p *problem) Error() string { return p.code + ": " + p.description }

func refuse(code, description string) *problem { return &problem{code: code, description: description} }

// write sends the problem as JSON (RFC 6749 section 5.2).
func (p *problem) write(w http.ResponseWriter) error {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	status := p.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	return sendJSON(w, status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{p.code, printable(p.description)})
}

// printable drops what an error_description may not hold (RFC 6749 section 5.2).
func printable(text string) string {
	clean := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			clean = append(clean, '\'')
		case c >= 0x20 && c < 0x7f:
			clean = append(clean, c)
		}
	}
	return string(clean)
}

func sendJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client is gone; what was done stays done
	return nil
}

// problemOf puts an error of fosite in the words of RFC 6749. An error that is
// the server's own is returned as such.
func problemOf(err error) (*problem, error) {
	var p *problem
	if errors.As(err, &p) {
		return p, nil
	}
	var f *fault.Error
	if errors.As(err, &f) && (f.Kind == fault.Unavailable || f.Kind == fault.TooManyRequests) {
		return nil, f
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	switch {
	case errors.Is(err, oauthstore.ErrSpent):
		return refuse("invalid_grant", "The code or refresh token has been used before."), nil
	case errors.Is(err, fosite.ErrServerError):
		return nil, err
	case errors.Is(err, fosite.ErrNotFound), errors.Is(err, fosite.ErrInactiveToken):
		return refuse("invalid_grant", "The code or refresh token is not valid."), nil
	}
	var rfc *fosite.RFC6749Error
	if !errors.As(err, &rfc) {
		return nil, err
	}
	code := rfc.ErrorField
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
		"invalid_scope", "access_denied", "unsupported_response_type":
	case "scope_not_granted":
		code = "invalid_scope"
	default:
		code = "invalid_request" // names that fosite has and the RFC has not
	}
	description := rfc.HintField
	if description == "" {
		description = rfc.DescriptionField
	}
	return refuse(code, description), nil
}

// Fail answers with a failure of the server's in the words of RFC 6749 section
// 4.1.2.1, which are all that a client can read, and which say nothing of the
// cause. What is none it leaves alone.
func Fail(w http.ResponseWriter, _ *http.Request, e *fault.Error) bool {
	p := &problem{status: e.Status()}
	switch e.Kind {
	case fault.Unavailable, fault.Timeout:
		p.code, p.description = "temporarily_unavailable", "The server cannot answer at the moment."
	case fault.Internal, fault.Trap, fault.Exhausted:
		p.code, p.description = "server_error", "Something went wrong on the server."
	default:
		return false
	}
	return p.write(w) == nil
}

// fail writes a refusal; what is not one stays an error. RFC 6749 has no name for
// too many tries at the token endpoint; the one for later is what clients know.
func fail(w http.ResponseWriter, err error) error {
	if f := fault.From(err); f.Kind == fault.TooManyRequests {
		var more interface{ SetHeaders(h http.Header) }
		if errors.As(err, &more) {
			more.SetHeaders(w.Header())
		}
		late := refuse("temporarily_unavailable", f.Message)
		late.status = f.Status()
		return late.write(w)
	}
	p, err := problemOf(err)
	if err != nil {
		return err
	}
	return p.write(w)
}
