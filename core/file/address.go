package file

import (
	"context"
	"crypto/rand"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
)

// sameContent finds a File with the content of a draft and the same privacy,
// whose URL and bytes a new File then shares; nil when there is none. The MD5
// finds it, the SHA-256 in the key proves it.
func (s *Service) sameContent(ctx context.Context, tx document.Tx, d *Draft, private bool) (*doctype.Document, error) {
	return s.sameBytes(ctx, tx, d.MD5, blobs+d.SHA256[:2]+"/"+d.SHA256+"-", private)
}

func (s *Service) sameBytes(ctx context.Context, tx document.Tx, md5, keyPrefix string, private bool) (*doctype.Document, error) {
	found, err := s.find(ctx, tx, 0, match{"content_hash", md5}, match{"is_private", check(private)})
	if err != nil {
		return nil, err
	}
	for _, doc := range found {
		if strings.HasPrefix(doc.Text("storage_key"), keyPrefix) {
			return doc, nil
		}
	}
	return nil, nil
}

// contentOf is the part of a key that all keys of the same content share.
func contentOf(key string) string { return key[:strings.LastIndexByte(key, '-')+1] }

// sumOf is the SHA-256 in a key.
func sumOf(key string) string {
	sum := strings.TrimSuffix(contentOf(key), "-")
	return sum[strings.LastIndexByte(sum, '/')+1:]
}

// freeURL is the URL of a new content: its name, or, where another content has
// that URL, the name with the end of its hash (reference section 6.2).
func (s *Service) freeURL(ctx context.Context, tx document.Tx, name, md5 string, private bool) (string, error) {
	for _, suffix := range []string{"", md5[len(md5)-6:], md5} {
		url := urlOf(shorten(name, suffix), private)
		taken, err := s.exists(ctx, tx, match{"file_url", url})
		if err != nil || !taken {
			return url, err
		}
	}
	return urlOf(shorten(name, strings.ToLower(rand.Text())), private), nil
}
