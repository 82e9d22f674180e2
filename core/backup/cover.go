package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"armature/core/fault"
)

// Cover is what an archive says of itself to everybody. Nothing authenticates it
// but what is sealed, which says the same.
type Cover struct {
	Header
	Size   int64  `json:"size"`   // of what is sealed, in bytes
	SHA256 string `json:"sha256"` // of what is sealed
}

// Names and places of the two entries of an archive. The first has a fixed size,
// since what it says is known only when the second has been written.
const (
	coverEntry  = headerEntry
	sealedEntry = "site.tar.gz.age"

	block     = 512 // of tar
	coverSize = 4096
	sealedAt  = block + coverSize + block
	endSize   = 2 * block
)

// padding is how many bytes fill the last block of an entry.
func padding(size int64) int64 { return (block - size%block) % block }

// writeCovered writes an archive around what seal writes.
func writeCovered(f io.WriteSeeker, h Header, seal func(io.Writer) error) error {
	if _, err := f.Seek(sealedAt, io.SeekStart); err != nil {
		return err
	}
	sum, n := sha256.New(), &counter{}
	if err := seal(io.MultiWriter(f, sum, n)); err != nil {
		return err
	}
	if _, err := f.Write(make([]byte, padding(n.n)+endSize)); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	text, err := json.MarshalIndent(Cover{h, n.n, hex.EncodeToString(sum.Sum(nil))}, "", " ")
	if err != nil {
		return err
	}
	if len(text) >= coverSize {
		return fmt.Errorf("the cover of the archive has %d bytes", len(text))
	}
	text = append(text, bytes.Repeat([]byte{' '}, coverSize-len(text)-1)...)
	w := tar.NewWriter(f) // never closed: the end of the file has been written
	if err := w.WriteHeader(outer(coverEntry, coverSize, h.Made)); err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	return w.WriteHeader(outer(sealedEntry, n.n, h.Made))
}

// outer is the head of an entry, which takes one block whatever its size.
func outer(name string, size int64, made time.Time) *tar.Header {
	return &tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: made, Format: tar.FormatGNU}
}

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// Inspect reads what an archive says of itself without a passphrase, and compares
// its bytes with it. A file that is none, is cut or was changed is refused with
// what is wrong, and so is a form that only newer programs read. Of an archive of
// format 1 nothing but that is known.
func Inspect(ctx context.Context, path string, tell Progress) (*Cover, error) {
	f, sealed, cover, err := openCovered(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if cover.Format == 1 {
		return cover, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, watch(ctx, sealed, "check", cover.Size, tell)); err != nil {
		return nil, err
	}
	return cover, cover.compare(sum.Sum(nil))
}

func (c *Cover) compare(sum []byte) error {
	if c.SHA256 != hex.EncodeToString(sum) {
		return damaged(errors.New("its SHA-256 is not the one on its cover"))
	}
	return nil
}

// openCovered opens an archive and finds what is sealed in it.
func openCovered(path string) (f *os.File, sealed io.Reader, c *Cover, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, nil, fault.Invalid("", "%s is no file", path)
	}
	if f, err = os.Open(path); err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // only read
		}
	}()
	head := make([]byte, sealedAt)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil, nil, err
	}
	head = head[:n]
	switch {
	case n == 0:
		return nil, nil, nil, fault.Invalid("", "%s is empty", path)
	case begins(head, ageIntro):
		return f, io.NewSectionReader(f, 0, info.Size()), &Cover{Header: Header{Format: 1}}, bare(path, string(head))
	case !begins(head, coverEntry+"\x00"):
		return nil, nil, nil, fault.Invalid("", "%s is no archive of a site", path)
	case n < sealedAt:
		return nil, nil, nil, cut(path, "there is not even the whole of its head")
	}
	if c, err = readCover(path, head); err != nil {
		return nil, nil, nil, err
	}
	if err := c.fits(f, path, info.Size()); err != nil {
		return nil, nil, nil, err
	}
	return f, io.NewSectionReader(f, sealedAt, c.Size), c, nil
}

// begins reports whether a file begins with a text, or ends within it.
func begins(head []byte, text string) bool {
	n := min(len(head), len(text))
	return string(head[:n]) == text[:n]
}

func cut(path, how string) error { return fault.Invalid("", "%s is cut: %s", path, how) }

// readCover reads the two heads and what is between them.
func readCover(path string, head []byte) (*Cover, error) {
	r := tar.NewReader(bytes.NewReader(head))
	first, err := r.Next()
	if err != nil || first.Name != coverEntry || first.Size != coverSize {
		return nil, fault.Wrap(fault.Validation, "", err, "%s is no archive of a site", path)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, damaged(err)
	}
	c := &Cover{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, damaged(fmt.Errorf("its cover: %w", err))
	}
	if c.Format > format || c.Format < 2 {
		return nil, unknownForm(c.Header)
	}
	second, err := r.Next()
	if err != nil || second.Name != sealedEntry || second.Size != c.Size {
		return nil, damaged(errors.New("the entry after its cover is not the one that it tells of"))
	}
	return c, nil
}

func unknownForm(h Header) error {
	return fault.Invalid("", "The archive has format %d, made by version %s; this version reads formats 1 to %d", h.Format, h.Version, format)
}

// fits compares the size of the file with the cover's, and reads what is after the
// sealed part, which is nothing but zeros.
func (c *Cover) fits(f *os.File, path string, size int64) error {
	after := padding(c.Size) + endSize
	switch want := sealedAt + c.Size + after; {
	case size < want:
		return cut(path, fmt.Sprintf("%d of %d bytes are there", size, want))
	case size > want:
		return damaged(fmt.Errorf("%d bytes too many", size-want))
	}
	end := make([]byte, after)
	if _, err := f.ReadAt(end, size-after); err != nil {
		return err
	}
	if len(bytes.Trim(end, "\x00")) > 0 {
		return damaged(errors.New("there is something after its end"))
	}
	return nil
}

// ageIntro begins what is sealed.
const ageIntro = "age-encryption.org/v1\n"

// bare says whether a file that begins as age's do can be an archive of format 1.
func bare(path, head string) error {
	const stanza, end = "-> scrypt ", "\n--- "
	rest, whole := strings.CutPrefix(head, ageIntro)
	switch {
	case !whole, !strings.Contains(rest, end):
		return cut(path, "there is not even the whole of its head")
	case !strings.HasPrefix(rest, stanza):
		return fault.Invalid("", "%s is encrypted, but not under a passphrase: it is no archive of a site", path)
	}
	return nil
}
