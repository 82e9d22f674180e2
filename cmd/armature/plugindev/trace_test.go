package plugindev_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestDevTraces: where a plugin fails, its source has the lines that are shown.
func TestDevTraces(t *testing.T) {
	for _, tt := range []struct {
		lang, source string
		toolchain    func(*testing.T) string
		want         []string // frames, innermost first
	}{
		{"c", `#include "armature.h"

static volatile int zero;

__attribute__((noinline)) static int divide(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += i;
  return sum /
         zero;
}

AM_METHOD("acme.fresh.hello", hello) {
  am_json out = am_object();
  am_set_int(&out, "n",
             divide(7));
  return am_done(&out);
}
`, armaturetest.Clang, []string{"divide (plugin.c:8:", "(plugin.c:15:"}},
		{"rust", `use armature::{export, object, Object, Result};

export! {"acme.fresh.hello" => hello}

#[inline(never)]
fn third(list: &[u32]) -> u32 {
    list[3]
}

fn hello(args: Object) -> Result<Object> {
    let list = vec![1u32; args.text("name").len()];
    Ok(object! {"n": third(&list) as i64})
}
`, armaturetest.RustToolchain, []string{"plugin::third (src/lib.rs:7:5)", "plugin::hello (src/lib.rs:12:"}},
		{"assemblyscript", `import { Value, handle } from "armature";

export function hello(n: i32): void { handle(n, sayHello); }

function third(list: Array<i32>): i32 {
  return list[3];
}

function sayHello(args: Value): Value {
  const list = new Array<i32>(1);
  return Value.object().set("hello", third(list));
}
`, armaturetest.AssemblyScriptToolchain, []string{"third (assembly/plugin.ts:6:", "sayHello (assembly/plugin.ts:11:"}},
		{"ts", `function third(list: number[]): number {
  return list[3].
    valueOf();
}

export function hello({ name }: { name: string }) {
  return third([name.length]);
}
`, armaturetest.Nothing, []string{"third (main.ts:2:", "hello (main.ts:7:"}},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			in := (&armaturetest.Installation{T: t}).Finding(tt.toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.Run("plugin", "new", "acme.fresh", "--lang", tt.lang, "--dir", dir)
			for _, s := range armaturetest.Scaffolds {
				if s.Lang == tt.lang {
					if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(s.Source)), []byte(tt.source), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			d := in.Develop(dir, "--listen", "127.0.0.1:0")
			d.Listens()
			d.Next("serves")
			_, answer := d.Call("GET", "/api/method/acme.fresh.hello?name=Zoe", nil)
			var event map[string]any
			for event["message"] != "plugin call failed" {
				event = d.Next("log")
			}
			trace := fmt.Sprint(event["trace"])
			at := 0
			for _, frame := range tt.want {
				i := strings.Index(trace[at:], frame)
				if i < 0 {
					t.Errorf("%q is not in, or not in this order: %s\n%v", frame, trace, answer)
					break
				}
				at += i
			}
			d.Interrupt()
		})
	}
}
