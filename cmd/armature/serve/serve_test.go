package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

func TestServe(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		armaturetest.Eventually(t, "the first start shows a password", func() bool {
			return strings.Contains(s.Log.String(), "Password of Administrator: ")
		})
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, _ := s.CallAs("", "GET", path, nil); status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
		}

		const me = "/api/method/framework.auth.get_logged_user"
		if status, _ := s.CallAs("", "GET", me, nil); status != http.StatusForbidden {
			t.Errorf("a guest gets %d", status)
		}
		status, answer := s.CallAs("token no:body", "GET", me, nil)
		if status != http.StatusUnauthorized || answer["exc_type"] != "AuthenticationError" {
			t.Errorf("wrong credentials get %d %v", status, answer)
		}
		s.Auth = in.Keys("Administrator")
		if got := s.Want("GET", me, nil); got != "Administrator" {
			t.Errorf("logged user %v", got)
		}

		made := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "water the plants"}).(map[string]any)
		path := "/api/resource/ToDo/" + made["name"].(string)
		if made["status"] != "Open" || made["owner"] != "Administrator" || made["doctype"] != "ToDo" {
			t.Errorf("made %v", made)
		}
		changed := s.Want("PUT", path, map[string]any{"status": "Closed"}).(map[string]any)
		if changed["status"] != "Closed" || changed["modified"] == made["modified"] {
			t.Errorf("changed to %v", changed)
		}
		list := s.Want("GET", `/api/resource/ToDo?fields=["name","status"]&filters=[["status","=","Closed"]]`, nil).([]any)
		if len(list) != 1 || list[0].(map[string]any)["name"] != made["name"] {
			t.Errorf("list %v", list)
		}

		// What was acknowledged is there after the worst end of the process.
		s.Kill()
		again := in.Serve()
		again.Auth = s.Auth
		if got := again.Want("GET", path, nil).(map[string]any); got["status"] != "Closed" {
			t.Errorf("after kill -9: %v", got)
		}
		if strings.Contains(again.Log.String(), "Password") {
			t.Error("the second start shows a password again")
		}
		again.Want("DELETE", path, nil)
		if status, _ := again.Call("GET", path, nil); status != http.StatusNotFound {
			t.Errorf("a deleted document gets %d", status)
		}
		again.Stop()
	})
}

func TestKeysWhileServing(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		in.Run("user", "add", "Jane@Example.com", "--first-name", "Jane", "--role", "System Manager")
		const me = "/api/method/framework.auth.get_logged_user"
		old := in.Keys("jane@example.com")
		if status, answer := s.CallAs(old, "GET", me, nil); status != http.StatusOK || answer["message"] != "jane@example.com" {
			t.Fatalf("a new key gets %d %v", status, answer)
		}
		fresh := in.Keys("jane@example.com")
		if status, answer := s.CallAs(fresh, "GET", me, nil); status != http.StatusOK {
			t.Fatalf("a new secret gets %d %v", status, answer)
		}
		armaturetest.Eventually(t, "the old secret is refused", func() bool {
			status, _ := s.CallAs(old, "GET", me, nil)
			return status == http.StatusUnauthorized
		})
		s.Auth = in.Keys("Administrator")
		s.Want("PUT", "/api/resource/User/jane@example.com", map[string]any{"enabled": 0})
		if status, _ := s.CallAs(fresh, "GET", me, nil); status != http.StatusUnauthorized {
			t.Errorf("a disabled user gets %d in the process that disabled it", status)
		}
		if status, answer := s.Call("DELETE", "/api/resource/User/Administrator", nil); status != http.StatusExpectationFailed {
			t.Errorf("deleting the Administrator: %d %v", status, answer)
		}
	})
}

func TestSiteConfigWhileServing(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	body := map[string]any{"description": strings.Repeat("x", 2000)}
	s.Want("POST", "/api/resource/ToDo", body)
	if out := in.Run("site", "list"); !strings.Contains(out, "default") {
		t.Errorf("site list: %s", out)
	}
	in.Run("site", "config", "default", "set", "max_file_size", "1000")
	armaturetest.Eventually(t, "a body over the new limit is refused", func() bool {
		status, _ := s.Call("POST", "/api/resource/ToDo", body)
		return status == http.StatusRequestEntityTooLarge
	})
	if out := in.Run("site", "config", "default", "get", "max_file_size"); strings.TrimSpace(out) != "1000" {
		t.Errorf("site config get: %s", out)
	}
	if _, stderr, err := in.Try("", "site", "config", "default", "set", "time_zone", `"Nowhere"`); err == nil {
		t.Errorf("a time zone that does not exist was taken: %s", stderr)
	}
}

