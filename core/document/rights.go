package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
)

// may is what the caller may do, as the transaction sees documents: whoever asks
// for a right asks there.
func (s *Service) may(tx Tx, caller *identity.Caller) *access.Rights {
	r := &struct { // one allocation: every request asks
		access.Rights
		bound
	}{Rights: access.Rights{Caller: caller, Schema: s.Schema(), Now: s.now(), Tx: tx, Protection: s.protection}}
	if s.extra != nil {
		r.bound = bound{s.extra, tx, caller}
		r.Extra = &r.bound
	}
	return &r.Rights
}

// bound is ExtraAccess for one caller in one transaction.
type bound struct {
	extra  ExtraAccess
	tx     Tx
	caller *identity.Caller
}

func (b *bound) Covers(typeName string) bool { return b.extra.Covers(typeName) }

func (b *bound) Decide(ctx context.Context, doc *doctype.Document, right access.Right) (access.Verdict, error) {
	return b.extra.Decide(ctx, b.tx, b.caller, doc, right)
}

func (b *bound) Seen(ctx context.Context) (within, more doctype.Where, err error) {
	return b.extra.Seen(ctx, b.tx, b.caller)
}

// warnBroken says which rules give nothing.
func (s *Service) warnBroken(sc *doctype.Schema) {
	access.Broken(sc, s.now(), func(dt *doctype.DocType, r *doctype.Rule, err error) {
		s.log.Error("a permission rule cannot be read and gives nothing", "doctype", dt.Name, "role", r.Role, "condition", r.Text, "error", err)
	})
}

// column reads one column of the rows that meet a condition.
func (s *Service) column(ctx context.Context, tx Tx, dt *doctype.DocType, f *doctype.Field, where doctype.Where) ([]any, error) {
	var values []any
	err := tx.Rows(ctx, &doctype.Select{
		DocType: dt, Where: where,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: f}, Key: f.Name}},
	}, func(v []any) error {
		values = append(values, v[0])
		return nil
	})
	return values, err
}
