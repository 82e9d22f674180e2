package main_test

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// format is what a server of a released format has left, and what it answered
// last. The folders and dumps were made by those servers and never change.
type format struct {
	Number        int
	Authorization string         // of the Administrator
	Answers       map[string]any // of GET, by path
	Public        string         // address of a file
	Private       string
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret"`
}

// eachFormat runs a test on a copy of what every released format has left on
// every database.
func eachFormat(t *testing.T, test func(t *testing.T, in *armaturetest.Installation, f *format)) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		for number := 1; number <= 2; number++ {
			t.Run(fmt.Sprintf("format %d", number), func(t *testing.T) {
				f := &format{Number: number}
				copied := *in
				copied.T, copied.Data = t, t.TempDir()
				copied.Env = append(copied.Env, fmt.Sprintf("ARMATURE_SECRET_KEY=%064d", number))
				if in.Database != "" {
					copied.Database = armaturetest.NewDatabase(t, os.Getenv("ARMATURE_TEST_POSTGRES"))
				}
				f.unpack(t, &copied)
				test(t, &copied, f)
			})
		}
	})
}

func (f *format) unpack(t *testing.T, in *armaturetest.Installation) {
	t.Helper()
	kind := "sqlite"
	if in.Database != "" {
		kind = "postgres"
	}
	base := filepath.Join("testdata", "formats", fmt.Sprintf("%d-%s", f.Number, kind))
	text, err := os.ReadFile(base + ".json")
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", base+".tar.gz", "-C", in.Data, "--no-same-owner").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if in.Database == "" {
		return
	}
	file, err := os.Open(base + ".sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", in.Database+"&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), string(dump)); err != nil {
		t.Fatalf("load the dump: %v", err)
	}
}

// gone are keys that answers no longer have, on purpose.
var gone = map[string]bool{"storage_key": true, "send_welcome_email": true}

// same reports where an answer of today lacks what one of then had.
func same(path string, then, now any) (differences []string) {
	switch then := then.(type) {
	case map[string]any:
		today, _ := now.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(then)) {
			if !gone[key] {
				differences = append(differences, same(path+"."+key, then[key], today[key])...)
			}
		}
	case []any:
		today, _ := now.([]any)
		if len(today) != len(then) {
			return []string{fmt.Sprintf("%s: %d entries, were %d", path, len(today), len(then))}
		}
		for i := range then {
			differences = append(differences, same(fmt.Sprintf("%s[%d]", path, i), then[i], today[i])...)
		}
	default:
		if !reflect.DeepEqual(then, now) {
			differences = append(differences, fmt.Sprintf("%s: %v, was %v", path, now, then))
		}
	}
	return differences
}

// What a server of any released format has left is opened with every document,
// file, user, key and secret as it was, and can be written to.
func TestReleasedFormats(t *testing.T) {
	eachFormat(t, func(t *testing.T, in *armaturetest.Installation, f *format) {
		s := in.Serve()
		s.Auth = f.Authorization
		for path, then := range f.Answers {
			for _, d := range same(path, then, s.Want("GET", "/api"+path, nil)) {
				t.Error(d)
			}
		}
		for i := 1; i <= 30; i++ {
			got := s.Want("GET", fmt.Sprintf("/api/method/framework.client.get_password?doctype=Book&name=Book%%20%d&fieldname=code", i), nil)
			if got != fmt.Sprint("secret ", i) {
				t.Errorf("the sealed secret of Book %d is %v", i, got)
			}
		}
		password := fmt.Sprint("first-password-of-", f.Number)
		if status, answer := s.CallAs("", "POST", "/api/method/login", map[string]any{"usr": "Administrator", "pwd": password}); status != 200 {
			t.Errorf("login with the password of then: %d %v", status, answer)
		}
		for url, want := range map[string]string{f.Public: "public bytes of", f.Private: "private bytes of"} {
			if got := rawAnswer(s, url); got != fmt.Sprintf("%s %d\n", want, f.Number) {
				t.Errorf("%s is %q", url, got)
			}
		}
		if f.ClientID != "" {
			if status, answer := s.CallAs("", "GET", "/api/resource/OAuth%20Client/"+f.ClientID, nil); status == 200 {
				t.Errorf("anybody reads the OAuth client: %v", answer)
			}
			if client, _ := s.Want("GET", "/api/resource/OAuth%20Client/"+f.ClientID, nil).(map[string]any); client["app_name"] != "Portal" {
				t.Errorf("the OAuth client is %v", client)
			}
		}
		book, _ := s.Want("POST", "/api/resource/Book", map[string]any{"title": "New", "chapters": []any{map[string]any{"heading": "x"}}}).(map[string]any)
		if book["name"] != "New" {
			t.Errorf("a new document is %v", book)
		}
		s.Stop()
		// The second start finds everything done, and the same.
		s = in.Serve()
		s.Auth = f.Authorization
		for path, then := range f.Answers {
			if strings.Contains(path, "?") {
				continue // there is one more now
			}
			for _, d := range same(path, then, s.Want("GET", "/api"+path, nil)) {
				t.Error("after a restart:", d)
			}
		}
	})
}

