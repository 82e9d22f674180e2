package archive_test

import (
	"testing"

	"armature/core/fault"
	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/sites/sitetest"
)

// What comes out of an archive is a copy, from which nothing is sent until somebody
// says so: whatever its name, and whoever serves it. What takes the place of the site
// that it was made from is as that was.
func TestCopiesArePaused(t *testing.T) {
	s, layout, file := archived(t)
	paused := func(s *sites.Set, name string, want bool) {
		t.Helper()
		on := sitetest.Open(t, s, name)
		err := on.Outgoing()
		if (err != nil) != want || (on.Paused() != "") != want {
			t.Errorf("%s: %v, paused as %q", name, err, on.Paused())
		}
		if want && (fault.From(err).Type != "OutgoingPausedError" || fault.KindOf(err) != fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	restore := func(s *sites.Set, o archive.RestoreOptions) {
		t.Helper()
		if _, err := archive.Restore(t.Context(), s, file, passphrase, o); err != nil {
			t.Fatal(err)
		}
		s.Refresh(t.Context())
	}
	paused(s, "default", false)
	restore(s, archive.RestoreOptions{As: "copy"})
	paused(s, "copy", true)
	restore(s, archive.RestoreOptions{As: "original", Sending: true})
	paused(s, "original", false)
	restore(s, archive.RestoreOptions{Replace: true})
	paused(s, "default", false)
	restore(s, archive.RestoreOptions{As: "copy", Replace: true})
	paused(s, "copy", true) // as it was

	// Another server goes by it as soon as it looks.
	c := sitetest.Config(t, layout)
	other := serve(t, c)
	paused(other, "copy", true)
	if news, err := s.Pause(t.Context(), "copy", ""); err != nil || !news {
		t.Fatal(news, err)
	}
	paused(s, "copy", false)
	if sitetest.Acquired(t, other, "copy") != "copy" { // sites in use are looked at
		t.Error("the copy answers nobody")
	}
	other.Refresh(t.Context())
	paused(other, "copy", false)
	if news, err := s.Pause(t.Context(), "copy", ""); err != nil || news {
		t.Error("resumed twice:", news, err)
	}
	if news, err := s.Pause(t.Context(), "copy", "a rehearsal"); err != nil || !news {
		t.Fatal(news, err)
	}
	paused(s, "copy", true)
	s.Close("copy")
	paused(s, "copy", true)

	// Of the same name elsewhere it is a copy as well.
	there, _ := sitetest.NewSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	restore(there, archive.RestoreOptions{})
	paused(there, "default", true)
	if _, err := there.Pause(t.Context(), "default", ""); err != nil {
		t.Fatal(err)
	}
	sitetest.Create(t, there, "fresh")
	restore(there, archive.RestoreOptions{As: "fresh", Replace: true})
	paused(there, "fresh", true) // it is not what was there
}
