package main

import "armature/sdk/go"

// Deciding names a request as the caller has seen it, and says something about
// the decision.
type Deciding struct {
	Name string `json:"name"`
	// Modified is that of the request the caller has seen, as pending says it.
	// With it the update is refused if the request has changed since, by whoever
	// asks or by somebody who decided. One that is read here would only say what
	// is stored, which is not what the caller agrees to.
	Modified string `json:"modified"`
	Remark   string `json:"remark"`
}

// approve takes a request one step further. It knows the way; whether the caller
// may go it is for check to say.
func approve(in Deciding) (armature.Doc, error) {
	request, err := armature.GetAs[Request]("Purchase Request", in.Name)
	if err != nil {
		return nil, err
	}
	next := steps[request.Status].next
	if next == "" {
		return nil, refusal("DecidedError", "%s is %s already", request.Name, request.Status)
	}
	changes := armature.Doc{"status": string(next), "remark": in.Remark, "modified": in.Modified}
	if next == Approved {
		changes["docstatus"] = 1 // submitted with the same write
	}
	return armature.Update("Purchase Request", in.Name, changes)
}

// reject refuses a request.
func reject(in Deciding) (armature.Doc, error) {
	return armature.Update("Purchase Request", in.Name, armature.Doc{"status": string(Rejected), "remark": in.Remark, "modified": in.Modified})
}

// Waiting is a request that waits for a decision.
type Waiting struct {
	Name     string  `json:"name"`
	Modified string  `json:"modified"` // to be sent with the decision
	Title    string  `json:"title"`
	Amount   float64 `json:"amount"`
	Owner    string  `json:"owner"`
	Status   Status  `json:"status"`
}

// pending lists what the caller could decide on now, the oldest first.
func pending(armature.None) ([]Waiting, error) {
	caller, err := armature.Caller()
	if err != nil {
		return nil, err
	}
	var mine []any
	for status, step := range steps {
		if caller.Has(step.role) {
			mine = append(mine, string(status))
		}
	}
	if len(mine) == 0 {
		return []Waiting{}, nil
	}
	requests, err := armature.ListAs[Waiting]("Purchase Request", armature.Query{
		Fields:  []string{"name", "modified", "title", "amount", "owner", "status"},
		Where:   []armature.Filter{armature.In("status", mine...), armature.Ne("owner", caller.Name)},
		OrderBy: "creation asc",
		Limit:   100,
	})
	if requests == nil {
		requests = []Waiting{} // an empty list, not null
	}
	return requests, err
}
