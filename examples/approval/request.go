package main

// Request is the document Purchase Request, as far as this plugin looks at it.
type Request struct {
	Name      string     `json:"name"`
	Owner     string     `json:"owner"` // who asks
	Title     string     `json:"title"`
	Amount    float64    `json:"amount"`
	Reason    string     `json:"reason"`
	Status    Status     `json:"status"`
	Remark    string     `json:"remark"`
	Decisions []Decision `json:"decisions"`
}

// Decision is a row of its child table: who has given the request its status.
type Decision struct {
	Name   string `json:"name,omitempty"` // of the row
	Status Status `json:"status"`
	User   string `json:"user"`
	Remark string `json:"remark,omitempty"`
}

// Status is how far a request has come.
type Status string

// The statuses. A request goes from Requested to Checked to Approved, or from
// either of the first two to Rejected.
const (
	Requested Status = "Requested"
	Checked   Status = "Checked"
	Approved  Status = "Approved"
	Rejected  Status = "Rejected"
)

// step is what may become of a request.
type step struct {
	role string // who decides
	next Status
}

// steps says who decides on a request of each status, and what it is when they
// approve. A status that is not here is the last.
var steps = map[Status]step{
	Requested: {role: "Team Lead", next: Checked},
	Checked:   {role: "Finance", next: Approved},
}
