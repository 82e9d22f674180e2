package method

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
)

// Deferred is a call that is to be made after the transaction in which it is asked
// for.
type Deferred struct {
	Path   string
	Args   json.RawMessage  // a JSON object; nil: none
	Caller *identity.Caller // as whom; its Frame is that of the plugin which asks

	At       time.Time // not before; zero: as soon as it is committed
	Unique   string    // while a call with this key waits or runs there is no other; empty: any number
	Attempts int       // how often it is tried; 0: as often as is usual
	Lane     string    // calls of one lane are made one after the other, as they were asked for; empty: any order
}

// Later keeps calls until they are made. *jobs.Queue satisfies it.
type Later interface {
	// Enqueue keeps a call if tx is committed, and returns its id, or that of the one
	// that has its Unique. Errors are faults: Validation for what cannot be kept,
	// QuotaExceededError where too many wait.
	Enqueue(ctx context.Context, tx document.Tx, d Deferred) (id string, err error)
}

// Framer knows what plugins may do now. An Invoker that has plugins is one.
type Framer interface {
	// Frame are the grants of a plugin that serves the site; ok is false where it does
	// not.
	Frame(plugin string) (frame *scope.Set, ok bool)
}

// Defer has a call made after the request, for the method that parent is. The rules of
// who may call it with POST are applied now, and again when it is made. A request that
// reads leaves nothing behind, so nothing comes of it there.
//
// Errors: NotFound for a path that names nothing, those of Run, of Later, and
// NotImplemented where nothing keeps calls.
func (s *Service) Defer(ctx context.Context, parent *Call, d Deferred) (id string, err error) {
	if s.later == nil {
		return "", fault.New(fault.NotImplemented, "", "This server keeps no jobs")
	}
	if parent.Tx == nil {
		return "", fault.New(fault.Unavailable, "", "This call has no transaction")
	}
	f, err := s.find(parent.pin, d.Path)
	if err != nil {
		if fault.KindOf(err) == fault.Validation {
			err = fault.Missing("There is no method %s", d.Path)
		}
		return "", err
	}
	defer f.release()
	if err := admit(f.method, http.MethodPost, d.Caller); err != nil {
		return "", err
	}
	if Reads(parent.Verb) {
		return "", nil
	}
	return s.later.Enqueue(ctx, parent.Tx, d)
}

// Scheduled is a call that a plugin has made by the clock.
type Scheduled struct {
	Plugin   string
	Cron     string // as in a crontab
	TimeZone string // empty: the site's
	Skip     bool   // what was missed is skipped; else it runs once
	Path     string // of the method
	Args     json.RawMessage
}

// Scheduler knows what plugins have called by the clock, as far as it was approved. An
// Invoker that has plugins is one.
type Scheduler interface {
	Schedules() []Scheduled
}

// Deferrer has methods that no request calls, deferred calls alone: their paths begin
// with an at sign. An Invoker that has plugins is one.
type Deferrer interface {
	// PinDeferred returns the method of a path, held until its pin is released; nil where
	// there is none.
	PinDeferred(path string) (*Method, Pin)
}

// deferredPrefix begins the paths of methods that no request calls.
const deferredPrefix = "@"

// findDue is find for a deferred call. One that no request calls has nobody to admit:
// whoever asked for it was the platform.
func (s *Service) findDue(path string, caller *identity.Caller) (found, error) {
	if !strings.HasPrefix(path, deferredPrefix) {
		f, err := s.find(nil, path)
		if err != nil {
			return found{}, err
		}
		if err := admit(f.method, http.MethodPost, caller); err != nil {
			f.release()
			return found{}, err
		}
		return f, nil
	}
	if d, ok := s.invoker.(Deferrer); ok {
		if m, pin := d.PinDeferred(path); m != nil {
			return found{m, pin}, nil
		}
	}
	return found{}, fault.Denied("What was to be called, %s, is not there any more", strings.TrimPrefix(path, deferredPrefix))
}

// Publish has a message told, once the transaction of the method that parent is has
// committed, to those who listen to a method: its topic. Only the plugin that has the
// method may; for is the one user whom it is for, empty: all who may call it. Of a
// request that reads nothing comes.
//
// Errors: NotFound for a path that names nothing, Permission for a method of others.
func (s *Service) Publish(ctx context.Context, parent *Call, plugin, path, user string, data json.RawMessage) error {
	if parent.Tx == nil {
		return fault.New(fault.Unavailable, "", "This call has no transaction")
	}
	f, err := s.find(parent.pin, path)
	if err != nil {
		if fault.KindOf(err) == fault.Validation {
			err = fault.Missing("There is no method %s", path)
		}
		return err
	}
	defer f.release()
	if f.method.Plugin == "" || f.method.Plugin != plugin {
		return fault.Denied("The plugin %s may not publish to %s, which is no method of its own", plugin, path)
	}
	if Reads(parent.Verb) {
		return nil
	}
	return parent.Tx.Publish(ctx, document.Change{Name: f.method.Path, For: user, Data: data})
}

// Hears returns the canonical path of a method whose messages the caller may hear:
// who may call it with any verb may. Errors are those of Admits.
func (s *Service) Hears(path string, caller *identity.Caller) (topic string, err error) {
	f, err := s.find(nil, s.Canonical(path))
	if err != nil {
		if fault.KindOf(err) == fault.Validation {
			err = fault.Missing("There is no method %s", path)
		}
		return "", err
	}
	defer f.release()
	return f.method.Path, admit(f.method, f.method.verbs()[0], caller)
}

// Due is a deferred call that is made now.
type Due struct {
	Path   string
	Args   Args
	Caller *identity.Caller // as whom, as the user and the token are now; in no frame
	Frame  *scope.Set       // of the plugin that asked, as it was then; nil: none did
	Key    string           // tells servers that are asked again that it is the same request

	// Done ends the transaction of the call: what it writes is committed together with
	// what the method wrote. It may run more than once.
	Done func(ctx context.Context, tx document.Tx, m *Method, res Result) error
}

// RunDue makes a call as a POST: the method reads outside of a transaction until it
// writes, and Done ends the transaction that begins then.
//
// Errors: those of Run and of Done; Permission where the plugin that asked does not
// serve the site any more.
func (s *Service) RunDue(ctx context.Context, d Due) error {
	caller := d.Caller
	if d.Frame != nil {
		framer, _ := s.invoker.(Framer)
		if framer == nil {
			return gone(d.Frame.Plugin())
		}
		now, ok := framer.Frame(d.Frame.Plugin())
		if !ok {
			return gone(d.Frame.Plugin())
		}
		caller = caller.In(now.And(d.Frame))
	}
	f, err := s.findDue(d.Path, caller)
	if err != nil {
		return err
	}
	defer f.release()
	if f.method.Plugin != "" {
		caller = caller.In(nil) // its own frame is put around it where it runs
	}
	in := Invocation{Path: d.Path, Verb: http.MethodPost, Caller: caller, Args: d.Args}
	r := &run{service: s, found: f, in: in, key: d.Key, done: func(ctx context.Context, tx document.Tx, res Result) error {
		return d.Done(ctx, tx, f.method, res)
	}}
	_, err = r.write(ctx, nil)
	return err
}

func gone(plugin string) error {
	return fault.Denied("The plugin %s, which asked for the call, does not serve the site any more", plugin)
}
