package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"armature/sdk/go"
)

func echo(args armature.Doc) (armature.Doc, error) { return args, nil }

// Given is an argument of every type.
type Given struct {
	Text   string  `json:"text"`
	Count  int     `json:"count"`
	Ratio  float64 `json:"ratio"`
	Flag   bool    `json:"flag"`
	List   []int   `json:"list"`
	Inner  struct{ Text string }
	Absent *string `json:"absent"`
}

func arguments(in Given) (armature.Doc, error) {
	sum := 0
	for _, n := range in.List {
		sum += n
	}
	return armature.Doc{
		"text": in.Text + "!", "count": in.Count + 1, "ratio": in.Ratio / 2, "flag": !in.Flag,
		"sum": sum, "inner": in.Inner.Text, "absent": in.Absent == nil,
	}, nil
}

func find(in armature.Doc) (armature.Doc, error) {
	status := armature.Eq("status", in.String("status"))
	n, err := armature.Count("ToDo", status)
	if err != nil {
		return nil, err
	}
	rows, err := armature.List("ToDo", armature.Query{
		Fields:  []string{"name", "description"},
		Where:   []armature.Filter{status, armature.In("priority", "High", "Medium")},
		OrderBy: "description asc",
		Limit:   int(in.Int("limit")),
	})
	if err != nil {
		return nil, err
	}
	descriptions := []any{}
	for _, row := range rows {
		descriptions = append(descriptions, row.String("description"))
	}
	return armature.Doc{"count": n, "descriptions": descriptions}, nil
}

func transfer(in armature.Doc) (armature.Doc, error) {
	made, err := armature.Insert("ToDo", armature.Doc{"description": in.String("text")})
	if err != nil {
		return nil, err
	}
	closed, err := armature.Update("ToDo", in.String("name"), armature.Doc{"status": "Closed"})
	if err != nil {
		return nil, err
	}
	if in.Bool("fail") {
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "TransferError", Message: "fail was asked for"}
	}
	return armature.Doc{"made": made.Name(), "closed": closed.String("status")}, nil
}

func order(in armature.Doc) (armature.Doc, error) {
	const doctype = "Conformance Order"
	inserted, err := armature.Insert(doctype, armature.Doc{
		"title": in.String("title"),
		"items": []armature.Doc{{"item": "a", "qty": 3}, {"item": "b", "qty": 4}},
	})
	if err != nil {
		return nil, err
	}
	submitted, err := armature.Submit(doctype, inserted.Name())
	if err != nil {
		return nil, err
	}
	cancelled, err := armature.Cancel(doctype, inserted.Name())
	if err != nil {
		return nil, err
	}
	if err := armature.Delete(doctype, inserted.Name()); err != nil {
		return nil, err
	}
	_, gone := armature.Get(doctype, inserted.Name())
	items := inserted.Docs("items")
	var qty int64
	for _, item := range items {
		qty += item.Int("qty")
	}
	return armature.Doc{
		"inserted": inserted.Int("docstatus"), "submitted": submitted.Int("docstatus"), "cancelled": cancelled.Int("docstatus"),
		"items": len(items), "qty": qty, "gone": int(armature.KindOf(gone)),
	}, nil
}

func show(in armature.Doc) (json.RawMessage, error) {
	return armature.GetAs[json.RawMessage](in.String("doctype"), in.String("name"))
}

func closeToDo(in armature.Doc) (armature.Doc, error) {
	return armature.Update("ToDo", in.String("name"), armature.Doc{"status": "Closed"})
}

func check(e armature.Event[armature.Doc]) (armature.Doc, error) {
	switch text := e.Doc.String("description"); {
	case text == "refuse me":
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "RefusedError", Message: "The guest refuses this"}
	case e.Before != nil && e.Before.String("status") == "Closed" && e.Doc.String("status") == "Open":
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "ReopenError", Message: "What is closed stays closed"}
	case e.Before == nil && len(text) >= 6 && text[:6] == "urgent":
		return armature.Doc{"priority": "High"}, nil
	}
	return armature.Doc{}, nil
}

// caught is what is shown of an error that was caught.
func caught(err error) armature.Doc {
	e := &armature.Error{Kind: armature.KindInternal}
	errors.As(err, &e)
	return armature.Doc{"kind": int(e.Kind), "type": e.Type, "message": e.Message}
}

