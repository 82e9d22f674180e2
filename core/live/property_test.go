package live_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"armature/core/live"
	"armature/core/sites/sitetest"
)

// listed are rows by name, as JSON.
type listed map[string]string

// follower is a client that keeps what it is told, beside what asking shows.
type follower struct {
	user    string
	client  *sitetest.Client // asks
	r       *reader
	params  []string
	address string
	auth    string

	gone   bool   // the stream has ended
	shown  listed // as it was told
	before listed // as asking showed it after the step before
}

// ask is what the list shows now; nil: it is refused.
func (f *follower) ask(t *testing.T) listed {
	t.Helper()
	args := []any{"limit_page_length", "0"}
	for _, p := range f.params {
		args = append(args, p)
	}
	reply := f.client.Get("/api/resource/Memo", args[:2+len(f.params)]...)
	if reply.Status == 403 {
		return nil
	}
	reply.OK(t)
	var body struct{ Data []json.RawMessage }
	if err := json.Unmarshal([]byte(reply.Text), &body); err != nil {
		t.Fatal(err)
	}
	rows := listed{}
	for _, row := range body.Data {
		var named struct{ Name string }
		if err := json.Unmarshal(row, &named); err != nil {
			t.Fatal(err)
		}
		rows[named.Name] = string(row)
	}
	return rows
}

// open follows the list, and a bell that everybody hears.
func (f *follower) open(t *testing.T, last string) {
	t.Helper()
	ask := map[string]any{"id": "list", "doctype": "Memo"}
	for i := 0; i < len(f.params); i += 2 {
		ask[f.params[i]] = json.RawMessage(f.params[i+1])
	}
	text, err := json.Marshal([]any{ask, map[string]any{"id": "bell", "doctype": "Bell", "name": "bell"}})
	if err != nil {
		t.Fatal(err)
	}
	f.gone = false
	f.r = connect(t, f.address, f.auth, last, "subscribe", string(text))
}

// hear takes what is told until the bell has rung n times, and demands that it is what
// has become of the rows since the step before, nothing else, and all of it.
func (f *follower) hear(t *testing.T, step string, n int, now listed) {
	t.Helper()
	rung := false
	for !rung {
		for _, e := range f.r.round() {
			switch e.Data.Subscription {
			case "bell":
				var bell struct{ N int }
				if e.Kind == "changed" && json.Unmarshal(e.Data.Data, &bell) == nil && bell.N == n {
					rung = true
				}
			case "list":
				f.take(t, step, e, now)
			default:
				if e.Kind != "ready" {
					t.Fatalf("%s: %s is told %+v", step, f.user, e)
				}
			}
		}
	}
	if !maps.Equal(f.shown, now) {
		t.Fatalf("%s: %s has been told\n%v\nand asking shows\n%v", step, f.user, f.shown, now)
	}
	f.before = now
}

func (f *follower) take(t *testing.T, step string, e event, now listed) {
	t.Helper()
	name := e.Data.Name
	switch e.Kind {
	case "changed":
		if now[name] != string(e.Data.Data) {
			t.Fatalf("%s: %s is told %s of %s, which asking shows as %q", step, f.user, e.Data.Data, name, now[name])
		}
		if f.shown[name] == now[name] {
			t.Fatalf("%s: %s is told of %s, of which nothing is new to them", step, f.user, name)
		}
		f.shown[name] = now[name]
	case "removed":
		if _, had := f.shown[name]; !had {
			t.Fatalf("%s: %s is told that %s is gone, which they never saw", step, f.user, name)
		}
		if _, has := now[name]; has || e.Data.Data != nil {
			t.Fatalf("%s: %s is told that %s is gone: %s", step, f.user, name, e.Text)
		}
		delete(f.shown, name)
	case "rows":
		for _, name := range e.Data.Names {
			if _, has := now[name]; !has {
				t.Fatalf("%s: %s is told of %s, which asking does not show", step, f.user, name)
			}
		}
		maps.DeleteFunc(f.shown, func(name, _ string) bool { return !slices.Contains(e.Data.Names, name) })
	case "gap":
		f.shown = maps.Clone(now) // who has missed something asks
	default:
		t.Fatalf("%s: %s is told %+v", step, f.user, e)
	}
}

