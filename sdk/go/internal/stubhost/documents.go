package stubhost

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"armature/sdk/go"
)

const timeLayout = "2006-01-02 15:04:05.000000"

// Put stores a document as it is, outside any call.
func (h *Host) Put(doctype string, doc armature.Doc) {
	h.t.Helper()
	if _, err := h.insert(doctype, doc); err != nil {
		h.t.Fatalf("put %s %s: %v", doctype, doc.Name(), err)
	}
}

// Doc is the stored document, nil if there is none.
func (h *Host) Doc(doctype, name string) armature.Doc {
	if i := h.find(doctype, name); i >= 0 {
		return maps.Clone(h.docs[doctype][i])
	}
	return nil
}

// standard is the answers the stub gives by itself.
func (h *Host) standard() map[string]Answer {
	return map[string]Answer{
		"doc_get":    h.docGet,
		"doc_list":   h.docList,
		"doc_count":  h.docCount,
		"doc_insert": h.docInsert,
		"doc_update": h.docUpdate,
		"doc_delete": h.docDelete,
		"doc_submit": func(in armature.Doc) (any, error) { return h.move(in, 0, 1) },
		"doc_cancel": func(in armature.Doc) (any, error) { return h.move(in, 1, 2) },
		"caller_get": func(armature.Doc) (any, error) {
			return armature.Doc{"user": h.User.Name, "full_name": h.User.FullName, "roles": h.User.Roles}, nil
		},
		"config_get":  func(in armature.Doc) (any, error) { return h.Config[in.String("key")], nil },
		"method_call": h.methodCall,
		"kv_get":      func(in armature.Doc) (any, error) { return h.kv[in.String("key")], nil },
		"kv_set": func(in armature.Doc) (any, error) {
			h.kv[in.String("key")] = in["value"]
			return nil, nil
		},
		"kv_delete": func(in armature.Doc) (any, error) {
			delete(h.kv, in.String("key"))
			return nil, nil
		},
	}
}

func (h *Host) methodCall(in armature.Doc) (any, error) {
	method, known := h.methods[in.String("method")]
	if !known {
		return nil, armature.NotFound("No method " + in.String("method"))
	}
	args, _ := in["args"].(map[string]any)
	return method(args)
}

func (h *Host) docGet(in armature.Doc) (any, error) {
	i, err := h.mustFind(in)
	if err != nil {
		return nil, err
	}
	return present(h.docs[in.DocType()][i]), nil
}

func (h *Host) docInsert(in armature.Doc) (any, error) {
	fields, _ := in["doc"].(map[string]any)
	doctype, _ := fields["doctype"].(string)
	return h.insert(doctype, fields)
}

func (h *Host) docUpdate(in armature.Doc) (any, error) {
	i, err := h.mustFind(in)
	if err != nil {
		return nil, err
	}
	changes, _ := in["doc"].(map[string]any)
	stored := h.docs[in.DocType()][i]
	if m, sent := changes["modified"]; sent && m != stored["modified"] {
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "TimestampMismatchError",
			Message: "The document was changed after you read it"}
	}
	doc := maps.Clone(stored)
	maps.Copy(doc, changes)
	for _, fixed := range []string{"name", "doctype", "owner", "creation", "docstatus"} {
		doc[fixed] = stored[fixed]
	}
	doc["modified"], doc["modified_by"] = h.now(), h.User.Name
	h.docs[in.DocType()][i] = doc
	return present(doc), nil
}

func (h *Host) docDelete(in armature.Doc) (any, error) {
	i, err := h.mustFind(in)
	if err != nil {
		return nil, err
	}
	h.docs[in.DocType()] = slices.Delete(h.docs[in.DocType()], i, i+1)
	return nil, nil
}

// move changes docstatus from one state to the next.
func (h *Host) move(in armature.Doc, from, to int64) (any, error) {
	i, err := h.mustFind(in)
	if err != nil {
		return nil, err
	}
	doc := maps.Clone(h.docs[in.DocType()][i])
	if doc.Int("docstatus") != from {
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "DocstatusTransitionError",
			Message: "docstatus is " + strconv.FormatInt(doc.Int("docstatus"), 10)}
	}
	doc["docstatus"], doc["modified"] = to, h.now()
	h.docs[in.DocType()][i] = doc
	return present(doc), nil
}

func (h *Host) insert(doctype string, fields armature.Doc) (armature.Doc, error) {
	now := h.now()
	doc := armature.Doc{"owner": h.User.Name, "creation": now, "modified": now,
		"modified_by": h.User.Name, "idx": int64(0), "docstatus": int64(0)}
	maps.Copy(doc, fields)
	doc["doctype"] = doctype
	if doc.Name() == "" {
		h.serial++
		doc["name"] = strings.ToLower(doctype) + "-" + strconv.Itoa(h.serial)
	}
	if h.find(doctype, doc.Name()) >= 0 {
		return nil, &armature.Error{Kind: armature.KindConflict, Message: doctype + " " + doc.Name() + " already exists"}
	}
	h.docs[doctype] = append(h.docs[doctype], doc)
	return present(doc), nil
}

func (h *Host) find(doctype, name string) int {
	return slices.IndexFunc(h.docs[doctype], func(d armature.Doc) bool { return d.Name() == name })
}

func (h *Host) mustFind(in armature.Doc) (int, error) {
	i := h.find(in.DocType(), in.Name())
	if i < 0 {
		return i, armature.NotFound(in.DocType() + " " + in.Name() + " not found")
	}
	return i, nil
}

func (h *Host) now() string { return h.Clock.Format(timeLayout) }

// snapshot keeps the stored documents for a rollback. A write replaces a document
// and never changes one in place, so the lists are all there is to copy.
func (h *Host) snapshot() map[string][]armature.Doc {
	kept := make(map[string][]armature.Doc, len(h.docs))
	for doctype, docs := range h.docs {
		kept[doctype] = slices.Clone(docs)
	}
	return kept
}

// present is a document as a client sees it: fields that are null are left out.
func present(doc armature.Doc) armature.Doc {
	out := maps.Clone(doc)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}
