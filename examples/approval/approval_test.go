package main

import (
	"errors"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

const ann, lea, finn, both = "ann@example.com", "lea@example.com", "finn@example.com", "bo@example.com"

// office is a site with the people of the tests: Ann asks, Lea leads the team,
// Finn is of finance and Bo of both.
func office(t *testing.T) *armaturetest.Site {
	t.Helper()
	s := armaturetest.New(t)
	for user, roles := range map[string][]string{ann: nil, lea: {"Team Lead"}, finn: {"Finance"}, both: {"Team Lead", "Finance"}} {
		rows := []any{}
		for _, role := range roles {
			rows = append(rows, armature.Doc{"role": role})
		}
		s.Insert("User", armature.Doc{"email": user, "first_name": user, "roles": rows})
	}
	return s
}

// asked is a request that somebody has made.
func asked(s *armaturetest.Site, user string) (name string) {
	s.ActAs(user)
	return s.Insert("Purchase Request", armature.Doc{"title": "Chair", "amount": 100, "status": "Approved"}).Name()
}

// decideBy has somebody set a status by the API of documents.
func decideBy(s *armaturetest.Site, user, name string, status Status, remark string) error {
	s.ActAs(user)
	_, err := armature.Update("Purchase Request", name, armature.Doc{"status": string(status), "remark": remark})
	return err
}

// excType is the type of an error, "" for none.
func excType(err error) string {
	var e *armature.Error
	if errors.As(err, &e) {
		return e.Type
	}
	return ""
}

func TestNewRequestsBeginAtTheBeginning(t *testing.T) {
	s := office(t)
	got := s.Get("Purchase Request", asked(s, ann))
	if got.String("status") != string(Requested) || len(got.Docs("decisions")) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestDecisions(t *testing.T) {
	s := office(t)
	tests := []struct {
		name    string
		owner   string
		first   string // who has checked it before; empty: nobody
		user    string
		to      Status
		remark  string
		excType string
	}{
		{"first step", ann, "", lea, Checked, "", ""},
		{"second step", ann, lea, finn, Approved, "fine", ""},
		{"rejected at once", ann, "", lea, Rejected, "no", ""},
		{"rejected later", ann, lea, finn, Rejected, "no", ""},
		{"rejected without a word", ann, "", lea, Rejected, "", "RemarkMissingError"},
		{"without a role", ann, "", ann, Checked, "", "NotYourTurnError"},
		{"the role of the other step", ann, "", finn, Checked, "", "NotYourTurnError"},
		{"one's own", both, "", both, Checked, "", "OwnRequestError"},
		{"one's own, rejected", both, "", both, Rejected, "no", "OwnRequestError"},
		{"both steps", ann, both, both, Approved, "", "SecondPairOfEyesError"},
		{"a step left out", ann, "", both, Approved, "", "WrongStepError"},
		{"back", ann, lea, both, Requested, "", "WrongStepError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, decided := asked(s, tt.owner), 0
			if tt.first != "" {
				if err := decideBy(s, tt.first, name, Checked, ""); err != nil {
					t.Fatal(err)
				}
				decided = 1
			}
			err := decideBy(s, tt.user, name, tt.to, tt.remark)
			if excType(err) != tt.excType {
				t.Fatalf("got %v", err)
			}
			s.ActAs("Administrator")
			rows := s.Get("Purchase Request", name).Docs("decisions")
			if tt.excType != "" {
				if len(rows) != decided {
					t.Errorf("decisions %v", rows)
				}
				return
			}
			if len(rows) != decided+1 || rows[decided].String("user") != tt.user || rows[decided].String("status") != string(tt.to) || rows[decided].String("remark") != tt.remark {
				t.Errorf("decisions %v", rows)
			}
		})
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	s := office(t)
	name := asked(s, ann)
	change := func(user string, changes armature.Doc) error {
		s.ActAs(user)
		_, err := armature.Update("Purchase Request", name, changes)
		return err
	}
	if err := change(ann, armature.Doc{"amount": 1000}); err != nil {
		t.Errorf("before any decision: %v", err)
	}
	for _, user := range []string{lea, finn} {
		if err := change(user, armature.Doc{"amount": 1}); excType(err) != "NotYoursError" {
			t.Errorf("%s: %v", user, err)
		}
	}
	if err := change(ann, armature.Doc{"amount": 1, "status": "Checked"}); excType(err) != "DecidedError" {
		t.Errorf("with the decision: %v", err)
	}
	if err := decideBy(s, lea, name, Checked, ""); err != nil {
		t.Fatal(err)
	}
	if err := change(ann, armature.Doc{"amount": 1}); excType(err) != "DecidedError" {
		t.Errorf("after it: %v", err)
	}
}

func TestMethods(t *testing.T) {
	s := office(t)
	name := asked(s, ann)
	asked(s, both) // waits for somebody else than Bo
	s.ActAs(lea)
	var waiting []Waiting
	if err := s.CallBy("GET", "acme.approval.pending", nil, &waiting); err != nil || len(waiting) != 2 || waiting[0].Name != name {
		t.Fatalf("got %+v, %v", waiting, err)
	}
	seen := waiting[0].Modified
	for _, method := range []string{"approve", "reject"} {
		if err := s.Call("acme.approval."+method, Deciding{name, "2020-01-01 00:00:00.000000", "no"}, nil); excType(err) != "TimestampMismatchError" {
			t.Errorf("%s what was changed: %v", method, err)
		}
	}
	if err := s.Call("acme.approval.approve", Deciding{name, seen, "fine"}, nil); err != nil {
		t.Fatal(err)
	}
	s.ActAs(finn)
	if _, err := armature.Submit("Purchase Request", name); excType(err) != "NotApprovedError" {
		t.Errorf("submitted before it is approved: %v", err)
	}
	seen = s.Get("Purchase Request", name).String("modified")
	var doc armature.Doc
	if err := s.Call("acme.approval.approve", Deciding{name, seen, ""}, &doc); err != nil || doc.String("status") != "Approved" || doc.Int("docstatus") != 1 {
		t.Fatalf("got %v, %v", doc, err)
	}
	s.ActAs("Administrator")
	if n, err := armature.Count("ToDo", armature.Eq("allocated_to", ann), armature.Eq("reference_name", name)); n != 1 || err != nil {
		t.Errorf("%d ToDos, %v", n, err)
	}
	s.ActAs(ann)
	if err := s.CallBy("GET", "acme.approval.pending", nil, &waiting); err != nil || len(waiting) != 0 {
		t.Errorf("without a role: %+v, %v", waiting, err)
	}
}
