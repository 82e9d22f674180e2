package schedule

import (
	"context"
	"encoding/json"

	"armature/core/crontab"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
)

// DocType is the DocType of schedules that people make.
const DocType = "Scheduled Job"

// Hooks is the life of a Scheduled Job. Its owner answers for it: the method is called as
// the owner, so nobody else says which it is, with what and when.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

func (hooks) Handles(typeName string) bool { return typeName == DocType }

func (hooks) RunsPlugins(string) bool { return false }

// decides are the fields that say what a schedule does.
var decides = []string{"method", "arguments", "cron", "time_zone", "missed"}

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.BeforeValidate:
		return h.s.check(ev)
	case document.OnUpdate:
		return h.s.saved(ctx, ev)
	case document.OnTrash:
		_, err := ev.Tx.Delete(ctx, schema(), Table(), documentRow(ev.Doc.Name()))
		ev.Tx.AfterCommit(h.s.changed)
		return err
	}
	return nil
}

// check refuses what cannot be a schedule.
func (s *Service) check(ev *document.Event) error {
	doc := ev.Doc
	if ev.Before != nil {
		owner := ev.Before.Text("owner")
		changed := doc.Int("enabled") != 0 && ev.Before.Int("enabled") == 0 || doc.Text("owner") != owner
		for _, field := range decides {
			changed = changed || doc.Text(field) != ev.Before.Text(field)
		}
		if changed && ev.Caller.User != owner {
			return fault.Denied("A scheduled job runs as its owner, %s, who alone may change what it does and enable it: disable it, and make one of your own", owner)
		}
	}
	if doc.Int("enabled") == 0 {
		return nil // one whose method has gone can be taken out of service
	}
	if _, err := crontab.Parse(doc.Text("cron"), doc.Text("time_zone"), s.c.Now().Location()); err != nil {
		return err
	}
	if args := doc.Text("arguments"); args != "" {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(args), &object) != nil || object == nil {
			return fault.Invalid("", "The arguments of a scheduled job are an object as JSON, such as {\"limit\": 10}")
		}
	}
	return s.c.Admits(doc.Text("method"), "POST", ev.Caller)
}

// saved has a schedule go by what its document says now.
func (s *Service) saved(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	name := documentRow(doc.Name())
	ev.Tx.AfterCommit(s.changed)
	if doc.Int("enabled") == 0 {
		_, err := ev.Tx.Delete(ctx, schema(), Table(), name)
		return err
	}
	now := s.c.Now()
	c, err := crontab.Parse(doc.Text("cron"), doc.Text("time_zone"), now.Location())
	if err != nil {
		return err
	}
	r := &Row{
		Name: name, Document: doc.Name(), Cron: doc.Text("cron"), TimeZone: doc.Text("time_zone"), Skip: doc.Text("missed") == "Skip",
		Method: doc.Text("method"), Args: json.RawMessage(doc.Text("arguments")), User: doc.Text("owner"), Due: c.Next(now),
	}
	if ev.Caller.User == r.User {
		r.keep(ev.Caller)
	} else if before, err := get(ctx, ev.Tx, name); err == nil { // somebody has changed the title
		r.scopes, r.frame = before.scopes, before.frame
	} else if fault.KindOf(err) != fault.NotFound {
		return err
	}
	keepDue := ev.Before != nil && ev.Before.Text("cron") == r.Cron && ev.Before.Text("time_zone") == r.TimeZone
	if err := s.put(ctx, ev.Tx, r, keepDue); err != nil {
		return err
	}
	return s.c.Queue().Expect(ctx, ev.Tx)
}

func documentRow(name string) string { return "|" + name }

// Methods are framework.schedule.*, for System Managers.
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path: "framework.schedule.list", Tier: method.Named, Roles: []string{identity.SystemManager}, Verbs: []string{"GET", "POST"},
		Description: "What the site does by the clock, what is due next first: of plugins and of the documents of DocType Scheduled Job.",
		Func: func(ctx context.Context, _ *method.Call) (any, error) {
			list, err := s.List(ctx)
			if err != nil {
				return nil, err
			}
			views := make([]View, len(list))
			for i, r := range list {
				views[i] = r.Show(s.c.Now())
			}
			return views, nil
		},
	}}
}
