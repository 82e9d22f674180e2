package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// shopWindow shows what the typed client is told with an API key.
const shopWindow = `import { Armature } from "./api/armature.ts";
const [url, key] = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const say = (text: string) => { document.body.append(Object.assign(document.createElement("p"), { textContent: text })); };
try {
  for await (const told of new Armature({ url, key }).live({ doctype: "ToDo", fields: ["description"], filters: [["status", "=", "Open"]] })) {
    say(told.type === "changed" ? "changed " + told.data.description : told.type);
  }
} catch (error) {
  say("refused " + (error as { exc_type?: string }).exc_type);
}
`

// TestLiveClient: the typed client in a page of another origin is told what changes
// with an API key, and no more once that has ended.
func TestLiveClient(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *server) {
		s.user("jane@example.com", "Jane", "Doe", "System Manager")
		public := filepath.Join(s.data, "sites", "default", "public")
		s.command("", "client", "ts", "--out", filepath.Join(public, "api"), "--user", "jane@example.com")
		if err := os.WriteFile(filepath.Join(public, "main.ts"), []byte(shopWindow), 0o600); err != nil {
			t.Fatal(err)
		}
		bundle := fetched(t, s.origin+"/main.ts")
		shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/main.js" {
				w.Header().Set("Content-Type", "text/javascript")
				_, _ = w.Write(bundle)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Shop</title><body><script type="module" src="/main.js"></script>`)
		}))
		t.Cleanup(shop.Close)
		s.allow(shop.URL, fmt.Sprintf("[%q]", shop.URL))
		b := newTab(t, s, looks[0])

		var keys struct {
			Key    string `json:"api_key"`
			Secret string `json:"api_secret"`
		}
		again := func() {
			t.Helper()
			if err := json.Unmarshal(s.command("", "user", "keys", "jane@example.com"), &keys); err != nil {
				t.Fatal(err)
			}
		}
		again()
		hash, err := json.Marshal([]any{s.origin, keys.Key + ":" + keys.Secret})
		if err != nil {
			t.Fatal(err)
		}
		b.open(shop.URL + "/#" + url.PathEscape(string(hash)))
		b.waits(`document.body.innerText.includes("ready")`)
		name := s.api("POST", "/api/resource/ToDo", map[string]any{"description": "first"}).(map[string]any)["name"]
		b.waits(`document.body.innerText.includes("changed first")`)
		s.api("PUT", "/api/resource/ToDo/"+fmt.Sprint(name), map[string]any{"status": "Closed"})
		b.waits(`document.body.innerText.includes("removed")`)
		again() // the key of before has ended
		b.waits(`document.body.innerText.includes("refused ")`)
		s.api("POST", "/api/resource/ToDo", map[string]any{"description": "secret"})
		if asks[bool](b, `document.body.innerText.includes("secret")`) {
			t.Error("a key that has ended is told")
		}
		b.forget()
	})
}

func fetched(t *testing.T, address string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", address, res.StatusCode, err, body)
	}
	return body
}
