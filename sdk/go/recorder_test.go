package armature_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"armature/sdk/go"
	"armature/sdk/go/internal/raw"
)

// line is one line that was logged.
type line struct {
	Level   armature.Level
	Message string
}

// recorder is the other end of the imports: it knows no documents, keeps the bytes
// that the SDK sends, and sends those that a test has it send.
type recorder struct {
	Clock time.Time
	Log   []line

	t             *testing.T
	answers       map[string]func(armature.Doc) (any, error)
	input, output []byte
	rest          []byte
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{t: t, answers: map[string]func(armature.Doc) (any, error){}}
	previous := raw.Use(r.wire())
	t.Cleanup(func() { raw.Use(previous) })
	return r
}

// On says what an import answers.
func (r *recorder) On(name string, answer func(armature.Doc) (any, error)) { r.answers[name] = answer }

type thrown struct{ err *armature.Error }

// Call calls an export with arguments, and decodes its output.
func (r *recorder) Call(export func(n int32), args, result any) (err error) {
	r.t.Helper()
	if args == nil {
		args = struct{}{}
	}
	if r.input, err = json.Marshal(args); err != nil {
		return err
	}
	r.output = []byte("null")
	defer func() {
		if e, ok := recover().(thrown); ok {
			err = e.err
		}
	}()
	export(int32(len(r.input)))
	if result == nil {
		return nil
	}
	return json.Unmarshal(r.output, result)
}

// wire is the recorder as package raw sees it.
type wire struct{ *recorder }

func (r *recorder) wire() raw.Host { return wire{r} }

func (w wire) Input(b []byte) int32 {
	copy(b, w.input)
	return int32(len(w.input))
}

func (w wire) Output(b []byte) { w.output = append([]byte(nil), b...) }

func (w wire) Throw(kind int32, b []byte) {
	var text armature.Doc
	if err := json.Unmarshal(b, &text); err != nil {
		w.t.Errorf("throw got %q: %v", b, err)
	}
	panic(thrown{&armature.Error{Kind: armature.Kind(kind), Type: text.String("exc_type"), Message: text.String("message")}})
}

func (w wire) Take(b []byte) int32 {
	left := len(w.rest)
	w.rest = w.rest[copy(b, w.rest):]
	return int32(left)
}

func (w wire) Log(level int32, b []byte) {
	w.recorder.Log = append(w.recorder.Log, line{armature.Level(level), string(b)})
}

func (w wire) Now() int64 { return w.Clock.UnixMicro() }

func (w wire) Random(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
}

func (w wire) Call(name string, in, out []byte) int32 {
	_, function, _ := strings.Cut(name, ".")
	var request armature.Doc
	if err := json.Unmarshal(in, &request); err != nil {
		w.t.Errorf("%s got %q: %v", name, in, err)
	}
	value, err := any(nil), error(nil)
	if answer := w.answers[function]; answer != nil {
		value, err = answer(request)
	}
	kind := armature.Kind(0)
	if err != nil {
		e := &armature.Error{Kind: armature.KindInternal, Message: err.Error()}
		errors.As(err, &e)
		kind, value = e.Kind, map[string]string{"exc_type": e.Type, "message": e.Message}
	}
	text, err := json.Marshal(value)
	if err != nil {
		w.t.Error(err)
	}
	if kind != 0 {
		w.rest = text
		return -int32(kind)
	}
	w.rest = text[copy(out, text):]
	return int32(len(text))
}
