package armature

import (
	"encoding/json"
	"reflect"
)

// This is the only file that knows encoding/json. The plain values that documents
// are made of go through the small codec of encode.go and decode.go, which
// neither reflects nor fills the caches that reflection needs; types of the
// author's own come here.

// encode appends v as JSON.
func encode(b []byte, v any) ([]byte, error) {
	if out, ok := appendValue(b, v); ok {
		return out, nil
	}
	text, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, err
		}
	} else if len(text) == 0 {
		text = json.RawMessage("null")
	}
	return append(b, text...), nil
}

// decode reads one JSON value into v, a pointer.
func decode(data []byte, v any) (err error) {
	switch v := v.(type) {
	case *Doc:
		return decodeDoc(data, v)
	case *[]Doc:
		*v, err = decodeDocs(data)
	case *any:
		*v, err = decodeValue(data)
	case *string:
		*v, err = decodeAs[string](data)
	case *int64:
		*v, err = decodeAs[int64](data)
	case *bool:
		*v, err = decodeAs[bool](data)
	case *json.RawMessage:
		*v = append(json.RawMessage(nil), data...) // data is a buffer used again
	case *Event[Doc]:
		err = decodeEvent(data, v)
	default:
		err = json.Unmarshal(data, v)
	}
	return err
}

// Prepare encodes each value given and decodes it into a new one of its type.
// Package encoding/json works out a type's layout when it first meets it. Called
// from an init function, Prepare makes that part of the state from which every
// call starts, instead of work for every call. It is only ever an optimisation.
func Prepare(values ...any) {
	for _, v := range values {
		if text, err := json.Marshal(v); err == nil {
			_ = json.Unmarshal(text, reflect.New(reflect.TypeOf(v)).Interface())
		}
	}
}