// rawAnswer fetches a file with the server's credentials.
func rawAnswer(s *armaturetest.Server, url string) string {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), "GET", s.URL+url, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Authorization", s.Auth)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(text)
}

// A DocType of the user's whose name is the platform's today stays the user's, and
// what the platform would do with its own of that name is off.
func TestNamesOfTheUser(t *testing.T) {
	eachFormat(t, func(t *testing.T, in *armaturetest.Installation, f *format) {
		if f.Number != 1 {
			return // format 2 ships the name already
		}
		s := in.Serve()
		s.Auth = f.Authorization
		app, _ := s.Want("GET", "/api/resource/Connected%20App/mine", nil).(map[string]any)
		if app["address"] != "https://example.org/mine" {
			t.Errorf("the user's document is %v", app)
		}
		made, _ := s.Want("POST", "/api/resource/Connected%20App", map[string]any{"name": "other", "address": "there"}).(map[string]any)
		if made["address"] != "there" || made["redirect_uri"] != nil {
			t.Errorf("a new document of the user's DocType is %v", made)
		}
		if status, answer := s.Call("GET", "/api/method/framework.integrations.connected_app.initiate_web_application_flow?connected_app=mine", nil); status/100 == 2 || status == 500 {
			t.Errorf("the platform's method with the user's document: %d %v", status, answer)
		}
		if !strings.Contains(s.Log.String(), "Connected App") {
			t.Errorf("the log does not tell of the name:\n%s", s.Log)
		}

		// Renamed, the user's DocType makes room: the platform's is installed and what
		// belongs to it is on, on this server and on every other, without a restart.
		other := in.Serve()
		other.Auth = f.Authorization
		other.Want("GET", "/api/resource/Connected%20App/mine", nil)
		s.Want("POST", "/api/method/framework.client.rename_doc", map[string]any{
			"doctype": "DocType", "old_name": "Connected App", "new_name": "My App",
		})
		for _, s := range []*armaturetest.Server{s, other} {
			armaturetest.Eventually(t, "the platform's DocType is there", func() bool {
				status, answer := s.Call("GET", "/api/resource/DocType/Connected%20App", nil)
				doc, _ := answer["data"].(map[string]any)
				return status == 200 && doc["custom"] == 0.0
			})
			armaturetest.Eventually(t, "the user's document is there under the new name", func() bool {
				status, answer := s.Call("GET", "/api/resource/My%20App/mine", nil)
				mine, _ := answer["data"].(map[string]any)
				return status == 200 && mine["address"] == "https://example.org/mine"
			})
		}
		made, _ = other.Want("POST", "/api/resource/Connected%20App", map[string]any{"provider_name": "There"}).(map[string]any)
		if made["redirect_uri"] == nil {
			t.Errorf("a document of the platform's DocType is %v", made)
		}
		name, _ := made["name"].(string)
		if status, answer := s.Call("GET", "/api/method/framework.integrations.doctype.connected_app.connected_app.has_token?connected_app="+name, nil); status != 200 {
			t.Errorf("the platform's method: %d %v", status, answer)
		}
		s.Stop()
		other.Stop()
		if d := doctor(in); d.says("names", "Connected App") != 0 {
			t.Errorf("the doctor says %+v", d)
		}
	})
}

// Names that the platform keeps for itself cannot be had, in whichever case.
func TestReservedNames(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	for _, name := range []string{"Login Failure", "password reset", "Email Queue", "JOB", "Site Secret"} {
		status, answer := s.Call("POST", "/api/resource/DocType", map[string]any{
			"name": name, "module": "Library", "custom": 1, "fields": []any{map[string]any{"fieldname": "a", "fieldtype": "Data"}},
		})
		if status != 417 || answer["exc_type"] != "NameError" {
			t.Errorf("a DocType %s: %d %v", name, status, answer)
		}
	}
}

// A site whose database is missing does not begin with an empty one, and the others
// are served.
func TestDatabaseMissing(t *testing.T) {
	in := armaturetest.New(t)
	in.Run("site", "new", "other")
	in.Run("site", "config", "other", "set", "hosts", `["other.example"]`)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "kept"})
	s.Stop()
	file := filepath.Join(in.Data, "sites", "default", "site.db")
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	s = in.Serve()
	if status, answer := s.CallAs("", "GET", "/api/resource/ToDo", nil); status != 503 || answer["exc_type"] != "SiteDatabaseMissingError" {
		t.Errorf("without the database: %d %v", status, answer)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("there is a database again: %v", err)
	}
	s.Stop()
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	s = in.Serve()
	s.Auth = in.Keys("Administrator")
	if todos, _ := s.Want("GET", "/api/resource/ToDo", nil).([]any); len(todos) != 1 {
		t.Errorf("with the database back: %v", todos)
	}
	s.Stop()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s = in.Serve("--recreate")
	s.Auth = in.Keys("Administrator", "--recreate")
	if todos, _ := s.Want("GET", "/api/resource/ToDo", nil).([]any); len(todos) != 0 {
		t.Errorf("with --recreate: %v", todos)
	}
}
