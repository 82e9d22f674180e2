package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"filippo.io/age"

	"armature/core/fault"
)

// format is the version of the archive's form that this package writes. It reads
// format 1 as well, which had no cover.
const format = 2

// Names of entries.
const (
	headerEntry   = "armature.json"
	configEntry   = "config.json"
	keyEntry      = "key"
	countersEntry = "counters.ndjson"
	manifestEntry = "manifest.json"

	documentsPrefix = "documents/"
	filesPrefix     = "files/"
	pluginsPrefix   = "plugins/"
	frontendPrefix  = "frontend/"
)

// Header is what an archive says of itself.
type Header struct {
	Format  int       `json:"format"`
	Site    string    `json:"site"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"` // of the server that made it

	// DataFormat and DataReader are those of the site's database (core/migration);
	// 0: from before formats had numbers.
	DataFormat int64 `json:"data_format,omitempty"`
	DataReader int64 `json:"data_reader,omitempty"`

	// Lineage is what the site shares with all copies of it (migration.State).
	Lineage string `json:"origin,omitempty"`
}

// Manifest is what an archive holds.
type Manifest struct {
	Parts []Part   `json:"parts"`
	Gone  []string `json:"gone,omitempty"` // keys of files that were deleted while it was made
}

// Part is one table, or all counters, files, plugins or published frontends.
type Part struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes,omitempty"`
	SHA256  string `json:"sha256"`
}

// Names of the parts that are no tables.
const (
	countersPart = "counters"
	filesPart    = "files"
	pluginsPart  = "plugins"
	frontendPart = "frontend"
)

// Records is how many rows of documents there are.
func (m *Manifest) Records() (n int64) {
	for _, p := range m.Parts {
		if p.Name != countersPart && p.Name != filesPart && p.Name != pluginsPart && p.Name != frontendPart {
			n += p.Records
		}
	}
	return n
}

// Files is how many files there are, and how many bytes they have.
func (m *Manifest) Files() (n, bytes int64) {
	for _, p := range m.Parts {
		if p.Name == filesPart {
			return p.Records, p.Bytes
		}
	}
	return 0, 0
}

// ErrPassphrase is returned for an archive that the passphrase does not open.
var ErrPassphrase = fault.New(fault.Validation, "", "The passphrase is not the one of this archive")

// damaged is the error of an archive that is not what was written.
func damaged(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err // nobody has read on
	}
	return fault.Wrap(fault.Validation, "", err, "The archive is damaged or not whole: %v", err)
}

// packer writes an archive.
type packer struct {
	tar    *tar.Writer
	zip    *gzip.Writer
	sealed io.WriteCloser
	made   time.Time
}

// newPacker begins what is sealed in an archive.
func newPacker(ctx context.Context, w io.Writer, o Options, made time.Time) (*packer, error) {
	recipient, err := age.NewScryptRecipient(o.Passphrase)
	if err != nil {
		return nil, fault.Invalid("", "A backup needs a passphrase")
	}
	if o.Work > 0 {
		recipient.SetWorkFactor(o.Work)
	}
	var sealed io.WriteCloser
	err = stretch(ctx, o.Work, func() error {
		sealed, err = age.Encrypt(w, recipient)
		return err
	})
	if err != nil {
		return nil, err
	}
	zip := gzip.NewWriter(sealed)
	plain := &watchedWriter{ctx: ctx, w: zip, stage: "write", tell: o.Tell}
	return &packer{tar: tar.NewWriter(plain), zip: zip, sealed: sealed, made: made}, nil
}

func (p *packer) entry(name string, size int64) error {
	return p.tar.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: p.made, Format: tar.FormatPAX})
}

func (p *packer) put(name string, content []byte) error {
	if err := p.entry(name, int64(len(content))); err != nil {
		return err
	}
	_, err := p.tar.Write(content)
	return err
}

func (p *packer) putJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return p.put(name, append(text, '\n'))
}

// close writes the end of everything: without it the archive is refused.
func (p *packer) close() error {
	return errors.Join(p.tar.Close(), p.zip.Close(), p.sealed.Close())
}

// unpack hands every entry of an archive to fn, which reads what it wants of it.
func unpack(ctx context.Context, r io.Reader, under *passphrase, fn func(h *tar.Header, content io.Reader) error) error {
	identity, err := under.identity(ctx)
	if err != nil {
		return fault.Invalid("", "The archive needs its passphrase")
	}
	plain, err := age.Decrypt(r, identity)
	var wrong *age.NoIdentityMatchError
	var short *fault.Error
	switch {
	case errors.As(err, &short), ctx.Err() != nil: // it was not read
		return err
	case errors.As(err, &wrong):
		return ErrPassphrase
	case err != nil:
		return damaged(err)
	}
	zip, err := gzip.NewReader(plain)
	if err != nil {
		return damaged(err)
	}
	files := tar.NewReader(zip)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			// To the end of each layer: what comes last says that nothing is missing.
			if _, err := io.Copy(io.Discard, zip); err != nil {
				return damaged(err)
			}
			if n, err := io.Copy(io.Discard, plain); err != nil || n > 0 {
				return damaged(errors.Join(err, fmt.Errorf("%d bytes too many", n)))
			}
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if h.Typeflag != tar.TypeReg {
			return damaged(fmt.Errorf("%s is no file", h.Name))
		}
		if err := fn(h, files); err != nil {
			return err
		}
	}
}
