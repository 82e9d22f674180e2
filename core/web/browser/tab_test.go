package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a tab in a profile of its own. What the browser complains about fails
// the test when it ends.
type tab struct {
	t      *testing.T
	ctx    context.Context
	look   look
	origin string

	mu         sync.Mutex
	complaints []string
}

// look is how a person looks at the pages.
type look struct {
	name     string
	width    int64
	height   int64
	phone    bool
	dark     bool
	noScript bool
}

// looks are those in which every flow must work.
var looks = []look{
	{name: "desktop", width: 1280, height: 800},
	{name: "phone", width: 360, height: 740, phone: true, dark: true},
	{name: "no script", width: 1024, height: 768, noScript: true},
}

// newTab opens a tab; a test of one flow takes at most two minutes, on a busy machine.
func newTab(t *testing.T, s *server, l look) *tab {
	t.Helper()
	b := &tab{t: t, look: l, origin: s.origin}
	ctx, cancel := chromedp.NewContext(startChromium(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { stop(); cancel() })
	b.ctx = ctx
	b.see(l)
	b.do(call(audits.Enable, cdp.Empty{}), b.script(!l.noScript))
	t.Cleanup(b.check)
	return b
}

// see gives the tab a width and colours.
func (b *tab) see(l look) {
	b.t.Helper()
	options := []chromedp.EmulateViewportOption{}
	if l.phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait, chromedp.EmulateScale(2))
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.do(
		chromedp.EmulateViewport(l.width, l.height, options...),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
	)
}

// call is a command of the protocol as an action.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// script lets pages run scripts, or not.
func (b *tab) script(on bool) chromedp.Action[chromedp.Void] {
	return call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// asks evaluates what needs time. A browser without script would wait for ever,
// so it gets it for as long.
func asks[T any](b *tab, expression string) T {
	b.t.Helper()
	b.do(b.script(true))
	v := run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	b.do(b.script(!b.look.noScript))
	return v
}

// listen notes what the browser complains about: errors on the console, refusals
// by the Content-Security-Policy, forms without labels.
func (b *tab) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// A page that answers 401 is an error to the browser, not to us.
		if e.Entry.Source != log.EntrySourceNetwork || !strings.Contains(e.Entry.Text, "the server responded with a status of 4") {
			complaint = fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			complaint += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		complaint = "console: " + string(e.Type)
	case *audits.EventIssueAdded:
		complaint = "issue: " + string(e.Issue.Code)
		if d := e.Issue.Details; d != nil && d.GenericIssueDetails != nil {
			complaint += " " + string(d.GenericIssueDetails.ErrorType)
		}
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

// expect demands a complaint and takes it and what came with it as right.
func (b *tab) expect(part string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.Contains(strings.Join(b.complaints, "\n"), part) {
		b.t.Errorf("the browser does not complain of %q but of %q", part, b.complaints)
	}
	b.complaints = nil
}

func (b *tab) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser complains: %s", c)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// run runs an action and returns its value.
func run[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// loads does what makes the browser load another page, and returns the answer.
func (b *tab) loads(steps ...chromedp.Action[chromedp.Void]) *network.Response {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		b.t.Fatalf("load a page: %v", err)
	}
	// A field that asks for the focus gets it with the first picture.
	asks[chromedp.Void](b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	return response
}

// open goes to a path of the server, or to another address.
func (b *tab) open(address string) *network.Response {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.origin + address
	}
	return b.loads(chromedp.Navigate(address))
}

// click presses, with the mouse, what leads to another page.
func (b *tab) click(selector string) *network.Response {
	b.t.Helper()
	return b.loads(b.mouse(selector))
}

// mouse is a click in the middle of an element, which must be what is seen there.
func (b *tab) mouse(selector string) chromedp.Action[chromedp.Void] {
	b.t.Helper()
	at := run(b, chromedp.Evaluate[[]float64](fmt.Sprintf(`(selector => {
		const e = document.querySelector(selector);
		if (!e) return [];
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
		return e.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})(%q)`, selector)))
	if len(at) != 2 {
		b.t.Fatalf("at %s nobody can click %s", b.at(), selector)
	}
	return chromedp.MouseClickXY(at[0], at[1])
}

// fill clicks into a field and types, over what is there.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(b.mouse(selector), chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
}

// press types without looking where: what has the focus gets it.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// at is the path and query the tab is at, or the whole address elsewhere.
func (b *tab) at() string {
	b.t.Helper()
	where := run(b, chromedp.Location())
	if u, err := url.Parse(where); err == nil && u.Scheme+"://"+u.Host == b.origin {
		return u.RequestURI()
	}
	return where
}

// text is what a person reads on the page.
func (b *tab) text() string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string]("document.body.innerText"))
}

