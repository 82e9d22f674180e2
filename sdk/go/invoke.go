package armature

import "armature/sdk/go/internal/raw"

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

// request starts a request in the static buffer.
func request(text string) []byte { return append(scratch.request[:0], text...) }

// member appends a string member after a comma; the first member of an object is
// part of the text given to request.
func member(b []byte, key, value string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return appendString(b, value)
}

// valueMember appends a member of any type after a comma.
func valueMember(b []byte, key string, value any) ([]byte, error) {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return encodeArg(b, value)
}

// encodeArg encodes a value the author passed; what cannot be encoded is a
// mistake in the plugin.
func encodeArg(b []byte, value any) ([]byte, error) {
	b, err := encode(b, value)
	if err != nil {
		return nil, &Error{KindInternal, "", "encode request: " + err.Error()}
	}
	return b, nil
}

// finish closes the request, sends it and decodes the answer into v unless v is
// nil.
func finish(call capability, b []byte, v any) error {
	answer, err := invoke(call, append(b, '}'))
	if err != nil || v == nil {
		return err
	}
	if err := decode(answer, v); err != nil {
		return &Error{KindInternal, "", "decode answer: " + err.Error()}
	}
	return nil
}
