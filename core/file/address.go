package file

import (
	"context"
	"crypto/rand"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// sharedKey finds bytes that are stored already and equal those of a draft, by
// the key of some File; empty when there are none. The MD5 finds it, the SHA-256
// in the key proves it. Bytes are all that Files have in common: nobody learns
// from their own File whose else they are.
func (s *Service) sharedKey(ctx context.Context, tx document.Tx, d *Draft) (key string, err error) {
	dt, err := s.doctype()
	if err != nil {
		return "", err
	}
	column := doctype.Operand{Field: dt.Field("storage_key")}
	err = tx.Rows(ctx, &doctype.Select{
		DocType: dt, Length: 1, Columns: []doctype.Column{{Operand: column, Key: "storage_key"}},
		Where: doctype.AllOf{
			equal(dt, match{"content_hash", d.MD5}),
			doctype.Compare{Operand: column, Op: query.Like, Value: blobs + d.SHA256[:2] + "/" + d.SHA256 + "-%"},
		},
	}, func(values []any) error {
		key, _ = values[0].(string)
		return nil
	})
	return key, err
}

// sumOf is the SHA-256 in a key.
func sumOf(key string) string {
	sum := key[:strings.LastIndexByte(key, '-')]
	return sum[strings.LastIndexByte(sum, '/')+1:]
}

// freeURL is the address of a new File, which no other File has. A public one is
// its name or, where that is taken, the name with the end of its hash (reference
// section 6.2): what is taken there, everybody may see. A private one always has
// something random in it, so that it never says what others have called theirs.
func (s *Service) freeURL(ctx context.Context, tx document.Tx, name, md5 string, private bool) (string, error) {
	random := func() string { return "-" + strings.ToLower(rand.Text()[:10]) }
	suffixes := []string{"", md5[len(md5)-6:], md5, random()}
	if private {
		suffixes = []string{random(), random()}
	}
	for _, suffix := range suffixes {
		url := urlOf(shorten(name, suffix), private)
		taken, err := s.exists(ctx, tx, match{"file_url", url})
		if err != nil || !taken {
			return url, err
		}
	}
	return urlOf(shorten(name, "-"+strings.ToLower(rand.Text())), private), nil
}
