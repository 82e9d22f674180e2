package auth

import (
	"strings"
	"testing"
	"unicode"

	"armature/core/fault"
)

func TestCleanEmail(t *testing.T) {
	tests := []struct{ typed, want string }{ // empty: refused
		{" Jane@Example.COM ", "jane@example.com"}, {"o'neil+x@ex-ample.org", "o'neil+x@ex-ample.org"},
		{"ｊａｎｅ＠example.com", "jane@example.com"},           // full width is the same after NFKC
		{"mu\u0308ller@example.com", "müller@example.com"}, // composed
		{"иван@example.com", "иван@example.com"}, {"山田たろう@example.jp", "山田たろう@example.jp"}, {"李a@例子.cn", "李a@例子.cn"},
		{"ja\u200bne@example.com", ""}, {"jane\u200d@example.com", ""}, {"\ufeffjane@example.com", ""}, {"ja\u00adne@example.com", ""},
		{"j\u0430ne@example.com", ""},                // Cyrillic а among Latin
		{"\u0441\u043e\u0440\u0435@example.com", ""}, // соре, all Cyrillic, looks like cope
		{"jane@ex\u0430mple.com", ""}, {"jane@\u0435\u0441.com", ""},
		{"jane\u202e@example.com", ""}, {"j\u0131m@example.com", ""},
		{"Jane <jane@example.com>", ""}, {"a@b.co, c@d.co", ""}, {`"a b"@example.com`, ""}, {"jane", ""}, {"", ""}, {"a\x00@b.co", ""},
	}
	for _, tt := range tests {
		got, err := cleanEmail(tt.typed)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q became %q, %v; want %q", tt.typed, got, err, tt.want)
		}
		if err != nil && fault.From(err).ExcType() != "InvalidEmailAddressError" {
			t.Errorf("%q: %v", tt.typed, err)
		}
	}
}

func FuzzCleanEmail(f *testing.F) {
	f.Add("Jane@example.com")
	f.Add("j\u0430ne@ex\u200bample.com")
	f.Fuzz(func(t *testing.T, typed string) {
		got, err := cleanEmail(typed)
		if err != nil {
			return
		}
		if again, err := cleanEmail(got); err != nil || again != got {
			t.Errorf("%q became %q and then %q, %v", typed, got, again, err)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Z) }) {
			t.Errorf("%q became %q", typed, got)
		}
	})
}
