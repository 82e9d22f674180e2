package armaturetest

import (
	"encoding/base64"
	"unicode/utf8"

	"armature/sdk/go"
	"armature/sdk/go/internal/raw"
)

// Answer is what a URL answers.
type Answer struct {
	Status  int // 0: 200
	Headers map[string]string
	Body    []byte

	Failure     string        // the request fails with this message instead
	FailureKind armature.Kind // of that error; 0: KindUnavailable
	FailureType string        // its exc_type; empty: that of its kind
}

// Answer says what the next request to a URL is answered. Nothing leaves the
// machine: a request to a URL that has no answer fails.
func (s *Site) Answer(url string, a Answer) {
	s.t.Helper()
	request := answerRequest{
		URL: url, Status: int64(a.Status), Headers: a.Headers,
		Failure: a.Failure, FailureKind: int64(a.FailureKind), FailureType: a.FailureType,
	}
	if utf8.Valid(a.Body) {
		request.Body = string(a.Body)
	} else {
		request.BodyBase64 = base64.StdEncoding.EncodeToString(a.Body)
	}
	s.tell(raw.TestAnswer, request)
}

// Request is one that the plugin sent.
type Request struct {
	App         string            `json:"app"` // of FetchConnected: the Connected App
	Method      string            `json:"method"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"` // names in lower case
	Body        string            `json:"body"`
	BodyOfBytes []byte            `json:"body_base64"` // in place of Body, where that is no text
}

// Fetched lists the requests that were sent on this site, in their order.
func (s *Site) Fetched() (sent []Request) {
	s.t.Helper()
	if err := ask(raw.TestFetched, armature.Doc{}, &sent); err != nil {
		s.t.Fatal(err)
	}
	return sent
}