// TestTellsWhatAskingShows makes random changes of documents and of rights. After each
// of them every follower was told exactly what is different in what asking shows them.
func TestTellsWhatAskingShows(t *testing.T) {
	steps := 40
	if n, err := strconv.Atoi(os.Getenv("ARMATURE_LIVE_STEPS")); err == nil {
		steps = n
	}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		tellsWhatAskingShows(t, s, rand.New(rand.NewPCG(seed, 1)), steps)
	}, serving(live.ProcessConfig{}))
}

func tellsWhatAskingShows(t *testing.T, s *sitetest.Server, r *rand.Rand, steps int) {
	role(t, s, "Reader", "Boss", "Everybody")
	define(t, s, "Area", obj{"permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "Everybody", "read": 1}}},
		obj{"fieldname": "open", "fieldtype": "Check"})
	define(t, s, "Memo", obj{"permissions": []obj{
		{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "share": 1},
		{"role": "System Manager", "read": 1, "write": 1, "permlevel": 1},
		{"role": "Reader", "read": 1, "condition": `[["area.open", "=", 1]]`},
		{"role": "Boss", "read": 1}, {"role": "Boss", "read": 1, "permlevel": 1},
	}}, obj{"fieldname": "state", "fieldtype": "Select", "options": "open\ndone"}, obj{"fieldname": "title", "fieldtype": "Data"},
		obj{"fieldname": "secret", "fieldtype": "Data", "permlevel": 1}, obj{"fieldname": "area", "fieldtype": "Link", "options": "Area"})
	define(t, s, "Bell", obj{"permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "Everybody", "read": 1}}},
		obj{"fieldname": "n", "fieldtype": "Int"})
	s.Admin.Post("/api/resource/Bell", obj{"name": "bell", "n": 0}).OK(t)
	for _, area := range []string{"north", "south"} {
		s.Admin.Post("/api/resource/Area", obj{"name": area, "open": 1}).OK(t)
	}
	twin := s.Twin(t)
	roles := map[string][]string{"ann@example.com": {"Reader"}, "bob@example.com": {"Boss"}, "cat@example.com": {"Reader"}, "dan@example.com": {"Boss", "Reader"}}
	var all []*follower
	add := func(user string, client *sitetest.Client, params ...string) {
		for _, address := range []string{s.URL, twin.URL} {
			f := &follower{user: user, client: client, params: params, address: address, auth: client.Authorization}
			f.open(t, "")
			f.shown, f.before = listed{}, listed{}
			all = append(all, f)
		}
	}
	few := []string{"fields", `["name","state","secret"]`, "filters", `[["state","=","open"]]`}
	everything := []string{"fields", `["name","title","area","area.open"]`}
	add("Administrator", s.Admin, everything...)
	users := slices.Sorted(maps.Keys(roles))
	for _, user := range users {
		client := s.User(t, user, append(roles[user], "Everybody")...)
		add(user, client, few...)
	}
	add("bob@example.com", all[4].client, everything...)
	w := &world{t: t, r: r, s: s, twin: twin, users: users, roles: roles}
	for i := range steps {
		step := fmt.Sprintf("step %d, %s", i, w.step())
		s.Admin.Put("/api/resource/Bell/bell", obj{"n": i + 1}).OK(t)
		asked := map[string]listed{}
		for n, f := range all {
			key := f.user + fmt.Sprint(f.params)
			now, known := asked[key]
			if !known {
				now = f.ask(t)
				asked[key] = now
			}
			if now == nil { // they may see nothing: the stream ends, and is opened again
				for e := range f.r.events {
					if e.Data.Subscription == "list" && e.Kind == "changed" {
						t.Fatalf("%s: %s is told %+v", step, f.user, e)
					}
				}
				f.gone = true
				continue
			}
			if f.gone {
				f.open(t, "")
				f.shown = maps.Clone(now)
				f.before = now
				continue
			}
			f.hear(t, step, i+1, now)
			if i > 0 && r.IntN(25) == 0 && n > 0 { // it loses its connection, and comes again to the other server
				f.r.stop()
				f.address = []string{s.URL, twin.URL}[r.IntN(2)]
				f.open(t, f.r.last)
				for _, e := range f.r.round() {
					if e.Data.Subscription == "list" {
						if e.Kind == "changed" {
							delete(f.shown, e.Data.Name) // it may be told again
						}
						f.take(t, step+", again", e, f.before)
					}
				}
			}
		}
	}
}

// world changes at random.
type world struct {
	t       *testing.T
	r       *rand.Rand
	s, twin *sitetest.Server
	users   []string
	roles   map[string][]string
	made    int
	names   []string
	perms   map[string]string // names of User Permissions, by user
}

func (w *world) admin() *sitetest.Client {
	if w.r.IntN(2) == 0 {
		return w.twin.Admin
	}
	return w.s.Admin
}

func (w *world) any(list []string) string { return list[w.r.IntN(len(list))] }

// step changes something and says what.
func (w *world) step() string {
	t, a := w.t, w.admin()
	switch n := w.r.IntN(20); {
	case n < 5 || len(w.names) == 0:
		w.made++
		name := fmt.Sprintf("m%d", w.made)
		a.Post("/api/resource/Memo", obj{"name": name, "state": w.any([]string{"open", "done"}), "title": "new", "secret": "s", "area": w.any([]string{"north", "south"})}).OK(t)
		w.names = append(w.names, name)
		return "made " + name
	case n < 10:
		name := w.any(w.names)
		change := []obj{{"state": "open"}, {"state": "done"}, {"title": fmt.Sprint(w.r.IntN(9))}, {"secret": fmt.Sprint(w.r.IntN(9))}, {"area": "north"}, {"area": "south"}}[w.r.IntN(6)]
		a.Put("/api/resource/Memo/"+name, change).OK(t)
		return fmt.Sprint("changed ", name, change)
	case n < 12:
		at := w.r.IntN(len(w.names))
		name := w.names[at]
		w.names = slices.Delete(w.names, at, at+1)
		if reply := a.Delete("/api/resource/Memo/" + name); reply.Status != 202 {
			t.Fatalf("delete %s: %s", name, reply.Text)
		}
		return "deleted " + name
	case n < 14:
		area, open := w.any([]string{"north", "south"}), w.r.IntN(2)
		a.Put("/api/resource/Area/"+area, obj{"open": open}).OK(t)
		return fmt.Sprint("area ", area, open)
	case n < 17:
		name, user, read := w.any(w.names), w.any(w.users), w.r.IntN(3)
		if read > 0 {
			a.Post("/api/method/framework.share.add", obj{"doctype": "Memo", "name": name, "user": user, "read": 1}).OK(t)
		} else {
			a.Post("/api/method/framework.share.remove", obj{"doctype": "Memo", "name": name, "user": user})
		}
		return fmt.Sprint("share ", name, " ", user, read)
	case n < 18:
		user := w.any(w.users)
		rows := []obj{{"role": "Everybody"}}
		for _, r := range w.roles[user] {
			if w.r.IntN(3) > 0 {
				rows = append(rows, obj{"role": r})
			}
		}
		if w.r.IntN(3) == 0 {
			rows = append(rows, obj{"role": w.any([]string{"Boss", "Reader"})})
		}
		if len(rows) == 3 && rows[1]["role"] == rows[2]["role"] {
			rows = rows[:2]
		}
		a.Put("/api/resource/User/"+user, obj{"roles": rows}).OK(t)
		return fmt.Sprint("roles ", user, rows)
	default:
		user := w.any(w.users)
		if w.perms == nil {
			w.perms = map[string]string{}
		}
		if name := w.perms[user]; name != "" {
			a.Delete("/api/resource/User%20Permission/" + name)
			delete(w.perms, user)
			return "no User Permission of " + user
		}
		reply := a.Post("/api/resource/User%20Permission", obj{"user": user, "allow": "Area", "for_value": w.any([]string{"north", "south"})}).OK(t)
		w.perms[user] = reply.Body["data"].(map[string]any)["name"].(string)
		return "User Permission of " + user
	}
}
