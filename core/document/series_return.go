package document

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"armature/core/doctype"
)

// seriesOf is the pattern by which a stored document was named; nil when no
// series did. Numbers of autoincrement are never used twice.
func seriesOf(doc *doctype.Document) []seriesPart {
	rule := doc.Type.Autoname
	switch {
	case doc.Type.Field("amended_from") != nil && doc.Text("amended_from") != "", doc.Type.NamingField() != "":
		return nil
	case strings.HasPrefix(rule, "naming_series:"):
		return dottedParts(doc.Text("naming_series"), doc.Type)
	case strings.HasPrefix(rule, "format:"):
		return formatParts(strings.TrimPrefix(rule, "format:"))
	case strings.Contains(rule, "#"), strings.Contains(rule, "."):
		return dottedParts(rule, doc.Type)
	}
	return nil
}

// giveBack returns the number in the name of a deleted document to its series,
// so that a document made by mistake leaves no gap. The name must be what the
// pattern gives for the document at its creation: one that was renamed, or whose
// fields have changed, keeps its number.
func (s *Service) giveBack(ctx context.Context, tx Tx, doc *doctype.Document) error {
	parts := seriesOf(doc)
	made, _, ok := doctype.ParseDatetime(doc.TextAt(doctype.ColCreation), nil)
	if parts == nil || !ok {
		return nil
	}
	const here = "\x00" // no name holds it
	prefix, width, counters := "", 0, 0
	text, err := resolveSeries(doc, parts, made, func(before string, n int) (string, error) {
		prefix, width = before, n
		counters++
		return here, nil
	})
	if err != nil || counters != 1 {
		return nil // the pattern has changed since, or numbers depend on numbers
	}
	before, after, _ := strings.Cut(text, here)
	digits, ok := strings.CutPrefix(doc.Name(), before)
	if !ok {
		return nil
	}
	digits, ok = strings.CutSuffix(digits, after)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || fmt.Sprintf("%0*d", width, n) != digits {
		return nil
	}
	return tx.Return(ctx, seriesCounter(doc.Type, prefix), n)
}
