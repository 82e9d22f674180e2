package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// told are the messages of an answer beside those of an error, parsed as clients do.
func told(t *testing.T, answer map[string]any) (list []map[string]any) {
	t.Helper()
	text, _ := answer["_server_messages"].(string)
	if text == "" {
		return nil
	}
	var texts []string
	if err := json.Unmarshal([]byte(text), &texts); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, text := range texts {
		var one map[string]any
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list = append(list, one)
	}
	return list
}

// TestTell: what a plugin tells the user beside the answer arrives with whatever
// succeeded, once, and with nothing that failed.
func TestTell(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := withScripts(in, map[string]string{"acme.tell.js": `
			export const manifest = {
				version: "1", events: {"ToDo.validate": "check", "ToDo.on_trash": "gone"},
			};
			export function check({ doc }) {
				tell("checked " + doc.description);
				if (doc.description === "bad") throw new ValidationError("no good");
			}
			export function gone() { tell("gone", { title: "ToDo", indicator: "red" }) }
			export function say({ message, title, indicator }) { tell(message, { title, indicator }); return "said" }
			export function many({ n }) { for (let i = 0; i < n; i++) tell("message " + i) }
			export function outer() {
				tell("before");
				try { call("acme.tell.fails") } catch {}
				try { doc.insert("ToDo", { description: "bad" }) } catch {}
				call("acme.tell.say", { message: "nested" });
				doc.insert("ToDo", { description: "good" });
				tell("after");
			}
			export function fails() { tell("undone"); throw new ValidationError("failed") }
			export function raw() { tell("unheard"); respond({ body: "raw" }) }
			export function ready() {}
		`}, "acme.tell.ready")
		post := func(path string, body any) (int, map[string]any) {
			t.Helper()
			return s.Call("POST", path, body)
		}
		texts := func(answer map[string]any) string {
			var all []string
			for _, one := range told(t, answer) {
				all = append(all, one["message"].(string))
			}
			return strings.Join(all, "|")
		}
		_, answer := post("/api/method/acme.tell.say", map[string]any{"message": `a < b <b>x</b><script>y</script><i onclick="z()">w</i>`, "title": "T", "indicator": "green"})
		if got := told(t, answer); len(got) != 1 || answer["message"] != "said" || got[0]["title"] != "T" || got[0]["indicator"] != "green" ||
			got[0]["raise_exception"] != nil || strings.Contains(texts(answer), "script") || strings.Contains(texts(answer), "onclick") || !strings.Contains(texts(answer), "<b>x</b>") {
			t.Errorf("said %v", answer)
		}
		if _, answer = post("/api/method/acme.tell.outer", nil); texts(answer) != "before|nested|checked good|after" {
			t.Errorf("nested calls told %v", answer)
		}
		for what, bad := range map[string]map[string]any{
			"nothing": {"message": " "}, "too much": {"message": strings.Repeat("x", 4097)},
			"a colour": {"message": "x", "indicator": "pink"}, "a title": {"message": "x", "title": "<b>"},
		} {
			if status, answer := post("/api/method/acme.tell.say", bad); status != 417 || answer["exc_type"] != "ValidationError" {
				t.Errorf("%s: %d %v", what, status, answer)
			}
		}
		if status, answer := post("/api/method/acme.tell.fails", nil); status != 417 || texts(answer) != "failed" {
			t.Errorf("a failure tells %v", answer)
		}
		if _, answer = post("/api/method/acme.tell.many", map[string]any{"n": 60}); len(told(t, answer)) != 51 || !strings.HasSuffix(texts(answer), "|and 10 more") {
			t.Errorf("many told %v", answer)
		}
		if _, answer = s.Call("GET", "/api/method/acme.tell.say?message=read", nil); texts(answer) != "read" {
			t.Errorf("a GET told %v", answer)
		}
		status, answer := post("/api/resource/ToDo", map[string]any{"description": "one"})
		data, _ := answer["data"].(map[string]any)
		if status != 200 || texts(answer) != "checked one" || data["description"] != "one" {
			t.Fatalf("an insert told %v", answer)
		}
		path := "/api/resource/ToDo/" + data["name"].(string)
		if _, answer = s.Call("PUT", path, map[string]any{"description": "two"}); texts(answer) != "checked two" {
			t.Errorf("an update told %v", answer)
		}
		if status, answer = s.Call("PUT", path, map[string]any{"description": "bad"}); status != 417 || texts(answer) != "no good" {
			t.Errorf("a refused update told %v", answer)
		}
		if _, answer = post("/api/method/framework.client.set_value", map[string]any{"doctype": "ToDo", "name": data["name"], "fieldname": "description", "value": "three"}); texts(answer) != "checked three" {
			t.Errorf("set_value told %v", answer)
		}
		if status, answer = s.Call("DELETE", path, nil); status != 202 || texts(answer) != "gone" || answer["message"] != "ok" {
			t.Errorf("a deletion told %v", answer)
		}
	})
}
