package httpapi

import (
	"cmp"

	"armature/core/doctype"
	"armature/core/notice"
)

// raised is the message of an error.
type raised struct{ text, title string }

// appendServerMessages appends the key _server_messages: a string that holds a
// JSON array of strings that hold JSON objects. Clients parse three times.
func appendServerMessages(dst []byte, list []notice.Notice) []byte {
	objects := make([]string, len(list))
	for i, n := range list {
		objects[i] = string(append(appendMessage(nil, n.Text, n.Title, cmp.Or(n.Indicator, notice.Indicators[0])), '}'))
	}
	return appendObjects(dst, objects)
}

// append is appendServerMessages for what an error says.
func (r raised) append(dst []byte) []byte {
	object := append(appendMessage(nil, r.text, r.title, "red"), `,"raise_exception":1}`...)
	return appendObjects(dst, []string{string(object)})
}

func appendObjects(dst []byte, objects []string) []byte {
	dst = append(dst, `"_server_messages":`...)
	return doctype.AppendString(dst, string(appendStrings(nil, objects)))
}

// appendMessage appends one message, all but its closing brace.
func appendMessage(dst []byte, text, title, indicator string) []byte {
	dst = append(dst, `{"message":`...)
	dst = doctype.AppendString(dst, text)
	if title != "" {
		dst = append(dst, `,"title":`...)
		dst = doctype.AppendString(dst, title)
	}
	dst = append(dst, `,"indicator":`...)
	return doctype.AppendString(dst, indicator)
}
