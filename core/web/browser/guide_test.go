package browser

import "testing"

// TestGuide: a guest reads the guide: the list of its pages, a page of text and code, one
// of wide tables; and finds something by its search.
func TestGuide(t *testing.T) {
	s := serve(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			b.open("/app/docs")
			b.inspect("guide " + l.name)
			b.click("main a[href='/app/docs/permissions']")
			b.shows("Permissions and row rules", "What a condition may say")
			b.inspect("guide page " + l.name)
			b.open("/app/docs/fields")
			b.inspect("guide table " + l.name)
			if l.noScript {
				return
			}
			b.fill("#find", "row rules")
			waitFor(b, `document.querySelector("#found a")`)
			b.inspect("guide search " + l.name)
			b.click("#found a")
			if at := b.at(); at != "/app/docs/permissions" && at != "/app/docs/permissions#rules-for-rows" {
				t.Errorf("the first that is found is %s", at)
			}
			b.open("/app/docs/start")
			b.fill("#find", "quetzalcoatl")
			waitFor(b, `document.getElementById("found").textContent === "Nothing is found."`)
		})
	}
}
