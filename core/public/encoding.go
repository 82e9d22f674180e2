package public

import (
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// codings are the forms that a file may lie beside in, the smallest first, and what
// their names end with.
var codings = []struct{ name, suffix string }{{"br", ".br"}, {"zstd", ".zst"}, {"gzip", ".gz"}}

// smaller opens a file in a form that the client reads; nil: there is none. One that is
// older than the file itself was made of another.
func smaller(r *http.Request, root *os.Root, name string, of fs.FileInfo) (*os.File, string) {
	accepted := r.Header.Get("Accept-Encoding")
	if accepted == "" {
		return nil, ""
	}
	for _, c := range codings {
		if !accepts(accepted, c.name) {
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

// accepts reads Accept-Encoding (RFC 9110, section 12.5.3) for one coding.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		weight, has := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
		if !has {
			return true
		}
		q, err := strconv.ParseFloat(weight, 64)
		return err == nil && q > 0
	}
	return false
}
