package auth_test

import "testing"

func BenchmarkAuthenticate(b *testing.B) {
	f := newFixture(b)
	keys := f.keys(b, "jane@example.com")
	r := request("token " + keys.Key + ":" + keys.Secret)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Authenticate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
