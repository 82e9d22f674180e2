package stubhost

import (
	"encoding/json"
	"errors"

	"armature/sdk/go"
)

// wire is the Host as the plugin's imports see it: bytes and lengths, by the
// rules of sdk/abi/abi.md.
type wire struct{ h *Host }

func (w wire) Input(b []byte) int32 {
	copy(b, w.h.input)
	return int32(len(w.h.input))
}

func (w wire) Output(b []byte) { w.h.output = append([]byte(nil), b...) }

func (w wire) Throw(kind int32, b []byte) {
	e := &armature.Error{Kind: armature.Kind(kind)}
	var text armature.Doc
	if err := json.Unmarshal(b, &text); err != nil {
		w.h.t.Errorf("throw got %q: %v", b, err)
	}
	e.Type, e.Message = text.String("exc_type"), text.String("message")
	panic(thrown{e})
}

func (w wire) Take(b []byte) int32 {
	left := len(w.h.rest)
	w.h.rest = w.h.rest[copy(b, w.h.rest):]
	return int32(left)
}

func (w wire) Log(level int32, b []byte) {
	w.h.Log = append(w.h.Log, Line{armature.Level(level), string(b)})
}

func (w wire) Now() int64 { return w.h.Clock.UnixMicro() }

func (w wire) Random(b []byte) {
	for i := range b {
		b[i] = byte(w.h.random.Uint32())
	}
}

func (w wire) Call(name string, in, out []byte) int32 {
	var request armature.Doc
	if err := json.Unmarshal(in, &request); err != nil {
		return w.fail(&armature.Error{Kind: armature.KindBadRequest, Message: "request of " + name + ": " + err.Error()})
	}
	answer, known := w.h.answers[name]
	if !known {
		return w.fail(&armature.Error{Kind: armature.KindNotImplemented, Message: name + " has no answer; see Host.On"})
	}
	value, err := answer(request)
	if err != nil {
		return w.fail(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return w.fail(err)
	}
	w.h.rest = text[copy(out, text):]
	return int32(len(text))
}

// fail leaves the error for take and returns its kind as a host call does.
func (w wire) fail(err error) int32 {
	e := &armature.Error{Kind: armature.KindInternal, Message: err.Error()}
	errors.As(err, &e)
	name := e.Type
	if name == "" {
		name = e.Kind.String()
	}
	w.h.rest, _ = json.Marshal(map[string]string{"exc_type": name, "message": e.Message})
	return -int32(e.Kind)
}
