package oauth_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// BenchmarkOAuth is what the endpoints cost a client on loopback, on both
// databases, and what a read costs with an access token beside the same read with
// an API key: the two in turns, so that their ratio means something.
//
//	go test ./core/oauth -run - -bench OAuth -benchtime 2s
func BenchmarkOAuth(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) { benchmark(b, "") })
	b.Run("PostgreSQL", func(b *testing.B) { benchmark(b, sitetest.Postgres(b)) })
}

func benchmark(b *testing.B, database string) {
	s := sitetest.New(b, database)
	doc := s.Admin.Post("/api/resource/OAuth%20Client", map[string]any{
		"app_name": "Bench", "scopes": "all openid", "redirect_uris": callback, "default_redirect_uri": callback, "skip_authorization": 1,
	}).Data(b)
	id, secret := doc["client_id"].(string), doc["client_secret"].(string)
	todo, _ := s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "x"}).Data(b)["name"].(string)
	login := s.Guest.Do(http.MethodPost, "/api/method/login", "application/json", []byte(`{"usr":"Administrator","pwd":"`+password+`"}`)).OK(b)
	cookie := ""
	for _, c := range login.Header.Values("Set-Cookie") {
		if strings.HasPrefix(c, "sid=") {
			cookie, _, _ = strings.Cut(c, ";")
		}
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(verb, path, authorization string, form url.Values) (*http.Response, string) {
		r, err := http.NewRequest(verb, s.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			b.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		r.Header.Set("Cookie", cookie)
		if form != nil || authorization != "" {
			r.Header.Del("Cookie")
		}
		res, err := c.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode >= 400 {
			b.Fatalf("%s %s: %d %s", verb, path, res.StatusCode, text)
		}
		return res, string(text)
	}
	field := func(text, name string) string {
		_, rest, _ := strings.Cut(text, `"`+name+`":"`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	code := func() string {
		q := url.Values{"client_id": {id}, "response_type": {"code"}, "redirect_uri": {callback}, "scope": {"all openid"}, "state": {"s"}}
		res, _ := send(http.MethodGet, prefix+"authorize?"+q.Encode(), "", nil)
		to, err := res.Location()
		if err != nil {
			b.Fatal(err)
		}
		return to.Query().Get("code")
	}
	redeem := func(code string) string {
		_, text := send(http.MethodPost, prefix+"get_token", "", url.Values{
			"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "client_id": {id}, "client_secret": {secret},
		})
		return text
	}

	b.Run("code exchange", func(b *testing.B) {
		codes := make([]string, b.N)
		for i := range codes {
			codes[i] = code()
		}
		b.ResetTimer()
		for _, code := range codes {
			redeem(code)
		}
	})
	tokens := redeem(code())
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			_, tokens = send(http.MethodPost, prefix+"get_token", "", url.Values{
				"grant_type": {"refresh_token"}, "refresh_token": {field(tokens, "refresh_token")}, "client_id": {id}, "client_secret": {secret},
			})
		}
	})
	access := field(tokens, "access_token")
	b.Run("introspection", func(b *testing.B) {
		for b.Loop() {
			send(http.MethodPost, prefix+"introspect_token", "", url.Values{"token": {access}})
		}
	})
	b.Run("userinfo", func(b *testing.B) {
		for b.Loop() {
			send(http.MethodGet, prefix+"openid_profile", "Bearer "+access, nil)
		}
	})
	b.Run("read", func(b *testing.B) {
		path := "/api/resource/ToDo/" + todo
		var byToken, byKey []time.Duration
		one := func(authorization string) time.Duration {
			start := time.Now()
			send(http.MethodGet, path, authorization, nil)
			return time.Since(start)
		}
		for b.Loop() {
			byToken = append(byToken, one("Bearer "+access))
			byKey = append(byKey, one(s.Admin.Authorization))
		}
		slices.Sort(byToken)
		slices.Sort(byKey)
		token, key := byToken[len(byToken)/2], byKey[len(byKey)/2]
		b.ReportMetric(float64(token)/1e3, "token-us")
		b.ReportMetric(float64(key)/1e3, "key-us")
		b.ReportMetric(float64(token)/float64(key), "token/key")
	})
}
