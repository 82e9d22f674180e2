package file_test

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkUpload(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s := newSite(b, "")
			content := strings.Repeat("x", size)
			b.SetBytes(int64(size))
			n := 0
			for b.Loop() {
				n++
				s.upload("ann", "a.bin", fmt.Sprintf("%010d", n)+content[10:]).must(200)
			}
		})
	}
}

func BenchmarkDownload(b *testing.B) {
	for _, size := range []int{1 << 10, 8 << 20} {
		for _, private := range []string{"0", "1"} {
			b.Run(fmt.Sprintf("%dKiB/private=%s", size>>10, private), func(b *testing.B) {
				s := newSite(b, "")
				path := urlPath(s.upload("ann", "a.bin", strings.Repeat("x", size), "is_private", private).file())
				b.SetBytes(int64(size))
				for b.Loop() {
					s.get("ann", path).must(200)
				}
			})
		}
	}
}
