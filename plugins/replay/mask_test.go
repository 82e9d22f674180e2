package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"armature/plugins/replay"
	"armature/runtime/hostapi"
)

// No secret stays in a record, wherever it came from and wherever it went.
func TestMask(t *testing.T) {
	secrets := map[string]string{
		"under its name":        `{"new_password": "S3CRET-value"}`,
		"in a camel":            `{"apiSecret": "S3CRET-value"}`,
		"deep":                  `{"tokens": [{"first": "S3CRET-value"}]}`,
		"a password field":      `{"door": "S3CRET-value"}`,
		"a header":              `{"headers": {"Authorization": "Bearer S3CRET-value"}}`,
		"a pair":                `{"headers": {"X": "token 0123456789:S3CRET-value"}}`,
		"a cookie":              `{"headers": {"Cookie": "sid=S3CRET-value"}, "sid": "S3CRET-value"}`,
		"the body of a request": `{"body": "{\"client_secret\": \"S3CRET-value\"}"}`,
		"the form of a request": `{"body": "a=1&client_secret=S3CRET-value"}`,
		"a value as it is set":  `{"fieldname": "api_secret", "value": "S3CRET-value"}`,
	}
	for name, text := range secrets {
		t.Run(name, func(t *testing.T) {
			for _, where := range []string{"input", "answer", "request"} {
				c := &replay.Call{Input: `{"note": "S3CRET-value, plain"}`, Tape: &hostapi.Tape{Answers: []hostapi.Answer{{Import: "doc_get"}}}}
				c.Outcome = replay.Outcome{Message: "refused: S3CRET-value", Output: `"S3CRET-value"`, Trace: []string{"f (S3CRET-value)"}}
				switch where {
				case "input":
					c.Input = text
				case "answer":
					c.Tape.Answers[0].Answer = []byte(text)
				case "request":
					c.Tape.Answers[0].Request = []byte(text)
				}
				c.Mask([]string{"door"})
				shown := c.Input + string(c.Tape.Answers[0].Answer) + string(c.Tape.Answers[0].Request) + c.Outcome.Message + c.Outcome.Output + c.Outcome.Trace[0]
				if strings.Contains(shown, "S3CRET") || !c.Masked {
					t.Errorf("%s: the record shows %s", where, shown)
				}
				if !json.Valid([]byte(c.Input)) {
					t.Errorf("%s: the input is no JSON any more: %s", where, c.Input)
				}
			}
		})
	}
	c := &replay.Call{Input: `{"pin": 123456, "amount": 12, "text": "a token expires"}`, Outcome: replay.Outcome{Message: "the token expired"}}
	c.Mask(nil)
	if c.Input != `{"pin": 999999, "amount": 12, "text": "a token expires"}` || c.Outcome.Message != "the token expired" {
		t.Errorf("masked to %s, %s", c.Input, c.Outcome.Message)
	}
}
