package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"armature/core/document"
	"armature/core/fault"
)

// place brings a subscription to the group, or the topic, that its stream's caller has
// a right to now. What it was shown by a group that it leaves is in moved then.
func (p *pump) place(ctx context.Context, m *member, moved map[*member]map[string]uint64) error {
	if m.asked.Topic != "" {
		topic, err := p.s.c.Methods().Hears(m.asked.Topic, m.stream.caller)
		if err != nil {
			return err
		}
		if p.topics[topic] == nil {
			p.topics[topic] = map[*member]struct{}{}
		}
		m.topic, m.key = topic, topic
		p.topics[topic][m] = struct{}{}
		return nil
	}
	key, reads, err := p.keyOf(ctx, m)
	if err != nil {
		return err
	}
	if m.group != nil && m.group.key == key {
		return nil
	}
	if before := m.group; before != nil {
		if _, twice := moved[m]; !twice {
			moved[m] = maps.Clone(before.shown)
		}
		p.drop(m)
	}
	g := p.groups[key]
	if g == nil {
		g = &group{key: key, doctype: m.asked.DocType, name: m.asked.Name, query: m.asked.query, reads: map[string]bool{},
			members: map[*member]struct{}{}, shown: map[string]uint64{}, fresh: true}
		for _, name := range reads {
			g.reads[name] = true
		}
		p.groups[key] = g
	}
	m.group, m.key = g, key
	g.members[m] = struct{}{}
	return nil
}

// keyOf names the group of a subscription: what it asks for, as the rights of its
// caller resolve it.
func (p *pump) keyOf(ctx context.Context, m *member) (key string, reads []string, err error) {
	a, caller, documents := m.asked, m.stream.caller, p.s.c.Documents()
	dt := documents.Schema().DocType(a.DocType)
	if dt != nil && dt.Child {
		return "", nil, fault.Invalid("", "Rows of %s are followed with the documents that have them", dt.Name)
	}
	q := a.query
	if a.Name != "" {
		var tables []string
		if dt != nil {
			for _, t := range dt.Tables {
				tables = append(tables, t.Name)
			}
		}
		q = ofDocument(a.Name, tables)
	}
	err = p.s.c.Store.Read(ctx, func(tx document.Tx) (err error) {
		if dt != nil && dt.Single && a.Name != "" {
			// It is in no list, so nobody knows whose rights are equal.
			key = fmt.Sprintf("%s of %p", strconv.Quote(dt.Name), m)
			_, err = documents.As(caller, tx).Get(ctx, a.DocType, a.Name)
			return err
		}
		key, reads, err = documents.As(caller, tx).Fingerprint(ctx, a.DocType, q)
		return err
	})
	if a.Name != "" {
		key = "document " + strconv.Quote(a.Name) + key
	} else {
		key = "list " + key
	}
	return key, slices.Compact(reads), err
}
