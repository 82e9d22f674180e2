package armature

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
	err = DocGetRequest{DocType: doctype, Name: name}.Ask(&doc)
	return doc, err
}

// GetLocked reads a document and keeps others from changing it until the call ends,
// so that a call which decides by what it has read and then writes need not be run
// again. KindPermission if the caller may not write it. In a GET it locks nothing. For
// a number alone no read is needed: Update takes Doc{"stock": Doc{"$inc": -2, "$min": 0}}.
func GetLocked(doctype, name string) (Doc, error) { return GetLockedAs[Doc](doctype, name) }

// GetLockedAs is GetLocked for a T.
func GetLockedAs[T any](doctype, name string) (doc T, err error) {
	err = DocGetRequest{DocType: doctype, Name: name, Lock: true}.Ask(&doc)
	return doc, err
}

// Insert stores a new document and returns it as stored. fields is a Doc or a
// value that encodes as a JSON object. KindConflict: the name is taken.
func Insert(doctype string, fields any) (Doc, error) { return InsertAs[Doc](doctype, fields) }

// InsertAs is Insert returning a T.
func InsertAs[T any](doctype string, fields any) (doc T, err error) {
	err = DocInsertRequest{Doc: fieldsOf{doctype, fields}}.Ask(&doc)
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
	err = DocUpdateRequest{DocType: doctype, Name: name, Doc: changes}.Ask(&doc)
	return doc, err
}

// Delete removes a document.
func Delete(doctype, name string) error {
	return DocDeleteRequest{DocType: doctype, Name: name}.Ask()
}

// Submit makes a draft final (docstatus 0 to 1).
func Submit(doctype, name string) (doc Doc, err error) {
	err = DocSubmitRequest{DocType: doctype, Name: name}.Ask(&doc)
	return doc, err
}

// Cancel takes a submitted document back (docstatus 1 to 2).
func Cancel(doctype, name string) (doc Doc, err error) {
	err = DocCancelRequest{DocType: doctype, Name: name}.Ask(&doc)
	return doc, err
}
