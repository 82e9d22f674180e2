package armature

import "armature/sdk/go/internal/raw"

// The document functions work as the caller, within the caller's roles and the
// scopes of its token. They return *Error: KindNotFound if there is no such
// document, KindPermission if the caller may not, KindValidation if a rule
// refuses. A write that fails is undone by itself: a method may catch the error
// and go on. The As variants decode into a type of the author's own, by the
// rules of encoding/json.

// Get reads a document.
func Get(doctype, name string) (Doc, error) { return GetAs[Doc](doctype, name) }

// GetAs reads a document as a T.
func GetAs[T any](doctype, name string) (doc T, err error) {
	err = finish(raw.DocGet, documentKey(doctype, name), &doc)
	return doc, err
}

// Insert stores a new document and returns it as stored. fields is a Doc or a
// value that encodes as a JSON object. KindConflict: the name is taken.
func Insert(doctype string, fields any) (Doc, error) { return InsertAs[Doc](doctype, fields) }

// InsertAs is Insert returning a T.
func InsertAs[T any](doctype string, fields any) (doc T, err error) {
	b, err := encodeArg(request(`{"doc":`), fields)
	if err != nil {
		return doc, err
	}
	if b, err = setDocType(b, doctype); err == nil {
		err = finish(raw.DocInsert, b, &doc)
	}
	return doc, err
}

// Update changes the given fields of a document and returns the whole document.
// Fields that are left out stay as they are. With a field "modified" the update
// is refused, as a TimestampMismatchError of KindValidation, unless the stored
// document is that old.
func Update(doctype, name string, changes any) (Doc, error) {
	return UpdateAs[Doc](doctype, name, changes)
}

// UpdateAs is Update returning a T.
func UpdateAs[T any](doctype, name string, changes any) (doc T, err error) {
	b := documentKey(doctype, name)
	if b, err = valueMember(b, "doc", changes); err == nil {
		err = finish(raw.DocUpdate, b, &doc)
	}
	return doc, err
}

// Delete removes a document.
func Delete(doctype, name string) error {
	return finish(raw.DocDelete, documentKey(doctype, name), nil)
}

// Submit makes a draft final (docstatus 0 to 1).
func Submit(doctype, name string) (doc Doc, err error) {
	err = finish(raw.DocSubmit, documentKey(doctype, name), &doc)
	return doc, err
}

// Cancel takes a submitted document back (docstatus 1 to 2).
func Cancel(doctype, name string) (doc Doc, err error) {
	err = finish(raw.DocCancel, documentKey(doctype, name), &doc)
	return doc, err
}

func documentKey(doctype, name string) []byte {
	return member(appendString(request(`{"doctype":`), doctype), "name", name)
}

// setDocType adds the DocType to the object at the end of b. It comes last, so
// that it holds if the object already has one.
func setDocType(b []byte, doctype string) ([]byte, error) {
	last := len(b) - 1
	if b[last] != '}' {
		return nil, &Error{KindInternal, "", "insert " + doctype + ": fields are not a JSON object"}
	}
	b = b[:last]
	if b[last-1] != '{' {
		b = append(b, ',')
	}
	b = appendString(append(b, `"doctype":`...), doctype)
	return append(b, '}'), nil
}
