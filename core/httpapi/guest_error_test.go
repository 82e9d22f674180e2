package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/method"
	"armature/core/sites/sitetest"
)

// TestGuestLearnsTheType: of an error that nobody intended a Guest is told the
// type, as JSON and on a page, and of one that was intended the message.
func TestGuestLearnsTheType(t *testing.T) {
	const inside = "pq: relation tab_secret at /srv/site/files"
	causes := map[string]error{
		"bug": errors.New(inside), "wrapped": fault.Wrap(fault.Internal, "", errors.New(inside), inside),
		"trap": fault.New(fault.Trap, "", inside), "fuel": fault.New(fault.Exhausted, "", inside),
		"meant": fault.Invalid("", "say please"),
	}
	var methods []*method.Method
	for name, err := range causes {
		methods = append(methods, &method.Method{Path: "test." + name, AllowGuest: true,
			Func: func(context.Context, *method.Call) (any, error) { return nil, err }})
	}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		for name := range causes {
			r := s.Guest.Get("/api/method/test." + name)
			switch {
			case strings.Contains(r.Text, inside), name == "meant" && !strings.Contains(r.Text, "say please"):
				t.Errorf("%s: %s", name, r.Text)
			case name != "meant" && (r.Status != 500 || len(r.Body) != 2 || r.Body["exc_type"] == nil || r.Body["message"] != "Something went wrong on the server"):
				t.Errorf("%s: %d %s", name, r.Status, r.Text)
			}
		}
	}, sitetest.WithMethods(methods...))
}
