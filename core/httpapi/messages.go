package httpapi

import "armature/core/doctype"

// notice is one message shown to the user.
type notice struct {
	text   string
	title  string
	raised bool // it came with an error
}

func notices(texts []string) []notice {
	list := make([]notice, len(texts))
	for i, text := range texts {
		list[i].text = text
	}
	return list
}

// appendServerMessages appends the key _server_messages: a string that holds a
// JSON array of strings that hold JSON objects. Clients parse three times.
func appendServerMessages(dst []byte, list []notice) []byte {
	objects := make([]string, len(list))
	for i, n := range list {
		objects[i] = string(n.append(nil))
	}
	dst = append(dst, `"_server_messages":`...)
	return doctype.AppendString(dst, string(appendStrings(nil, objects)))
}

func (n notice) append(dst []byte) []byte {
	dst = append(dst, `{"message":`...)
	dst = doctype.AppendString(dst, n.text)
	if n.title != "" {
		dst = append(dst, `,"title":`...)
		dst = doctype.AppendString(dst, n.title)
	}
	if n.raised {
		return append(dst, `,"indicator":"red","raise_exception":1}`...)
	}
	return append(dst, `,"indicator":"blue"}`...)
}