func attempt(in armature.Doc) (armature.Doc, error) {
	doc, err := armature.Get(in.String("doctype"), in.String("name"))
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "name": doc.Name()}, nil
}

func raise(in armature.Doc) (armature.None, error) {
	return armature.None{}, &armature.Error{Kind: armature.Kind(in.Int("kind")), Type: in.String("type"), Message: in.String("message")}
}

func crash(armature.None) (armature.None, error) { panic("crash was asked for") }

var calls int

func tally(armature.None) (armature.Doc, error) {
	calls++
	return armature.Doc{"n": calls}, nil
}

func relay(in armature.Doc) (armature.Doc, error) {
	result, err := armature.Call[any](in.String("method"), in["args"])
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "result": result}, nil
}

func who(armature.None) (armature.Doc, error) {
	user, err := armature.Caller()
	return armature.Doc{"user": user.Name, "roles": user.Roles}, err
}

func setting(in armature.Doc) (any, error) { return armature.Config[any](in.String("key")) }

func keep(in armature.Doc) (any, error) {
	if err := armature.Store(in.String("key"), in["value"], int(in.Int("ttl"))); err != nil {
		return nil, err
	}
	return recall(in)
}

func recall(in armature.Doc) (any, error) {
	value, _, err := armature.Load[any](in.String("key"))
	return value, err
}

func forget(in armature.Doc) (armature.None, error) {
	return armature.None{}, armature.Forget(in.String("key"))
}

func say(in armature.Doc) (armature.None, error) {
	armature.Log(armature.Level(in.Int("level")), in.String("message"), "n", in.Int("n"))
	return armature.None{}, nil
}

func clock(armature.None) (armature.Doc, error) {
	var b [16]byte
	armature.Random(b[:])
	return armature.Doc{"now": armature.Now().UnixMicro(), "random": hex.EncodeToString(b[:])}, nil
}

func asked(armature.None) (armature.Doc, error) {
	r, err := armature.Request()
	return armature.Doc{"method": r.Method, "path": r.Path, "query": r.Query}, err
}

func reply(in armature.Doc) (armature.None, error) {
	headers := map[string]string{"content-type": "text/plain", "x-guest": "yes"}
	return armature.None{}, armature.Respond(int(in.Int("status")), headers, []byte(in.String("body")))
}

func tell(in armature.Doc) (armature.None, error) {
	if in["title"] == nil {
		return armature.None{}, armature.Tell(in.String("message"))
	}
	notice := armature.Notice{Message: in.String("message"), Title: in.String("title"), Indicator: in.String("indicator")}
	return armature.None{}, notice.Tell()
}

func reach(in armature.Doc) (armature.Doc, error) {
	r, err := armature.Fetch(armature.HTTPRequest{URL: in.String("url")})
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "status": r.Status}, nil
}

func send(in armature.Doc) (armature.Doc, error) {
	r, err := armature.Fetch(armature.HTTPRequest{
		Method: "POST", URL: in.String("url"), Body: []byte(in.String("text")),
		Headers: map[string]string{"content-type": "text/plain", "x-guest": "yes"},
	})
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "status": r.Status, "type": r.Headers["content-type"], "body": string(r.Body)}, nil
}

func connect(in armature.Doc) (armature.Doc, error) {
	ask := armature.FetchConnected
	if in.Bool("own") {
		ask = armature.FetchAsApp
	}
	r, err := ask(in.String("app"), armature.HTTPRequest{URL: in.String("url")})
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "status": r.Status, "body": string(r.Body)}, nil
}

func verify(in armature.Doc) (armature.Doc, error) {
	a, err := armature.WebhookVerifyRequest{Secrets: []string{in.String("other"), in.String("secret")}}.Ask()
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "id": a.ID, "timestamp": a.Timestamp}, nil
}

func letter(in armature.Doc) (armature.Doc, error) {
	a, err := armature.SendmailRequest{Recipients: []string{in.String("to")}, Subject: in.String("subject"), Text: in.String("text")}.Ask()
	if err != nil {
		return caught(err), nil
	}
	return armature.Doc{"kind": 0, "jobs": len(a.Jobs)}, nil
}

func spin(armature.None) (armature.None, error) {
	for {
	}
}
