package oauth_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestScopesOfTokens: a token reaches what its scopes name, through every door, and
// a refusal says which scope would do.
func TestScopesOfTokens(t *testing.T) {
	each(t, map[string]any{"scopes": "all openid"}, func(t *testing.T, w *world) {
		todo, _ := w.Admin.On(t).Post("/api/resource/ToDo", map[string]any{"description": "x", "priority": "High"}).Data(t)["name"].(string)
		token := map[string]string{}
		for _, scope := range []string{"openid", "resource:ToDo:read", "resource:ToDo:write", "resource:*:read", "method:framework.client.*", "all"} {
			token[scope], _ = w.tokens("scope", scope)
		}
		const resource = "/api/resource/"
		upload := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nx\r\n--b--\r\n"
		tests := []struct {
			name, scope, verb, path, body string
			needed                        string // empty: allowed
		}{
			{"list without a scope", "openid", "GET", resource + "ToDo", "", "resource:ToDo:read"},
			{"who am I", "openid", "GET", "/api/method/framework.auth.get_logged_user", "", ""},
			{"userinfo", "openid", "GET", prefix + "openid_profile", "", ""},
			{"userinfo without openid", "all", "GET", prefix + "openid_profile", "", "openid"},
			{"list", "resource:ToDo:read", "GET", resource + "ToDo", "", ""},
			{"read", "resource:ToDo:read", "GET", resource + "ToDo/" + todo, "", ""},
			{"create with read", "resource:ToDo:read", "POST", resource + "ToDo", `{"description":"x"}`, "resource:ToDo:write"},
			{"delete with read", "resource:ToDo:read", "DELETE", resource + "ToDo/" + todo, "", "resource:ToDo:write"},
			{"expand what is not named", "resource:ToDo:read", "GET", resource + "ToDo/" + todo + "?expand_links=True", "", "resource:Priority:read"},
			{"filter by what is not named", "resource:ToDo:read", "GET", resource + `ToDo?filters=[["priority.title","=","High"]]`, "", "resource:Priority:read"},
			{"another type", "resource:ToDo:write", "GET", resource + "User", "", "resource:User:read"},
			{"create", "resource:ToDo:write", "POST", resource + "ToDo", `{"description":"x"}`, ""},
			{"a method", "resource:ToDo:write", "GET", "/api/method/framework.client.get_list?doctype=User", "", "resource:User:read"},
			{"a method by its scope alone", "method:framework.client.*", "GET", "/api/method/framework.client.get_list?doctype=User", "", "resource:User:read"},
			{"an administrator's method", "resource:*:read", "POST", prefix + "rotate_client_secret", `{"client_id":"x"}`, "method:" + strings.TrimPrefix(prefix, "/api/method/") + "rotate_client_secret"},
			{"upload", "resource:ToDo:write", "POST", "/api/method/upload_file", upload, "resource:File:write"},
			{"everything", "all", "GET", resource + "User", "", ""},
			{"reading everything", "resource:*:read", "GET", resource + "User", "", ""},
			{"grants of a narrowed token", "openid", "GET", resource + "OAuth%20Grant", "", "resource:OAuth%20Grant:read"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := w.on(t)
				b := w.guest()
				r := b.request(tt.verb, tt.path, []byte(tt.body))
				r.Header.Set("Accept", "application/json")
				r.Header.Set("Content-Type", "application/json")
				if tt.body == upload {
					r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
				}
				r.Header.Set("Authorization", "Bearer "+token[tt.scope])
				a := b.do(r)
				if tt.needed == "" {
					a.ok()
					return
				}
				challenge := a.header.Get("Www-Authenticate")
				if a.status != http.StatusForbidden || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, `scope="`+tt.needed+`"`) {
					t.Errorf("%d %q: %s", a.status, challenge, a.text)
				}
			})
		}
	})
}

// TestPrivateFiles: a token reads a private file only with a scope for files.
func TestPrivateFiles(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		body := "--b\r\nContent-Disposition: form-data; name=\"is_private\"\r\n\r\n1\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nsecret text\r\n--b--\r\n"
		made := w.Admin.On(t).Do(http.MethodPost, "/api/method/upload_file", "multipart/form-data; boundary=b", []byte(body))
		url, _ := made.Message(t).(map[string]any)["file_url"].(string)
		narrow, _ := w.tokens("scope", "openid")
		wide, _ := w.tokens("scope", "all")
		for _, path := range []string{url, "/api/method/download_file?file_url=" + url} {
			if a := w.bearer(narrow, "GET", path, ""); a.status != http.StatusForbidden || strings.Contains(a.text, "secret text") {
				t.Errorf("%s with openid: %d", path, a.status)
			}
			if a := w.bearer(wide, "GET", path, ""); a.status != http.StatusOK || a.text != "secret text" {
				t.Errorf("%s with all: %d %s", path, a.status, a.text)
			}
		}
	})
}
