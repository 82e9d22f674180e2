package sites_test

import (
	"testing"

	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// BenchmarkOpen is what the first request to a sleeping site waits for.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		b.Run(name, func(b *testing.B) {
			layout := datafolder.Layout{Data: b.TempDir()}
			if err := layout.Make(); err != nil {
				b.Fatal(err)
			}
			master, err := site.LoadMaster(layout.MasterKey())
			if err != nil {
				b.Fatal(err)
			}
			c := sites.Config{Config: tenant.Config{Master: master}, Layout: layout}
			if name == "PostgreSQL" {
				sitetest.OnPostgres(b, &c)
			}
			s := sites.NewSet(c)
			defer s.CloseAll()
			if _, err := s.Create(b.Context(), "default"); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Close("default")
				if _, err := s.Open(b.Context(), "default"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
