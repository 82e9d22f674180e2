package main_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
)

// sameScript tries what a script can ask for and tells of each what came of it: in
// a test this has to be what it is on a server.
const sameScript = `
export const manifest = {
  doctypes: [{
    name: "Same Thing", autoname: "field:code", is_submittable: 1,
    fields: [
      { fieldname: "code", fieldtype: "Data", label: "Code", reqd: 1 },
      { fieldname: "title", fieldtype: "Data", reqd: 1 },
      { fieldname: "status", fieldtype: "Data" },
      { fieldname: "n", fieldtype: "Float" },
    ],
    permissions: [{ role: "System Manager", read: 1, write: 1, create: 1, delete: 1, submit: 1, cancel: 1 }],
  }],
  methods: { inner: { args: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } }, closed: { verbs: ["POST"], roles: ["Nobody"] }, tries: { verbs: ["POST"] } },
  grants: ["doc_get", "doc_list", "doc_count", "doc_insert", "doc_update", "doc_delete", "doc_submit", "doc_cancel", "method_call", "kv_get", "kv_set", "kv_delete"],
};
const T = "Same Thing";
const things = (options) => doc.list(T, { orderBy: "name asc", ...options }).map((d) => d.name).join();
const all = {
  missing: () => doc.get(T, "none"),
  insert: () => doc.insert(T, { code: "a", title: "A", n: 1, status: "Open" }).name,
  more: () => [["b", 10, "closed"], ["c", 9.5, "Open"]].map(([code, n, status]) => doc.insert(T, { code, n, status, title: code }).docstatus),
  duplicate: () => doc.insert(T, { code: "a", title: "A" }),
  mandatory: () => doc.insert(T, { code: "x" }),
  "no name": () => doc.insert(T, { title: "x" }),
  "no DocType": () => doc.insert({ title: "x" }),
  "duplicate by one argument": () => doc.insert({ doctype: T, code: "a", title: "again" }),
  "members that are null": () => Object.hasOwn(doc.insert(T, { code: "d", title: "D", status: null }), "status"),
  "get without a name": () => doc.get(T, ""),
  "get without a DocType": () => doc.get("", "a"),
  update: () => { const d = doc.update(T, "a", { title: "B", name: "z" }); return [d.title, d.owner === caller.user, d.name]; },
  "update of a constant": () => doc.update(T, "a", { owner: "x" }),
  "update of nothing": () => doc.update(T, "none", { title: "B" }),
  "update that is late": () => doc.update(T, "a", { modified: "2020-01-01 00:00:00.000000" }),
  "update without a required field": () => doc.update(T, "a", { title: "" }),
  "nothing and =": () => things({ filters: { status: "" } }),
  "nothing and !=": () => things({ filters: { status: ["!=", "Open"] } }),
  "nothing and null": () => things({ filters: { status: null } }),
  "nothing and <": () => things({ filters: { n: ["<", 5] } }),
  "nothing and >=": () => things({ filters: { n: [">=", 0] } }),
  "nothing and > null": () => things({ filters: { n: [">", null] } }),
  "nothing and like": () => things({ filters: { status: ["like", "%"] } }),
  "nothing and not like": () => things({ filters: { status: ["not like", "o%"] } }),
  "nothing and in": () => things({ filters: { status: ["in", ["", "Open"]] } }),
  "nothing and not in": () => things({ filters: { status: ["not in", ["Open"]] } }),
  "nothing and in nothing": () => things({ filters: { status: ["in", []] } }),
  "nothing and between": () => things({ filters: { n: ["between", [-1, 1]] } }),
  "nothing and is": () => things({ filters: { status: ["is", "not set"] } }),
  "is something else": () => things({ filters: { status: ["is", "set"], n: ["is", "NOT  set"] } }),
  "order with nothing": () => things({ orderBy: "status asc, name desc" }),
  "in a text": () => things({ filters: { status: ["in", "Open, x"] } }),
  "a pattern with signs": () => things({ filters: { status: ["like", "O.e(n*"] } }),
  "a pattern with an escape": () => things({ filters: { status: ["like", "O\\_en"] } }),
  "a number as text": () => things({ filters: { n: "9.5" } }),
  delete: () => doc.delete(T, "d"),
  "delete of nothing": () => doc.delete(T, "none"),
  "cancel of a draft": () => doc.cancel(T, "a"),
  submit: () => doc.submit(T, "a").docstatus,
  "back to a draft": () => doc.update(T, "a", { docstatus: 0 }),
  cancel: () => doc.cancel(T, "a").docstatus,
  "update of what is cancelled": () => doc.update(T, "a", { status: "x" }),
  list: () => things(),
  "list in order": () => things({ orderBy: "n desc" }),
  "list of equals": () => things({ filters: { status: "open" } }),
  "list of others": () => things({ filters: { status: ["!=", "Open"] } }),
  "list of numbers": () => things({ filters: { n: [">", 9] } }),
  "list between": () => things({ filters: { n: ["between", [1, 9.5]] } }),
  "list of several": () => things({ filters: { name: ["in", ["a", "b"]] }, any: { n: 1, status: "open" } }),
  "list of none of several": () => things({ filters: { name: ["not in", ["a"]] } }),
  "list like": () => things({ filters: { status: ["like", "o_e%"] } }),
  "list unlike": () => things({ filters: { status: ["not like", "%OSE%"] } }),
  "list set": () => things({ filters: { status: ["is", "set"] } }),
  "list page": () => things({ start: 1, limit: 1 }),
  "list all": () => things({ limit: Infinity }),
  "list fields": () => doc.list(T, { fields: ["name", "n"], orderBy: "name asc", limit: 1 }),
  "list by an unknown operator": () => things({ filters: { n: ["~", 1] } }),
  "list with a filter of two": () => things({ filters: [["status", "Open"]] }),
  "list with a filter of four": () => things({ filters: [[T, "n", "<", 5]] }),
  "list with a filter of one": () => things({ filters: [["status"]] }),
  "list with another spelling": () => things({ filters: [["n", "=>", 9.5], ["status", " Not  ILIKE ", "clo%"]] }),
  "list of no DocType": () => doc.list(""),
  "between one": () => things({ filters: { n: ["between", [1]] } }),
  count: () => doc.count(T, { status: "Open" }),
  "kv of nothing": () => kv.get("none"),
  kv: () => { kv.set("k", { a: [1] }, { ttl: 60 }); return kv.get("k"); },
  "kv without a key": () => kv.get(""),
  "kv with a long key": () => kv.set("x".repeat(256), 1),
  config: () => config("none"),
  "a method that is not there": () => call("acme.none.f"),
  "a method of its own": () => call("acme.same.inner", { n: "3" }),
  "a method without an argument": () => call("acme.same.inner"),
  "a method with a wrong argument": () => call("acme.same.inner", { n: "x" }),
  "a function that is not exported": () => call("acme.same.hidden"),
  enqueue: () => enqueue("acme.same.inner", { n: 1 }),
  "fetch without a grant": () => fetch("http://example.com/"),
  request: () => [request.method, request.path, request.headers.get("cookie")],
  "respond with a wrong status": () => respond({ status: 99 }),
  "respond with a cookie": () => respond({ headers: { "set-cookie": "a=b" } }),
};
export function inner({ n }) { return n + 1 }
export function closed() {}
export async function tries() {
  const outcomes = [];
  for (const [name, attempt] of Object.entries(all)) {
    let outcome;
    try {
      outcome = (await attempt()) ?? null;
    } catch (e) {
      outcome = { kind: e.kind, type: e.type, message: e.message };
    }
    outcomes.push(JSON.stringify([name, outcome]));
  }
  return outcomes;
}
`

