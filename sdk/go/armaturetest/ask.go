package armaturetest

import (
	"encoding/json"

	"armature/sdk/go"
	"armature/sdk/go/internal/raw"
)

// capability is a function of the host of the shape JSON in, JSON out.
type capability func(in, out []byte) int32

// ask sends a request and decodes the answer, unless answer is nil.
func ask(call capability, request, answer any) error {
	in, err := json.Marshal(request)
	if err != nil {
		return err
	}
	out := make([]byte, 64<<10)
	n := call(in, out)
	if n < 0 {
		return refusal(armature.Kind(-n), rest(out, int(raw.Take(out))))
	}
	text := rest(out, int(n))
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// rest is the whole of an answer of which the beginning is there.
func rest(begun []byte, length int) []byte {
	if length <= len(begun) {
		return begun[:length]
	}
	whole := make([]byte, length)
	raw.Take(whole[copy(whole, begun):])
	return whole
}

func refusal(kind armature.Kind, body []byte) error {
	var text struct {
		Type    string `json:"exc_type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(body, &text); err != nil {
		text.Message = string(body)
	}
	return &armature.Error{Kind: kind, Type: text.Type, Message: text.Message}
}
