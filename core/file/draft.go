package file

import (
	"context"
	"crypto/md5" // the hash clients compare with; storage goes by SHA-256
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"armature/core/fault"
)

// Draft is a content that has been received and belongs to no File yet. Close
// it when the request ends: what no committed File refers to is removed.
type Draft struct {
	Size   int64  // bytes
	MD5    string // hex; content_hash of the File
	SHA256 string // hex

	s    *Service
	path string      // of the spooled file; it may have been moved away
	key  string      // of the stored bytes; empty until they are placed
	kept atomic.Bool // a committed File refers to key
}

// Receive reads a content to its end and spools it to a local file; nothing of
// it is held in memory. More than max bytes is a MaxFileSizeReachedError.
func (s *Service) Receive(ctx context.Context, r io.Reader, most int64) (*Draft, error) {
	f, err := os.CreateTemp(s.spool, "draft-*")
	if err != nil {
		return nil, err
	}
	d := &Draft{s: s, path: f.Name()}
	if err := errors.Join(d.fill(ctx, f, r, most), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(d.path))
	}
	return d, nil
}

func (d *Draft) fill(ctx context.Context, f *os.File, r io.Reader, most int64) (err error) {
	m, sha := md5.New(), sha256.New()
	// One byte more than allowed tells a file that is too large from one that fits.
	limited := io.LimitReader(reader{ctx, r}, most+1)
	if d.Size, err = io.Copy(io.MultiWriter(f, turns{d.s.hashing, io.MultiWriter(m, sha)}), limited); err != nil {
		return err
	}
	if d.Size > most {
		return tooLarge(most)
	}
	d.MD5, d.SHA256 = hex.EncodeToString(m.Sum(nil)), hex.EncodeToString(sha.Sum(nil))
	return nil
}

func tooLarge(most int64) error {
	return fault.Invalid("MaxFileSizeReachedError", "File size exceeded the maximum allowed size of %.1f MB", float64(most)/(1<<20))
}

// turns is a writer that works only while it has a turn: 16 uploads that hash at
// will are work for every core, and Go's scheduler looks at the network seldom
// while there is other work, so that somebody who reads waits for tens of
// milliseconds.
type turns struct {
	turn chan struct{}
	io.Writer
}

func (t turns) Write(p []byte) (int, error) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	return t.Writer.Write(p)
}

// reader stops reading when the request is over.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Open reads the spooled content.
func (d *Draft) Open() (*os.File, error) { return os.Open(d.path) }

// place puts the bytes where a File can refer to them. The key is new, so
// nothing but this draft decides whether the bytes stay: content that is stored
// already is shared by documents referring to its key, never by two drafts
// meeting at one.
func (d *Draft) place(ctx context.Context) error {
	var nonce [8]byte
	rand.Read(nonce[:]) // never fails; see crypto/rand
	key := blobs + d.SHA256[:2] + "/" + d.SHA256 + "-" + hex.EncodeToString(nonce[:])
	if err := d.s.storage.Put(ctx, key, d.path); err != nil {
		return fault.Unstored(err, "The file could not be stored")
	}
	d.key = key
	return nil
}

// Close removes the spooled file, and the stored bytes unless a committed File
// refers to them.
func (d *Draft) Close() {
	if err := os.Remove(d.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.s.log.Warn("remove a spooled file", "error", err)
	}
	if d.key != "" && !d.kept.Load() {
		d.s.discard(d.key)
	}
}
