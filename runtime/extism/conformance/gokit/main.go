//go:build wasip1

// A plugin made with Extism's kit for Go, by the standard compiler.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/extism/go-pdk"
)

func main() {}

type report struct {
	Count  int    `json:"count"`
	Total  int    `json:"total"`
	Vowels string `json:"vowels"`
}

//go:wasmexport count_vowels
func countVowels() int32 {
	vowels, ok := pdk.GetConfig("vowels")
	if !ok {
		vowels = "aeiouAEIOU"
	}
	count := 0
	for _, r := range pdk.InputString() {
		if strings.ContainsRune(vowels, r) {
			count++
		}
	}
	if count == 0 {
		pdk.SetErrorString("there is nothing to count")
		return 1
	}
	total := pdk.GetVarInt("total") + count
	pdk.SetVarInt("total", total)
	pdk.Log(pdk.LogInfo, fmt.Sprintf("counted %d", count))
	return done(report{count, total, vowels})
}

// fetch answers what it got from the URL in its input.
//
//go:wasmexport fetch
func fetch() int32 {
	r := pdk.NewHTTPRequest(pdk.MethodPost, pdk.InputString())
	r.SetHeader("X-Asked-By", "extism")
	r.SetBody([]byte("ping"))
	answer := r.Send()
	return done(map[string]any{
		"status": answer.Status(), "body": string(answer.Body()), "type": answer.Headers()["content-type"],
	})
}

//go:wasmimport extism:host/user armature_doc_insert
func docInsert(request uint64) uint64

//go:wasmimport extism:host/user armature_doc_get
func docGet(request uint64) uint64

//go:wasmimport extism:host/user armature_throw
func throw(problem uint64)

// ask asks the host for something and takes its errors for the plugin's own.
func ask(what func(uint64) uint64, request, answer any) {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	asked := pdk.AllocateBytes(text)
	said := pdk.FindMemory(what(asked.Offset()))
	var a struct{ Data, Error json.RawMessage }
	if err := json.Unmarshal(said.ReadBytes(), &a); err != nil {
		panic(err)
	}
	if a.Error != nil {
		problem := pdk.AllocateBytes(a.Error)
		throw(problem.Offset())
	}
	if err := json.Unmarshal(a.Data, answer); err != nil {
		panic(err)
	}
}

type todo struct {
	DocType     string `json:"doctype,omitempty"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Priority    string `json:"priority,omitempty"`
}

// add stores a ToDo with the text in its input and answers its name.
//
//go:wasmexport add
func add() int32 {
	var stored todo
	ask(docInsert, map[string]any{"doc": todo{DocType: "ToDo", Description: pdk.InputString()}}, &stored)
	pdk.OutputString(stored.Name)
	return 0
}

// get reads the ToDo that its arguments name.
//
//go:wasmexport get
func get() int32 {
	var in todo
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	var stored todo
	ask(docGet, map[string]any{"doctype": "ToDo", "name": in.Name}, &stored)
	return done(stored)
}

// validate hears of ToDos that are about to be written.
//
//go:wasmexport validate
func validate() int32 {
	var in struct{ Doc todo }
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	switch {
	case strings.Contains(in.Doc.Description, "never"):
		pdk.SetErrorString("never say never")
		return 1
	case strings.Contains(in.Doc.Description, "now"):
		return done(map[string]string{"priority": "High"})
	}
	return 0
}

//go:wasmexport crash
func crash() int32 { panic("out of order") }

func done(v any) int32 {
	if err := pdk.OutputJSON(v); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}
