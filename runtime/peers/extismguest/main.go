//go:build wasip1

// The echo guest for Extism in Go, with its Go kit.
package main

import pdk "github.com/extism/go-pdk"

func main() {}

//go:wasmimport extism:host/user doc
func hostDoc(request uint64) uint64

//go:wasmexport echo
func echo() int32 {
	in := pdk.AllocateBytes(pdk.Input())
	doc := pdk.FindMemory(hostDoc(in.Offset()))
	reply := append([]byte(`{"ok":true,"data":`), doc.ReadBytes()...)
	in.Free()
	doc.Free()
	pdk.Output(append(reply, '}'))
	return 0
}