// shows demands that the page reads so.
func (b *tab) shows(parts ...string) {
	b.t.Helper()
	text := b.text()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			b.t.Errorf("at %s the page does not say %q:\n%s", b.at(), part, text)
		}
	}
}

// focused is the id or name of what has the focus.
func (b *tab) focused() string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string](`(e => e.id || e.value || e.textContent)(document.activeElement)`))
}

// value is what stands in a field.
func (b *tab) value(selector string) string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).value", selector)))
}

// who is the user the browser's cookies are logged in as; empty for none.
func (b *tab) who() string {
	b.t.Helper()
	cookies := run(b, func(ctx context.Context, target *chromedp.Target) (network.GetCookiesResult, error) {
		return cdp.Call(ctx, target, network.GetCookies, network.GetCookiesParams{URLs: []string{b.origin}})
	})
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.origin+"/api/method/framework.auth.get_logged_user", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range cookies.Cookies {
		req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusForbidden {
		return ""
	}
	var answer struct{ Message string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		b.t.Fatal(err)
	}
	return answer.Message
}

// sights are those in which every page must be in order.
var sights = []look{
	{name: "360 light", width: 360, height: 740, phone: true},
	{name: "360 dark", width: 360, height: 740, phone: true, dark: true},
	{name: "1280 light", width: 1280, height: 800},
	{name: "1280 dark", width: 1280, height: 800, dark: true},
}

// inspected are the pages, by name, that were looked at in all sights.
var inspected sync.Map

// inspect looks at the page as it is, narrow and wide, in light and dark colours:
// nothing sticks out at the side, the targets are large enough for a finger, and the
// accessibility checks pass. Pictures go to the folder ARMATURE_SCREENSHOTS names.
func (b *tab) inspect(name string) {
	b.t.Helper()
	// What another look has come to before is looked at as it is now.
	if _, before := inspected.LoadOrStore(strings.TrimSuffix(name, " "+b.look.name), true); before {
		b.inspectAs(name, b.look)
		return
	}
	for _, l := range sights {
		b.see(l)
		b.inspectAs(name+" "+l.name, l)
	}
	b.see(b.look)
}

func (b *tab) inspectAs(name string, l look) {
	b.t.Helper()
	out := run(b, chromedp.Evaluate[[]string](fmt.Sprintf(`[document.documentElement, ...document.body.querySelectorAll("*")].filter(e => {
		const r = e.getBoundingClientRect()
		return r.width > 0 && (r.right > %[1]d + 0.5 || r.left < -0.5) || e === document.documentElement && e.scrollWidth > %[1]d
	}).map(e => e.outerHTML.slice(0, 200))`, l.width)))
	for _, e := range out {
		b.t.Errorf("%s: this sticks out of the window: %s", name, e)
	}
	small := run(b, chromedp.Evaluate[[]string](
		`[...document.querySelectorAll("button, input:not([type=hidden], [hidden]), .button")].filter(e => ((e.type === "checkbox" || e.type === "radio") && e.closest("label") || e).getBoundingClientRect().height < 44).map(e => e.outerHTML)`))
	for _, e := range small {
		b.t.Errorf("%s: too small to touch: %s", name, e)
	}
	if seen := run(b, chromedp.Evaluate[bool](`[...document.querySelectorAll("[hidden]")].some(e => e.getClientRects().length > 0)`)); seen {
		b.t.Errorf("%s: what is hidden is seen", name)
	}
	if dir := os.Getenv("ARMATURE_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), run(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	b.axe(name)
}
