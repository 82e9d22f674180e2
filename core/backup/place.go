package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"armature/core/file"
)

// Suffix ends the name of an archive.
const Suffix = ".armature"

// stamp is how a name tells when its archive was made.
const stamp = "20060102T150405Z"

// Name is what an archive is called.
func Name(site string, made time.Time) string {
	return site + "-" + made.UTC().Format(stamp) + Suffix
}

// Place is where the archives of one site are kept: a folder, or a part of a
// bucket. What else is there is never touched.
type Place struct {
	Storage file.Storage
	Folder  string // of the site in it: one site's only, whatever its name was before
	Site    string // its name
}

// Kept is an archive that is kept.
type Kept struct {
	Key  string // in the storage
	Made time.Time
	Size int64 // bytes
}

// List lists the archives of the site, oldest first.
func (p Place) List(ctx context.Context) (list []Kept, err error) {
	begin := p.Folder + "/" + p.Site + "-"
	err = p.Storage.List(ctx, begin, func(o file.Object) error {
		rest, ours := strings.CutSuffix(strings.TrimPrefix(o.Key, begin), Suffix)
		made, err := time.Parse(stamp, rest)
		if ours && err == nil {
			list = append(list, Kept{o.Key, made, o.Size})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was kept yet
	}
	slices.SortFunc(list, func(a, b Kept) int { return cmp.Or(a.Made.Compare(b.Made), strings.Compare(a.Key, b.Key)) })
	return list, err
}

// Keep puts the archive in a file there, and reads it back. It never takes the
// place of another. The file may be moved away.
func (p Place) Keep(ctx context.Context, path string, made time.Time) (k Kept, err error) {
	k = Kept{Key: p.Folder + "/" + Name(p.Site, made), Made: made}
	there, err := p.Storage.Open(ctx, k.Key, 0)
	if err == nil {
		return k, errors.Join(fmt.Errorf("%s is there already and is not overwritten", k.Key), there.Close())
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	f, err := os.Open(path)
	if err != nil {
		return k, err
	}
	want, size, err := digest(ctx, f)
	if err != nil {
		return k, err
	}
	k.Size = size
	if err := p.Storage.Put(ctx, k.Key, path); err != nil {
		return k, fmt.Errorf("keep %s: %w", k.Key, err)
	}
	kept, err := p.Storage.Open(ctx, k.Key, 0)
	if err != nil {
		return k, fmt.Errorf("read %s back: %w", k.Key, err)
	}
	got, n, err := digest(ctx, kept)
	if err == nil && (n != size || !bytes.Equal(got, want)) {
		err = errors.New("it is not what was written")
	}
	if err != nil {
		return k, fmt.Errorf("read %s back: %w", k.Key, err)
	}
	return k, nil
}

func digest(ctx context.Context, r io.ReadCloser) (sum []byte, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, watch(ctx, r, "", 0, nil))
	return h.Sum(nil), n, errors.Join(err, r.Close())
}

// Prune deletes the archives that a policy does not keep.
func (p Place) Prune(ctx context.Context, keep Policy) (gone []Kept, err error) {
	list, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	made := make([]time.Time, len(list))
	for i, k := range list {
		made[i] = k.Made
	}
	for i, stays := range keep.Stay(made) {
		if stays {
			continue
		}
		if err := p.Storage.Delete(ctx, list[i].Key); err != nil {
			return gone, fmt.Errorf("delete %s: %w", list[i].Key, err)
		}
		gone = append(gone, list[i])
	}
	return gone, nil
}
