package armature

import (
	"errors"
	"strconv"

	"armature/sdk/go/internal/raw"
)

// scratch holds every request and every answer that fits. The host restores each
// memory page a call has written, so one small static place, used again and
// again, is cheaper than fresh memory from the allocator.
var scratch struct {
	request [2 << 10]byte
	answer  [30 << 10]byte
}

// capability is one of the host's functions of the shape JSON in, JSON out.
type capability func(in, out []byte) int32

// invoke sends a request. The answer is valid until the next call of the host.
func invoke(call capability, request []byte) ([]byte, error) {
	b := scratch.answer[:]
	n := call(request, b)
	if n < 0 {
		return nil, takeError(Kind(-n))
	}
	if int(n) <= len(b) {
		return b[:n], nil
	}
	whole := make([]byte, n)
	raw.Take(whole[copy(whole, b):])
	return whole, nil
}

// takeError fetches the error of the call that has just failed with kind.
func takeError(kind Kind) error {
	b := scratch.answer[:]
	n := raw.Take(b)
	if int(n) > len(b) {
		whole := make([]byte, n)
		raw.Take(whole[copy(whole, b):])
		b = whole
	}
	e := &Error{Kind: kind}
	var text Doc
	// A body that cannot be read still leaves the kind, which is what programs
	// decide by.
	if decode(b[:n], &text) == nil {
		e.Type, e.Message = text.String("exc_type"), text.String("message")
	}
	return e
}

// request starts a text in the static buffer.
func request(text string) []byte { return append(scratch.request[:0], text...) }

// asking is a request that is being written, in the static buffer: the text of an
// object without its end. What could not be encoded is said when it is sent.
type asking struct {
	b   []byte
	err error
}

func (q *asking) key(name string) {
	if q.b[len(q.b)-1] != '{' {
		q.b = append(q.b, ',')
	}
	q.b = append(q.b, '"')
	q.b = append(q.b, name...)
	q.b = append(q.b, '"', ':')
}

func (q *asking) text(name, value string) {
	q.key(name)
	q.b = appendString(q.b, value)
}

func (q *asking) flag(name string, value bool) {
	q.key(name)
	q.b = strconv.AppendBool(q.b, value)
}

func (q *asking) number(name string, value int64) {
	q.key(name)
	q.b = strconv.AppendInt(q.b, value, 10)
}

func (q *asking) texts(name string, values []string) {
	q.key(name)
	q.b = append(q.b, '[')
	for i, value := range values {
		if i > 0 {
			q.b = append(q.b, ',')
		}
		q.b = appendString(q.b, value)
	}
	q.b = append(q.b, ']')
}

func (q *asking) headers(name string, values map[string]string) {
	q.key(name)
	q.b = append(q.b, '{')
	first := true
	for header, value := range values {
		if !first {
			q.b = append(q.b, ',')
		}
		first = false
		q.b = appendString(append(appendString(q.b, header), ':'), value)
	}
	q.b = append(q.b, '}')
}

func (q *asking) filters(name string, filters []Filter) {
	q.key(name)
	q.b = append(q.b, '[')
	for i, f := range filters {
		if i > 0 {
			q.b = append(q.b, ',')
		}
		q.b = appendString(append(q.b, '['), f.Field)
		q.b = append(appendString(append(q.b, ','), f.Op), ',')
		q.encode(f.Value)
		q.b = append(q.b, ']')
	}
	q.b = append(q.b, ']')
}

func (q *asking) value(name string, value any) {
	q.key(name)
	q.encode(value)
}

// encode appends a value of the author's; one that cannot be encoded is a mistake in
// the plugin.
func (q *asking) encode(value any) {
	if q.err != nil {
		return
	}
	fields, isFields := value.(fieldsOf)
	if isFields {
		value = fields.fields
	}
	b, err := encode(q.b, value)
	if err == nil && isFields {
		b, err = setDocType(b, fields.doctype)
	}
	if err != nil {
		q.err = &Error{KindInternal, "", "encode request: " + err.Error()}
		return
	}
	q.b = b
}

// fieldsOf are the fields of a document of a DocType, which is one of them.
type fieldsOf struct {
	doctype string
	fields  any
}

// setDocType adds the DocType to the object at the end of b. It comes last, so
// that it holds if the object already has one.
func setDocType(b []byte, doctype string) ([]byte, error) {
	last := len(b) - 1
	if b[last] != '}' {
		return nil, errors.New("the fields of a document are not a JSON object")
	}
	b = b[:last]
	if b[last-1] != '{' {
		b = append(b, ',')
	}
	b = appendString(append(b, `"doctype":`...), doctype)
	return append(b, '}'), nil
}

// send sends the request and decodes the answer into v unless v is nil.
func (q *asking) send(call capability, v any) error {
	if q.err != nil {
		return q.err
	}
	answer, err := invoke(call, append(q.b, '}'))
	if err != nil || v == nil {
		return err
	}
	if err := decode(answer, v); err != nil {
		return &Error{KindInternal, "", "decode answer: " + err.Error()}
	}
	return nil
}
