package oauth

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// readForm reads the body of a POST to an endpoint that programs call. Parameters
// are not taken from the query, which ends in logs, and none may come twice but
// resource (RFC 6749 section 3.2, RFC 8707 section 2).
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return nil, refuse("invalid_request", "Unsupported request method "+r.Method)
	}
	if r.URL.RawQuery != "" {
		return nil, refuse("invalid_request", "URL query parameters are not allowed")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, refuse("invalid_request", "The body is not a form (application/x-www-form-urlencoded).")
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, refuse("invalid_request", "The form cannot be read.")
	}
	for name, values := range form {
		if len(values) > 1 && name != "resource" {
			return nil, refuse("invalid_request", "Duplicate "+name+" parameter.")
		}
		for _, v := range append(values, name) {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, refuse("invalid_request", "A parameter is not text.")
			}
		}
	}
	return form, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, &problem{code: "invalid_request", description: "The body is too large.", status: http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		return nil, refuse("invalid_request", "The body cannot be read.")
	}
	return body, nil
}