func TestQuotaWhileServing(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	used := func() any {
		all := s.Want("GET", "/api/method/framework.site.usage", nil).(map[string]any)
		return all["documents"].(map[string]any)["used"]
	}
	if out := in.Run("site", "quota", "default", "--documents", fmt.Sprint(used()), "--file-bytes", "2GiB"); !strings.Contains(out, "2147483648") {
		t.Errorf("site quota: %s", out)
	}
	armaturetest.Eventually(t, "one document more is refused", func() bool {
		status, answer := s.Call("POST", "/api/resource/ToDo", map[string]any{"description": "x"})
		return status == http.StatusInsufficientStorage && answer["exc_type"] == "QuotaExceededError"
	})
	resp, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{`armature_site_quota{resource="file_bytes",site="default"} 2.147483648e+09`, `armature_site_quota_used{resource="documents",site="default"} ` + fmt.Sprint(used())} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the metrics", want)
		}
	}
	if _, stderr, err := in.Try("", "site", "quota", "default", "--documents", "many"); err == nil || !strings.Contains(stderr, "many") {
		t.Errorf("a quota that is no number: %v %s", err, stderr)
	}
	in.Run("site", "quota", "default", "--documents", "0")
	armaturetest.Eventually(t, "without the quota it is stored", func() bool {
		status, _ := s.Call("POST", "/api/resource/ToDo", map[string]any{"description": "x"})
		return status == http.StatusOK
	})
}

func TestSites(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	if _, stderr, err := in.Try("", "site", "new", "second"); err != nil || !strings.Contains(stderr, "armature user password Administrator --site second") {
		t.Errorf("nobody is told how to change the password: %v\n%s", err, stderr)
	}
	in.Run("site", "config", "second", "set", "hosts", `["127.0.0.1"]`)
	auth := in.Keys("Administrator")
	armaturetest.Eventually(t, "the second site answers its host", func() bool {
		status, _ := s.CallAs(auth, "GET", "/api/resource/ToDo", nil)
		return status == http.StatusUnauthorized // a key of the other site
	})
	if _, _, err := in.Try("", "site", "drop", "second"); err == nil {
		t.Error("a site was dropped without --yes")
	}
	in.Run("site", "drop", "second", "--yes")
	armaturetest.Eventually(t, "the default site answers again", func() bool {
		status, _ := s.CallAs(auth, "GET", "/api/resource/ToDo", nil)
		return status == http.StatusOK
	})
	s.Stop()
}

func TestSiteErase(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "second")
		in.Run("user", "add", "jane@example.com", "--site", "second")
		in.Run("site", "drop", "second", "--yes", "--erase")
		if out := in.Run("site", "list", "--json"); strings.Contains(out, "second") {
			t.Errorf("site list: %s", out)
		}
		if _, _, err := in.Try("", "site", "drop", "second", "--yes", "--erase"); err == nil {
			t.Error("a site was erased twice")
		}
		// A new site of the name has nothing of the old one.
		in.Run("site", "new", "second")
		in.Run("user", "add", "jane@example.com", "--site", "second")

		// What is in a bucket is not deleted, and that is said.
		in.Run("site", "config", "second", "set", "file_storage", `{"endpoint": "http://127.0.0.1:1", "bucket": "shared", "prefix": "ours/"}`)
		if out := in.Run("site", "drop", "second", "--yes", "--erase"); !strings.Contains(out, "the bucket shared, under ours/") {
			t.Errorf("erased: %s", out)
		}
	})
}

func TestAnotherMasterKeyRefusesToStart(t *testing.T) {
	in := armaturetest.New(t)
	in.Run("user", "keys", "Administrator")
	if err := os.Remove(filepath.Join(in.Data, "secret.key")); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := in.Try("", "serve", "--listen", "127.0.0.1:0")
	if err == nil || !strings.Contains(stderr, "master key") || !strings.Contains(stderr, "hint: ") {
		t.Errorf("%v\n%s", err, stderr)
	}
}

func TestAdministratorPassword(t *testing.T) {
	in := armaturetest.New(t)
	cmd := in.Command("site", "new", "default")
	cmd.Env = append(cmd.Env, "ARMATURE_ADMIN_PASSWORD=chosen by the operator")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "assword") {
		t.Errorf("%v: %s", err, out)
	}
	if _, stderr, err := in.Try("a new one\n", "user", "password", "Administrator"); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	if _, _, err := in.Try("x\n", "user", "password", "nobody@example.com"); err == nil {
		t.Error("nobody got a password")
	}
}

func TestSettings(t *testing.T) {
	in := armaturetest.New(t)
	file := filepath.Join(t.TempDir(), "armature.json")
	if err := os.WriteFile(file, []byte(`{"json": true, "site": "from-file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := in.Run("version", "--config", file); !strings.HasPrefix(out, "{") {
		t.Errorf("the file's json setting does not count: %s", out)
	}
	if out := in.Run("version", "--config", file, "--json=false"); strings.HasPrefix(out, "{") {
		t.Errorf("a flag does not win over the file: %s", out)
	}
	cmd := in.Command("version")
	cmd.Env = append(cmd.Env, "ARMATURE_JSON=perhaps")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "ARMATURE_JSON") {
		t.Errorf("%v: %s", err, out)
	}
	if _, stderr, err := in.Try("", "user", "keys", "nobody@example.com"); err == nil || !strings.Contains(stderr, "armature: ") {
		t.Errorf("%v: %s", err, stderr)
	}
}
