package doctype

import (
	"strings"
	"testing"
	"time"
)

func TestStyles(t *testing.T) {
	rich := &Field{Type: "Text Editor", Kind: Text}
	tests := []struct{ name, in, out string }{
		{"as editors write it", `<p style="color: rgb(230, 0, 0); text-align: center">x</p>`, `<p style="color: rgb(230, 0, 0); text-align: center">x</p>`},
		{"spelt otherwise", `<p STYLE='COLOR:Red;;font-weight:bold'>x</p>`, `<p style="color: Red; font-weight: bold">x</p>`},
		{"one of them unknown", `<p style="mso-x: 1; color: red">x</p>`, `<p style="color: red">x</p>`},
		{"important", `<p style="color: red !important">x</p>`, `<p style="color: red">x</p>`},
		{"an address", `<p style="background-color: url(//evil); color: red">x</p>`, `<p style="color: red">x</p>`},
		{"escaped", `<p style="color: r\65 d; width: expression(alert(1))">x</p>`, `<p>x</p>`},
		{"in a string", `<p style="color: 'x; color: red'">x</p>`, `<p>x</p>`},
		{"none left", `<p style="behavior: x" class="a">x</p>`, `<p class="a">x</p>`},
		{"not an attribute", `style <b>style</b>`, `style <b>style</b>`},
		{"cut off", `<b>x</b><p style="color: red`, `<b>x</b>`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := rich.Sanitize(test.in); got != test.out {
				t.Errorf("%s became %s, not %s", test.in, got, test.out)
			}
		})
	}
}

// Markup that is made to take long takes about as long as any other.
func TestSanitizeIsLinear(t *testing.T) {
	rich := &Field{Type: "Text Editor", Kind: Text}
	const size = 400_000
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, size/len(part)) + after
	}
	tests := map[string]string{
		"brackets":     fill(`<p style="color:`, "(", `">`),
		"addresses":    fill(`<p style="color:`, "url(", `">`),
		"many styles":  fill("", `<p style="color:url(url(url(url(url(url(">`, ""),
		"comments":     fill(`<p style="`, "/*", `">`),
		"quotes":       fill(`<p style="`, "'", `">`),
		"declarations": fill(`<p style="`, "color:red;", `">`),
		"style again":  fill("<p ", "style='color: red' ", ">"),
		"tags":         fill("", "<p>", ""),
		"scripts":      fill("", "<script>", ""),
		"ends":         fill("", "</p>", ""),
		"attributes":   fill("<p ", "a=1 ", ">"),
		"classes":      fill("<p ", "class=1 ", ">"),
		"words of rel": fill("<a href='http://x/' rel='", "x ", "'>"),
		"remarks":      fill("", "<!--", ""),
		"openings":     fill("", "<a", ""),
		"entities":     fill("<p>", "&amp", ""),
		"an image":     fill("<img src='data:image/png;base64,", "A ", "'>"),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			rich.Sanitize(s)
			if d := time.Since(begun); d > 20*time.Second {
				t.Errorf("%d bytes took %v", len(s), d)
			}
		})
	}
}
