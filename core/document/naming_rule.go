package document

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
)

// NamingRuleName is the DocType by which an administrator names documents of
// other DocTypes: the first rule, by priority, whose conditions hold.
const NamingRuleName = "Document Naming Rule"

// loadNamingRules reads the rules by DocType, the most important first.
func loadNamingRules(ctx context.Context, tx Tx, boot *doctype.Schema) (map[string][]doctype.NamingRule, error) {
	dt := boot.DocType(NamingRuleName)
	if dt == nil {
		return nil, nil
	}
	conditions, err := childrenByParent(ctx, tx, boot.DocType(dt.Field("conditions").Options), NamingRuleName)
	if err != nil {
		return nil, err
	}
	docs, err := loadAll(ctx, tx, dt)
	if err != nil {
		return nil, err
	}
	rules := make(map[string][]doctype.NamingRule)
	for _, d := range docs {
		if d.Bool("disabled") {
			continue
		}
		r := doctype.NamingRule{Name: d.Name(), Prefix: d.Text("prefix"), Digits: int(d.Int("prefix_digits")), Priority: d.Int("priority")}
		for _, c := range conditions[d.Name()] {
			r.Conditions = append(r.Conditions, doctype.NamingCondition{Field: c.Text("field"), Op: c.Text("condition"), Value: c.Text("value")})
		}
		of := d.Text("document_type")
		rules[of] = append(rules[of], r)
	}
	for _, some := range rules {
		slices.SortFunc(some, func(a, b doctype.NamingRule) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), strings.Compare(a.Name, b.Name))
		})
	}
	return rules, nil
}

// nameByRule names a document by the first rule that applies; ok is false when
// none does.
func (s *Service) nameByRule(ctx context.Context, tx Tx, doc *doctype.Document) (name string, ok bool, err error) {
	for _, r := range doc.Type.Naming {
		if !r.Applies(doc, s.zone()) {
			continue
		}
		prefix, err := s.nameBySeries(ctx, tx, doc, literalParts(r.Prefix, doc.Type))
		if err != nil {
			return "", false, err
		}
		n, err := tx.Next(ctx, "rule:"+r.Name+":"+prefix)
		return fmt.Sprintf("%s%0*d", prefix, r.Digits, n), true, err
	}
	return "", false, nil
}

// literalParts reads a prefix, which may hold date pieces and fields between
// dots but no counter.
func literalParts(prefix string, dt *doctype.DocType) []seriesPart {
	parts := dottedParts(prefix+".#", dt)
	return parts[:len(parts)-1]
}

// namingRules makes every process load a changed rule.
type namingRules struct{ s *Service }

func (namingRules) Handles(typeName string) bool { return typeName == NamingRuleName }
func (namingRules) RunsPlugins(string) bool      { return false }

func (n namingRules) Run(ctx context.Context, ev *Event) error {
	switch ev.Name {
	case Validate:
		return n.validate(ev)
	case OnUpdate, AfterDelete:
		return n.s.publish(ctx, ev.Tx)
	}
	return nil
}

// validate refuses a rule that could never apply, or would make names too long.
func (n namingRules) validate(ev *Event) error {
	dt := n.s.Schema().DocType(ev.Doc.Text("document_type"))
	if dt == nil {
		return nil // the link check says so
	}
	if digits := ev.Doc.Int("prefix_digits"); digits < 1 || digits > 18 {
		return fault.Invalid("", "A naming rule counts with 1 to 18 digits")
	}
	for i, c := range ev.Doc.Rows("conditions") {
		if f := dt.Field(c.Text("field")); f == nil || f.Index < 0 {
			return fault.Invalid("", "Row #%d: %s has no field %s", i+1, dt.Name, c.Text("field"))
		}
	}
	return nil
}