// TestScriptHost: the host of tests answers and refuses as a server does.
func TestScriptHost(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "acme.same.js"), []byte(sameScript))
	put(t, filepath.Join(dir, "acme.same.test.js"), []byte(`import { test, host } from "armature:test";
test("tries", async () => {
  host.user = { name: "Administrator", roles: ["System Manager"] };
  for (const outcome of await host.call("tries")) console.log(outcome);
});
test("who may", async () => {
  host.user = { name: "ann@example.com", roles: ["All"] };
  for (const [method, options] of [["closed", {}], ["tries", { verb: "GET" }]]) {
    await host.call(method, {}, options).catch((e) => console.log(JSON.stringify([e.type, e.message])));
  }
});
`))
	var tested struct{ Tests []struct{ Log []string } }
	if err := json.Unmarshal([]byte(in.run("plugin", "test", dir, "--json")), &tested); err != nil {
		t.Fatal(err)
	}

	want := []string{
		`["PermissionError","User ann@example.com may not call acme.same.closed"]`,
		`["PermissionError","Not permitted"]`,
	}
	if got := tested.Tests[1].Log; !slices.Equal(got, want) {
		t.Errorf("somebody else: %q", got)
	}
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.run("plugin", "install", filepath.Join(dir, "acme.same.js"))
		s := in.serve()
		s.auth = in.keys("Administrator")
		var served []string
		for _, outcome := range s.want("POST", "/api/method/acme.same.tries", map[string]any{}).([]any) {
			served = append(served, outcome.(string))
		}
		here := tested.Tests[0].Log
		if len(served) < 50 || len(served) != len(here) {
			t.Fatalf("%d outcomes on a server, %d in a test", len(served), len(here))
		}
		for i, outcome := range served {
			if here[i] != outcome {
				t.Errorf("on a server %s\nin a test   %s", outcome, here[i])
			}
		}
	})
}
