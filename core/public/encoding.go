package public

import (
	"io/fs"
	"net/http"
	"os"

	"armature/core/coding"
)

// codings are the forms that a file may lie beside in, the smallest first, and what
// their names end with.
var codings = []struct{ name, suffix string }{{"br", ".br"}, {"zstd", ".zst"}, {"gzip", ".gz"}}

// smaller opens a file in a form that the client reads; nil: there is none. One that is
// older than the file itself was made of another.
func smaller(r *http.Request, root *os.Root, name string, of fs.FileInfo) (*os.File, string) {
	accepted := r.Header.Get("Accept-Encoding")
	for _, c := range codings {
		if coding.Best(accepted, c.name) == "" {
			continue
		}
		file, info, err := open(root, name+c.suffix)
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() && !info.ModTime().Before(of.ModTime()) {
			return file, c.name
		}
		file.Close()
	}
	return nil, ""
}
