package main

import (
	"encoding/json"

	"armature/sdk/go"
)

// Closing says which ToDo to close.
type Closing struct {
	Name string `json:"name"`
}

// closeToDo sets a ToDo's status to Closed and returns the document.
func closeToDo(in Closing) (armature.Doc, error) {
	todo, err := armature.Get("ToDo", in.Name)
	if err != nil {
		return nil, err
	}
	if todo.String("status") == "Closed" {
		return todo, nil
	}
	return armature.Update("ToDo", in.Name, armature.Doc{"status": "Closed"})
}

// show returns a ToDo as the caller may see it. What goes out as it came in is
// never decoded: that would be most of the work.
func show(in armature.Doc) (json.RawMessage, error) {
	return armature.GetAs[json.RawMessage]("ToDo", in.String("name"))
}

// Summary is how many ToDos the caller sees in each status.
type Summary struct {
	User  string         `json:"user"`
	Total int            `json:"total"`
	By    map[string]int `json:"by_status"`
}

// summary counts the caller's ToDos by status.
func summary(armature.None) (Summary, error) {
	user, err := armature.Caller()
	if err != nil {
		return Summary{}, err
	}
	total, err := armature.Count("ToDo")
	if err != nil {
		return Summary{}, err
	}
	todos, err := armature.List("ToDo", armature.Query{
		Fields: []string{"status"},
		Limit:  armature.All,
	})
	if err != nil {
		return Summary{}, err
	}
	by := map[string]int{}
	for _, todo := range todos {
		by[todo.String("status")]++
	}
	return Summary{User: user.Name, Total: total, By: by}, nil
}

// echo returns its arguments.
func echo(args armature.Doc) (armature.Doc, error) { return args, nil }

// What encoding/json has to find out about these types is found out once, before
// the first call.
func init() { armature.Prepare(Closing{}, Summary{}) }
