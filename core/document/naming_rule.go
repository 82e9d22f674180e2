package document

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"armature/core/fault"
)

// NamingRuleName is the DocType by which an administrator names documents of
// other DocTypes: the first rule, by priority, whose conditions hold.
const NamingRuleName = "Document Naming Rule"

// NamingRule is one such rule, as part of the schema.
type NamingRule struct {
	Name       string // of its document; the counter is its own
	Prefix     string
	Digits     int
	priority   int64
	conditions []namingCondition
}

type namingCondition struct{ field, op, value string }

// loadNamingRules reads the rules by DocType, the most important first.
func loadNamingRules(ctx context.Context, tx Tx, boot *Schema) (map[string][]NamingRule, error) {
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
	rules := make(map[string][]NamingRule)
	for _, d := range docs {
		if d.Bool("disabled") {
			continue
		}
		r := NamingRule{Name: d.Name(), Prefix: d.Text("prefix"), Digits: int(d.Int("prefix_digits")), priority: d.Int("priority")}
		for _, c := range conditions[d.Name()] {
			r.conditions = append(r.conditions, namingCondition{c.Text("field"), c.Text("condition"), c.Text("value")})
		}
		of := d.Text("document_type")
		rules[of] = append(rules[of], r)
	}
	for _, some := range rules {
		slices.SortFunc(some, func(a, b NamingRule) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), strings.Compare(a.Name, b.Name))
		})
	}
	return rules, nil
}

// nameByRule names a document by the first rule that applies; ok is false when
// none does.
func (s *Service) nameByRule(ctx context.Context, tx Tx, doc *Document) (name string, ok bool, err error) {
	for _, r := range doc.Type.Naming {
		if !r.applies(doc, s.zone()) {
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
func literalParts(prefix string, dt *DocType) []seriesPart {
	parts := dottedParts(prefix+".#", dt)
	return parts[:len(parts)-1]
}

func (r *NamingRule) applies(doc *Document, zone *time.Location) bool {
	for _, c := range r.conditions {
		f := doc.Type.Field(c.field)
		if f == nil || f.Index < 0 {
			return false
		}
		want, err := Coerce(f, c.value, zone)
		if err != nil || !holds(doc.values[f.Index], c.op, want) {
			return false
		}
	}
	return true
}

// holds compares two canonical values of one field; null is before everything.
func holds(have any, op string, want any) bool {
	order := 0
	switch h := have.(type) {
	case int64:
		w, _ := want.(int64)
		order = cmp.Compare(h, w)
	case float64:
		w, _ := want.(float64)
		order = cmp.Compare(h, w)
	default:
		h2, _ := have.(string)
		w, _ := want.(string)
		order = strings.Compare(h2, w)
	}
	switch op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	}
	return false
}

// namingRules makes every process load a changed rule.
type namingRules struct{ s *Service }

func (namingRules) Handles(doctype string) bool { return doctype == NamingRuleName }
func (namingRules) Guest(string) bool           { return false }

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
