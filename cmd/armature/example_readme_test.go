package main_test

import "testing"

// TestExampleShop: nothing is built; the file is put into the plugins folder.
func TestExampleShop(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	in.walk().follow("shop")
}

// TestExampleTodo: the todo example is tested and built as each language's README
// says, and then does what the first one's says, whatever it is written in.
func TestExampleTodo(t *testing.T) {
	for _, l := range sdks {
		t.Run(l.todo, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir()}).finding(l.toolchain(t))
			w := in.walk()
			if l.todo != "todo" {
				w.follow(l.todo)
			} else {
				w.follow("todo", "Build")
			}
			w.follow("todo", "Use")
		})
	}
}

// TestExampleMisbehave: what the server does about bad plugins.
func TestExampleMisbehave(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	in.walk().follow("misbehave")
}
