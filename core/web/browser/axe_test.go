package browser

import (
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// axe is the source of axe-core, which package-lock.json pins.
var axe = sync.OnceValues(func() (string, error) {
	const path = "node_modules/axe-core/axe.min.js"
	if _, err := os.Stat(path); err != nil {
		if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	text, err := os.ReadFile(path)
	return string(text), err
})

// axe checks the page against WCAG 2.2 AA and the library's best practices:
// contrast, labels, roles, landmarks, headings. It comes in through the debugger,
// which neither the page's policy nor a browser without script hinders.
func (b *tab) axe(page string) {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		if os.Getenv("CI") == "true" {
			b.t.Fatalf("axe-core: %v\n%s", err, source)
		}
		b.t.Logf("%s is not checked by axe-core: %v", page, err)
		return
	}
	if there := run(b, chromedp.Evaluate[bool]("typeof axe === 'object'")); !there {
		run(b, chromedp.Evaluate[chromedp.Void](source))
	}
	found := asks[[]string](b, `axe.run({resultTypes: ["violations", "incomplete"]}).then(r =>
		[...r.violations, ...r.incomplete].flatMap(v => v.nodes.map(n => v.id + ": " + n.html + "\n" + (n.failureSummary || v.help))))`)
	if len(found) > 0 {
		b.t.Errorf("%s: axe finds\n%s", page, strings.Join(found, "\n"))
	}
}
