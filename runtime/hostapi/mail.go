package hostapi

import (
	"context"
	"encoding/json"

	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// sendmail has letters sent once the request's transaction has committed, as the same
// caller in the plugin's frame. What a letter may be and how many there may be are the
// rules of the site (core/letter).
func sendmail(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Recipients  []string        `json:"recipients"`
		Subject     string          `json:"subject"`
		Text        string          `json:"text"`
		Template    string          `json:"email_template"`
		Values      json.RawMessage `json:"values"`
		Attachments []string        `json:"attachments"`
	}
	if err := decode(abi.Sendmail, request, &in); err != nil {
		return nil, err
	}
	l := method.Letter{To: in.Recipients, Subject: in.Subject, Text: in.Text, Template: in.Template, Attachments: in.Attachments}
	if len(in.Values) > 0 && json.Unmarshal(in.Values, &l.Values) != nil {
		return nil, fault.New(fault.BadRequest, "", "%s: values is not an object", abi.Sendmail)
	}
	if st.call.Methods == nil {
		return nil, missing(abi.Sendmail)
	}
	if !method.Reads(st.call.Verb) {
		st.begin()
	}
	list, err := st.call.Methods.Mail(ctx, st.call, st.framed(), l)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []string{}
	}
	answer, err := json.Marshal(struct {
		Jobs []string `json:"jobs"`
	}{list})
	return append(dst, answer...), err
}
