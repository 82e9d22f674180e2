package host_test

import (
	"testing"

	"armature/core/host"
	"armature/core/host/hosttest"
	"armature/core/site"
)

// BenchmarkOpen is what the first request to a sleeping site waits for.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		b.Run(name, func(b *testing.B) {
			layout := host.Layout{Data: b.TempDir()}
			if err := layout.Make(); err != nil {
				b.Fatal(err)
			}
			master, err := site.LoadMaster(layout.MasterKey())
			if err != nil {
				b.Fatal(err)
			}
			c := host.Config{Layout: layout, Master: master}
			if name == "PostgreSQL" {
				hosttest.OnPostgres(b, &c)
			}
			s := host.NewSet(c)
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
