package document

import (
	"context"
	"errors"

	"armature/core/account"
	"armature/core/doctype"
	"armature/core/fault"
)

// DefaultMaxAnswer is the most bytes of an answer where nobody says otherwise.
const DefaultMaxAnswer = 32 << 20

// freeAnswer is how long an answer may be that nobody charges, in bytes.
const freeAnswer = 32 << 10

// charge charges an answer that is about to have so many bytes, at what it takes
// while it grows.
func charge(ctx context.Context, bytes int) error {
	return account.From(ctx).Reach(ctx, account.Answer, 3*int64(bytes))
}

// valueSize is what a value takes in memory beside the bytes of a text.
const valueSize = 16

// size is about how many bytes values take.
func size(values []any) int {
	n := valueSize * len(values)
	for _, v := range values {
		if text, ok := v.(string); ok {
			n += len(text)
		}
	}
	return n
}

// sizeOf is about how many bytes a document takes with its rows.
func sizeOf(doc *doctype.Document) int {
	n := size(doc.Values())
	for _, row := range RowsOf(doc) {
		n += size(row.Values())
	}
	return n
}

// admitSize refuses a document that no answer could hold: what is stored can be
// read. It is a TooLarge fault.
func (s *Service) admitSize(doc *doctype.Document) error {
	if most := s.maxAnswer(); sizeOf(doc) > most {
		return fault.New(fault.TooLarge, "", "The document would have more than %d bytes", most)
	}
	return nil
}

// answerTooLarge is what ErrTooManyBytes means to who asked.
func (s *Service) answerTooLarge(err error) error {
	if errors.Is(err, doctype.ErrTooManyBytes) {
		return fault.Invalid("ResponseTooLargeError", "The answer would have more than %d bytes; ask for fewer rows or fields", s.maxAnswer())
	}
	return err
}
