package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"path"
	"strings"
	"sync"
)

// file is one of the program's files, as it is sent.
type file struct {
	kind        string
	tag         string // weak: the same for every coding
	plain, gzip []byte
}

// packed are the program's files by name, made smaller once and as well as can be: all
// sites send the same.
var packed = sync.OnceValues(func() (map[string]*file, error) {
	all, err := names()
	if err != nil {
		return nil, err
	}
	files := map[string]*file{}
	for _, name := range all {
		text, err := built.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var small bytes.Buffer
		w, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		files[strings.TrimPrefix(name, "built/")] = &file{
			kind: kinds[path.Ext(name)], tag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, plain: text, gzip: small.Bytes(),
		}
	}
	return files, nil
})
