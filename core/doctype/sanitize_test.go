package doctype

import (
	"strings"
	"testing"
)

func TestSanitize(t *testing.T) {
	rich := &Field{Type: "Text Editor", Kind: Text}
	for _, same := range []string{
		"plain", "a < b && c > d", "1 <2", `<p>Hello <strong>world</strong></p>`, `<a href="https://example.com" rel="nofollow">x</a>`,
	} {
		if got := rich.Sanitize(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	for _, bad := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<a href="javascript:alert(1)">x</a>`,
		`<svg onload=alert(1)>`, `<p style="background:url(javascript:alert(1))">x</p>`, `<iframe src="//evil">`,
	} {
		got := strings.ToLower(rich.Sanitize(bad))
		for _, part := range []string{"script", "onerror", "onload", "iframe", "alert(1)\""} {
			if strings.Contains(got, part) {
				t.Errorf("%q became %q", bad, got)
			}
		}
	}
	code := `<script>alert(1)</script>`
	if got := (&Field{Type: "Code", Kind: Text}).Sanitize(code); got != code {
		t.Errorf("code is kept: %q", got)
	}
}
