package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"armature/core/account"
	"armature/core/fault"
)

// What is charged to the account of memory, in bytes.
const (
	// requestSize is what any request takes: its goroutine, its head, and a body and
	// an answer of some kilobytes.
	requestSize = 32 << 10
	// freeBody is how much of a body is among that.
	freeBody = 4 << 10
	// bodyFactor is how many times its length a body takes while it is read.
	bodyFactor = 3
	// jsonFactor is the same while JSON becomes a document, the document is stored
	// and the answer made; valueSize is what each value takes beside its text.
	jsonFactor = 10
	valueSize  = 96
	// formFactor is the same for the fields of a form.
	formFactor = 8
)

// admit begins to charge the exchange for its memory.
func (x *exchange) admit() error {
	if x.server.account == nil {
		return nil
	}
	x.server.account.Begin(&x.memory, x.site.Name, account.ConnectionOf(x.ctx), true)
	x.ctx = account.With(x.ctx, &x.memory)
	return x.memory.Take(x.ctx, account.Request, requestSize)
}

// admitDecoding waits for the turn of a large body, and charges what a body becomes,
// before it does.
func (x *exchange) admitDecoding(body []byte, isJSON bool) error {
	if len(body) > heavyBody {
		if err := x.heavy(); err != nil {
			return err
		}
	}
	if len(body) <= freeBody || x.server.account == nil {
		return nil
	}
	size := int64(len(body))
	if !isJSON {
		return x.memory.Reach(x.ctx, account.Body, formFactor*size)
	}
	values := bytes.Count(body, []byte{','}) + bytes.Count(body, []byte{'['}) + bytes.Count(body, []byte{'{'})
	return x.memory.Reach(x.ctx, account.Body, jsonFactor*size+valueSize*int64(values))
}

// hearOutTime is how long the rest of a body is waited for that is thrown away.
const hearOutTime = 2 * time.Second

// hearOut takes the rest of a body that there was no memory for: a client that is
// still sending may not listen, and lose the answer with the connection.
func (x *exchange) hearOut(e *fault.Error) {
	var short account.Refusal
	if x.whole == nil || x.argsRead && x.args.body != nil || !errors.As(e, &short) {
		return
	}
	_ = http.NewResponseController(x.w.ResponseWriter).SetReadDeadline(time.Now().Add(hearOutTime))
	_, _ = io.Copy(io.Discard, io.LimitReader(x.whole, x.maxBody()))
	x.w.Header().Set("Connection", "close")
}

// admitAnswer charges an answer of so many bytes that is about to be put together.
func (x *exchange) admitAnswer(size int) error {
	if size <= freeBody {
		return nil
	}
	return x.memory.Reach(x.ctx, account.Answer, 2*int64(size))
}
