package main

import "armature/sdk/go"

// Failing says which ToDo to change and what to say when failing.
type Failing struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// fail changes a ToDo and then fails: the change must not be there afterwards.
func fail(in Failing) (armature.None, error) {
	changes := armature.Doc{"description": "changed by a method that failed"}
	if _, err := armature.Update("ToDo", in.Name, changes); err != nil {
		return armature.None{}, err
	}
	return armature.None{}, armature.Invalid(in.Message)
}

var turns uint32

// spin never returns. The loop does something, or the compiler would drop it.
func spin(armature.None) (armature.None, error) {
	for {
		turns = turns*1664525 + 1013904223
	}
}

// trap dies the way Go programs do.
func trap(armature.None) (int, error) {
	panic("misbehave: this plugin panics on purpose")
}

var calls int

// remember shows that nothing survives a call: it never gets past 1.
func remember(armature.None) (int, error) {
	calls++
	return calls, nil
}

// hidden would tell a secret.
func hidden(armature.None) (string, error) { return "nobody should read this", nil }
