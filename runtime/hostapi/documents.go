package hostapi

import (
	"context"
	"encoding/json"
	"strconv"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
	"armature/runtime/abi"
)

func docGet(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	k, err := readKey(abi.DocGet, request)
	if err != nil {
		return nil, err
	}
	if err := k.check(abi.DocGet); err != nil {
		return nil, err
	}
	if k.Lock {
		tx, err := st.tx()
		if err != nil {
			return nil, err
		}
		doc, err := st.call.Documents.As(st.acting(), tx).GetToChange(ctx, k.DocType, k.Name)
		if err != nil {
			return nil, err
		}
		return st.call.Documents.AppendJSON(dst, st.acting(), doc, document.ReadOptions{}), nil
	}
	return st.read(ctx, dst, func(tx document.Tx, dst []byte) ([]byte, error) {
		return st.call.Documents.As(st.acting(), tx).AppendDocument(ctx, dst, k.DocType, k.Name, document.ReadOptions{})
	})
}

func docList(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	typeName, q, err := list(abi.DocList, request)
	if err != nil {
		return nil, err
	}
	return st.read(ctx, dst, func(tx document.Tx, dst []byte) ([]byte, error) {
		return st.call.Documents.As(st.acting(), tx).AppendList(ctx, dst, typeName, q)
	})
}

func docCount(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	typeName, q, err := list(abi.DocCount, request)
	if err != nil {
		return nil, err
	}
	return st.read(ctx, dst, func(tx document.Tx, dst []byte) ([]byte, error) {
		n, err := st.call.Documents.As(st.acting(), tx).Count(ctx, typeName, q)
		if err != nil {
			return nil, err
		}
		return strconv.AppendInt(dst, n, 10), nil
	})
}

// list reads a request in the words of GET /api/resource/:doctype.
func list(name string, request []byte) (typeName string, q *query.Query, err error) {
	var args map[string]any
	if err := decode(name, request, &args); err != nil {
		return "", nil, err
	}
	typeName, _ = args["doctype"].(string)
	if err := need(name, "doctype", typeName); err != nil {
		return "", nil, err
	}
	q, err = query.Parse(func(arg string) any { return args[arg] })
	if err != nil {
		return "", nil, err
	}
	q.Debug = false // shows statements to those who run the server
	return typeName, q, nil
}

// change is a request to write.
type change struct {
	key
	Doc map[string]any `json:"doc"`
}

func docInsert(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in change
	if err := decode(abi.DocInsert, request, &in); err != nil {
		return nil, err
	}
	inside, _ := in.Doc["doctype"].(string)
	if in.DocType == "" {
		in.DocType = inside
	}
	if err := need(abi.DocInsert, "doctype", in.DocType); err != nil {
		return nil, err
	}
	if inside != "" && inside != in.DocType {
		return nil, fault.New(fault.BadRequest, "", "%s: doctype is %s, and %s inside doc", abi.DocInsert, in.DocType, inside)
	}
	return st.write(ctx, dst, func(tx document.Tx) (*doctype.Document, error) {
		return st.call.Documents.As(st.acting(), tx).Insert(ctx, in.DocType, in.Doc)
	})
}

func docUpdate(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in change
	if err := decode(abi.DocUpdate, request, &in); err != nil {
		return nil, err
	}
	if in.Doc == nil {
		return nil, fault.New(fault.BadRequest, "", "%s: doc is missing", abi.DocUpdate)
	}
	return st.update(ctx, abi.DocUpdate, dst, in.key, in.Doc)
}

// The platform has no other way to submit and to cancel than a change of
// docstatus; its rules decide whether the document may.
var (
	submitted = map[string]any{"docstatus": json.Number("1")}
	cancelled = map[string]any{"docstatus": json.Number("2")}
)

func docSubmit(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	k, err := readKey(abi.DocSubmit, request)
	if err != nil {
		return nil, err
	}
	return st.update(ctx, abi.DocSubmit, dst, k, submitted)
}

func docCancel(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	k, err := readKey(abi.DocCancel, request)
	if err != nil {
		return nil, err
	}
	return st.update(ctx, abi.DocCancel, dst, k, cancelled)
}

func docDelete(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	k, err := readKey(abi.DocDelete, request)
	if err != nil {
		return nil, err
	}
	if err := k.check(abi.DocDelete); err != nil {
		return nil, err
	}
	return st.write(ctx, dst, func(tx document.Tx) (*doctype.Document, error) {
		return nil, st.call.Documents.As(st.acting(), tx).Delete(ctx, k.DocType, k.Name)
	})
}

func (st *State) update(ctx context.Context, name string, dst []byte, k key, values map[string]any) ([]byte, error) {
	if err := k.check(name); err != nil {
		return nil, err
	}
	return st.write(ctx, dst, func(tx document.Tx) (*doctype.Document, error) {
		return st.call.Documents.As(st.acting(), tx).Update(ctx, k.DocType, k.Name, values)
	})
}

// write runs fn in a savepoint, so that a guest that catches the error goes on
// without what fn has written, and appends the document it returns.
func (st *State) write(ctx context.Context, dst []byte, fn func(document.Tx) (*doctype.Document, error)) ([]byte, error) {
	tx, err := st.tx()
	if err != nil {
		return nil, err
	}
	var doc *doctype.Document
	unknown, err := document.CollectUnknown(tx, func() error {
		return tx.Savepoint(ctx, func() (err error) {
			doc, err = fn(tx)
			return err
		})
	})
	switch {
	case err != nil:
		return nil, err
	case doc == nil:
		return append(dst, "null"...), nil
	}
	dst = st.call.Documents.AppendWritten(dst, st.acting(), doc, document.ReadOptions{})
	return document.AppendUnknown(dst, unknown), nil
}
