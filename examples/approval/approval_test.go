package main

import (
	"errors"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/stubhost"
)

const ann, lea, finn = "ann@example.com", "lea@example.com", "finn@example.com"

// as makes a host on which a user of some roles acts.
func as(t *testing.T, user string, roles ...string) *stubhost.Host {
	h := stubhost.New(t)
	h.User = armature.User{Name: user, Roles: append(roles, "All")}
	return h
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
	var got Changes
	e := armature.Event[Request]{Doc: Request{Owner: ann, Title: "Chair", Status: Approved, Decisions: []Decision{{Status: Approved, User: finn}}}}
	if err := as(t, ann).Call(exportCheck, e, &got); err != nil || got.Status != Requested || len(got.Decisions) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDecisions(t *testing.T) {
	lead, finance := []string{"Team Lead"}, []string{"Finance"}
	both := []string{"Team Lead", "Finance"}
	byLea := []Decision{{Name: "r1", Status: Checked, User: lea}}
	tests := []struct {
		name     string
		user     string
		roles    []string
		decided  []Decision
		from, to Status
		remark   string
		excType  string
	}{
		{"first step", lea, lead, nil, Requested, Checked, "", ""},
		{"second step", finn, finance, byLea, Checked, Approved, "fine", ""},
		{"rejected at once", lea, lead, nil, Requested, Rejected, "no", ""},
		{"rejected later", finn, finance, byLea, Checked, Rejected, "no", ""},
		{"rejected without a word", lea, lead, nil, Requested, Rejected, "", "RemarkMissingError"},
		{"without a role", finn, nil, nil, Requested, Checked, "", "NotYourTurnError"},
		{"the role of the other step", finn, finance, nil, Requested, Checked, "", "NotYourTurnError"},
		{"one's own", ann, both, nil, Requested, Checked, "", "OwnRequestError"},
		{"one's own, rejected", ann, both, nil, Requested, Rejected, "no", "OwnRequestError"},
		{"both steps", lea, both, byLea, Checked, Approved, "", "SecondPairOfEyesError"},
		{"a step left out", finn, both, nil, Requested, Approved, "", "WrongStepError"},
		{"back", lea, both, byLea, Checked, Requested, "", "WrongStepError"},
		{"rejected is final", finn, both, nil, Rejected, Requested, "", "DecidedError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := Request{Name: "PR-1", Owner: ann, Title: "Chair", Status: tt.from, Decisions: tt.decided}
			doc := before
			doc.Status, doc.Remark = tt.to, tt.remark
			doc.Decisions = []Decision{{Status: Approved, User: "forged@example.com"}}
			var got Changes
			err := as(t, tt.user, tt.roles...).Call(exportCheck, armature.Event[Request]{Doc: doc, Before: &before}, &got)
			if excType(err) != tt.excType {
				t.Fatalf("got %v", err)
			}
			if tt.excType != "" {
				return
			}
			n := len(tt.decided)
			if len(got.Decisions) != n+1 || got.Decisions[n] != (Decision{Status: tt.to, User: tt.user, Remark: tt.remark}) || got.Remark != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	before := Request{Name: "PR-1", Owner: ann, Title: "Chair", Amount: 100, Status: Requested}
	dearer := before
	dearer.Amount = 1000
	if err := as(t, ann).Call(exportCheck, armature.Event[Request]{Doc: dearer, Before: &before}, nil); err != nil {
		t.Errorf("before any decision: %v", err)
	}
	decided := dearer
	decided.Status = Checked
	for user, role := range map[string]string{lea: "Team Lead", finn: "Finance"} {
		who := as(t, user, role)
		for _, doc := range []Request{dearer, decided} {
			if err := who.Call(exportCheck, armature.Event[Request]{Doc: doc, Before: &before}, nil); excType(err) != "NotYoursError" {
				t.Errorf("%s, %s: %v", user, doc.Status, err)
			}
		}
		if err := who.Call(exportCheck, armature.Event[Request]{Doc: before, Before: &before}, nil); err != nil {
			t.Errorf("%s changes nothing: %v", user, err)
		}
	}
	if err := as(t, ann, "Team Lead").Call(exportCheck, armature.Event[Request]{Doc: decided, Before: &before}, nil); excType(err) != "DecidedError" {
		t.Errorf("with the decision: %v", err)
	}
	before.Status, dearer.Status = Checked, Checked
	if err := as(t, ann).Call(exportCheck, armature.Event[Request]{Doc: dearer, Before: &before}, nil); excType(err) != "DecidedError" {
		t.Errorf("after it: %v", err)
	}
}

func TestSubmit(t *testing.T) {
	h := as(t, finn, "Finance")
	e := armature.Event[Request]{Doc: Request{Name: "PR-1", Owner: ann, Title: "Chair", Status: Checked}}
	if err := h.Call(exportMaySubmit, e, nil); excType(err) != "NotApprovedError" {
		t.Errorf("got %v", err)
	}
	e.Doc.Status = Approved
	if err := h.Call(exportMaySubmit, e, nil); err != nil {
		t.Error(err)
	}
	if err := h.Call(exportSubmitted, e, nil); err != nil {
		t.Error(err)
	}
	if n, err := armature.Count("ToDo", armature.Eq("allocated_to", ann)); n != 1 || err != nil {
		t.Errorf("%d ToDos, %v", n, err)
	}
}

func TestMethods(t *testing.T) {
	h := as(t, finn, "Finance")
	h.Put("Purchase Request", armature.Doc{"name": "PR-1", "owner": ann, "status": "Requested"})
	h.Put("Purchase Request", armature.Doc{"name": "PR-2", "owner": ann, "status": "Checked", "title": "Chair"})
	h.Put("Purchase Request", armature.Doc{"name": "PR-3", "owner": finn, "status": "Checked"})
	h.Put("Purchase Request", armature.Doc{"name": "PR-4", "owner": ann, "status": "Rejected"})
	var waiting []Waiting
	if err := h.Call(exportPending, nil, &waiting); err != nil || len(waiting) != 1 || waiting[0].Name != "PR-2" || waiting[0].Modified == "" {
		t.Fatalf("got %+v, %v", waiting, err)
	}
	seen := waiting[0].Modified
	for name, export := range map[string]func(int32){"approve": exportApprove, "reject": exportReject} {
		if err := h.Call(export, Deciding{"PR-2", "2020-01-01 00:00:00.000000", "no"}, nil); excType(err) != "TimestampMismatchError" {
			t.Errorf("%s what was changed: %v", name, err)
		}
	}
	var asked armature.Doc
	h.On("doc_update", func(in armature.Doc) (any, error) { asked = in; return nil, nil })
	if err := h.Call(exportApprove, Deciding{"PR-2", seen, "fine"}, nil); err != nil {
		t.Fatal(err)
	}
	if changes := armature.Doc(asked["doc"].(map[string]any)); changes.String("status") != "Approved" || changes.Int("docstatus") != 1 || changes.String("modified") != seen {
		t.Errorf("changes %v", changes)
	}
	if err := h.Call(exportReject, Deciding{"PR-2", seen, "too dear"}, nil); err != nil {
		t.Fatal(err)
	}
	if changes := armature.Doc(asked["doc"].(map[string]any)); changes.String("status") != "Rejected" || changes.String("remark") != "too dear" || changes.String("modified") != seen {
		t.Errorf("changes %v", changes)
	}
	if err := h.Call(exportApprove, Deciding{"PR-4", seen, ""}, nil); excType(err) != "DecidedError" {
		t.Errorf("approve what is rejected: %v", err)
	}
	h.User.Roles = nil
	if err := h.Call(exportPending, nil, &waiting); err != nil || len(waiting) != 0 {
		t.Errorf("without a role: %+v, %v", waiting, err)
	}
}
