package main

import (
	"fmt"
	"slices"

	"armature/sdk/go"
)

// The rules are those of the document, not of a method: they hold for whoever
// writes it, by a method of this plugin or by REST.

// Changes is what check sets in a request.
type Changes struct {
	Status    Status     `json:"status"`
	Remark    string     `json:"remark"`
	Decisions []Decision `json:"decisions"`
}

// check runs before a request is written.
func check(e armature.Event[Request]) (Changes, error) {
	if e.Before == nil {
		// However it was sent in, a request begins at the beginning.
		return Changes{Status: Requested, Decisions: []Decision{}}, nil
	}
	before, doc := *e.Before, e.Doc
	same := doc.Title == before.Title && doc.Amount == before.Amount && doc.Reason == before.Reason
	if !same && before.Status != Requested {
		return Changes{}, refusal("DecidedError", "%s is %s: what it asks for does not change any more", doc.Name, before.Status)
	}
	if !same {
		// Whoever decides may write every request, but not what it asks for: it
		// would be theirs, and they would decide on it.
		caller, err := armature.Caller()
		if err != nil {
			return Changes{}, err
		}
		if caller.Name != before.Owner {
			return Changes{}, denial("NotYoursError", "What %s asks for is for %s to change", doc.Name, before.Owner)
		}
	}
	// The decisions are those that are stored, whatever the client sent.
	changes := Changes{doc.Status, doc.Remark, slices.Clone(before.Decisions)}
	if doc.Status == before.Status {
		return changes, nil
	}
	if !same {
		return Changes{}, refusal("DecidedError", "Decide on what %s asks for, or change it", doc.Name)
	}
	user, err := decide(before, doc)
	if err != nil {
		return Changes{}, err
	}
	changes.Decisions = append(changes.Decisions, Decision{Status: doc.Status, User: user, Remark: doc.Remark})
	changes.Remark = ""
	return changes, nil
}

// decide returns who makes the decision by which a request gets another status,
// or why it is not theirs to make.
func decide(before, doc Request) (user string, err error) {
	now, undecided := steps[before.Status]
	if !undecided {
		return "", refusal("DecidedError", "%s is %s already", doc.Name, before.Status)
	}
	if doc.Status != now.next && doc.Status != Rejected {
		return "", refusal("WrongStepError", "%s is %s: next it is %s or %s", doc.Name, before.Status, now.next, Rejected)
	}
	if doc.Status == Rejected && doc.Remark == "" {
		return "", refusal("RemarkMissingError", "Say why %s is rejected", doc.Name)
	}
	caller, err := armature.Caller()
	if err != nil {
		return "", err
	}
	switch {
	case !caller.Has(now.role):
		return "", denial("NotYourTurnError", "%s waits for somebody of the role %s", doc.Name, now.role)
	case caller.Name == doc.Owner:
		return "", denial("OwnRequestError", "Nobody decides on a request of their own")
	case slices.ContainsFunc(before.Decisions, func(d Decision) bool { return d.User == caller.Name }):
		return "", denial("SecondPairOfEyesError", "Somebody else than in the step before has to decide on %s", doc.Name)
	}
	return caller.Name, nil
}

// maySubmit runs before a request is submitted, which makes it final.
func maySubmit(e armature.Event[Request]) (armature.None, error) {
	if e.Doc.Status != Approved {
		return armature.None{}, refusal("NotApprovedError", "%s is %s, and only what is approved is submitted", e.Doc.Name, e.Doc.Status)
	}
	return armature.None{}, nil
}

// submitted runs after a request was submitted, in the same transaction: if this
// fails, nothing is approved.
func submitted(e armature.Event[Request]) (armature.None, error) {
	_, err := armature.Insert("ToDo", armature.Doc{
		"description":    "Buy: " + e.Doc.Title,
		"allocated_to":   e.Doc.Owner,
		"reference_type": "Purchase Request",
		"reference_name": e.Doc.Name,
	})
	return armature.None{}, err
}

// refusal is what breaks a rule: 417, with an exc_type that programs understand.
func refusal(excType, format string, args ...any) error {
	return &armature.Error{Kind: armature.KindValidation, Type: excType, Message: fmt.Sprintf(format, args...)}
}

// denial is what the caller may not do: 403.
func denial(excType, format string, args ...any) error {
	return &armature.Error{Kind: armature.KindPermission, Type: excType, Message: fmt.Sprintf(format, args...)}
}
