package scope

import "strings"

// capabilities are in words what else a plugin may be given.
var capabilities = map[string]string{
	"http_fetch":        "call other servers",
	"connected_request": "call other services in the name of the user, with the connections the user has made",
	"enqueue":           "start jobs that run after the request",
	"publish":           "tell those who follow its methods",
	"sendmail":          "send letters to anybody, in the site's name",
	"elevated":          "pass the roles of whoever calls it by, on the documents named",
	"platform":          "set credentials, roles and what else decides who may do what",
	"same_origin":       "show pages on the site's own address, where each acts as whoever opens it",
	"kv":                "keep values of its own",
	"schedule":          "have methods of its own called by the clock, as a user of its own",
	"run_as:plugin":     "run handlers as a user of its own, who can do what an administrator gives that user roles for",
}

// platformWarning ends the words about what is the platform's own.
const platformWarning = " — this is part of the platform itself"

// Words says what a plugin may do that has the grant. platform is whether the
// DocType or method it names is one of the platform's own.
func (s Scope) Words(platform bool) string {
	text := s.words()
	if platform {
		text += platformWarning
	}
	return text
}

func (s Scope) words() string {
	switch s.Kind {
	case Resource:
		return "may " + s.Right.words() + " " + s.documents() + ", as far as whoever calls it may"
	case Method:
		prefix, wild := strings.CutSuffix(s.Name, Any)
		switch {
		case wild && prefix == "":
			return "may call every method that whoever calls it may call"
		case wild:
			return "may call the methods whose names begin with " + prefix
		}
		return "may call the method " + s.Name
	case Event:
		what := s.Name
		if what == Any {
			what = "any document that is not the platform's"
		}
		return "sees each " + what + moments(s.Event) + ", and may refuse that"
	case Sets:
		what := s.Field
		if what == Any {
			what = "any field"
		}
		return "may change " + what + " of " + s.Name + moments(s.Event)
	case Public:
		return "brings the type " + s.Name + ", whose documents are open to everybody or to all users"
	}
	if host, ok := strings.CutPrefix(s.Name, "http_fetch:"); ok {
		return "may call the server " + host
	}
	if text := capabilities[s.Name]; text != "" {
		return "may " + text
	}
	return "may use " + s.Name
}

func (s Scope) documents() string {
	if s.Name == Any {
		return "all documents that are not the platform's"
	}
	return "documents of the type " + s.Name
}

func (r Right) words() string {
	if r == Write {
		return "read, create, change, submit and delete"
	}
	return strings.ReplaceAll(strings.ReplaceAll(r.String(), ",", " and "), "update", "change")
}

func moments(event string) string {
	switch event {
	case "before_insert", "after_insert":
		return " when somebody creates one"
	case "on_trash", "after_delete":
		return " when somebody deletes one"
	case "before_submit", "on_submit":
		return " when somebody submits one"
	case "before_cancel", "on_cancel":
		return " when somebody cancels one"
	}
	return " when somebody saves one"
}
