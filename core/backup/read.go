package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// maxSmall is how large the entries may be that are held in memory.
const maxSmall = 64 << 20

// Archive is one that was found whole.
type Archive struct {
	Header   Header
	Config   []byte
	Key      []byte
	Manifest Manifest

	path  string
	under passphrase
}

// Open reads a whole archive and compares everything in it with its manifest. An
// archive that is damaged, cut or made by a newer version is refused with what is
// wrong; another passphrase is ErrPassphrase.
func Open(ctx context.Context, file, phrase string, tell Progress) (*Archive, error) {
	a := &Archive{path: file, under: passphrase{text: phrase}}
	c := &checker{a: a, tallies: map[string]*tally{}}
	cover, err := a.each(ctx, "check", tell, c.entry)
	if err != nil {
		return nil, err
	}
	if !c.whole {
		return nil, damaged(errors.New("its manifest is missing"))
	}
	if cover.Format != 1 && cover.Header != a.Header {
		return nil, damaged(errors.New("its cover is that of another archive"))
	}
	return a, c.compare()
}

// each hands every entry to fn, and compares what was sealed with the cover.
func (a *Archive) each(ctx context.Context, stage string, tell Progress, fn func(name string, content io.Reader) error) (*Cover, error) {
	f, sealed, cover, err := openCovered(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	in := io.TeeReader(watch(ctx, sealed, stage, cover.Size, tell), sum)
	err = unpack(ctx, bufio.NewReaderSize(in, 1<<16), &a.under, func(h *tar.Header, content io.Reader) error {
		if err := fn(h.Name, content); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		return nil
	})
	if err == nil && cover.Format != 1 {
		err = cover.compare(sum.Sum(nil))
	}
	return cover, err
}

// checker looks at every entry and keeps what is small.
type checker struct {
	a       *Archive
	tallies map[string]*tally
	order   []string
	whole   bool
}

func (c *checker) tally(name string) *tally {
	t := c.tallies[name]
	if t == nil {
		t = newTally(name)
		c.tallies[name] = t
		c.order = append(c.order, name)
	}
	return t
}

func (c *checker) entry(name string, content io.Reader) error {
	if c.whole {
		return damaged(errors.New("it comes after the manifest"))
	}
	if c.a.Header.Format == 0 && name != headerEntry {
		return damaged(errors.New("the archive begins with something else than its header"))
	}
	switch {
	case strings.HasPrefix(name, documentsPrefix):
		return readRows(content, func(head *tableHead) error { c.tally(head.Table); return nil },
			func(head *tableHead, line []byte) error { c.tally(head.Table).add(line); return nil })
	case name == countersEntry:
		return eachLine(content, func(line []byte) error { c.tally(countersPart).add(line); return nil })
	case strings.HasPrefix(name, filesPrefix):
		return c.file(filesPart, name[len(filesPrefix):], content)
	case strings.HasPrefix(name, pluginsPrefix):
		return c.file(pluginsPart, name[len(pluginsPrefix):], content)
	case strings.HasPrefix(name, frontendPrefix):
		return c.file(frontendPart, name[len(frontendPrefix):], content)
	}
	text, err := io.ReadAll(io.LimitReader(content, maxSmall))
	if err != nil {
		return damaged(err)
	}
	switch name {
	case headerEntry:
		err = json.Unmarshal(text, &c.a.Header)
		if h := c.a.Header; err == nil && (h.Format < 1 || h.Format > format) {
			return unknownForm(h)
		}
	case configEntry:
		c.a.Config = text
	case keyEntry:
		c.a.Key, err = hex.DecodeString(strings.TrimSpace(string(text)))
	case manifestEntry:
		c.whole = true
		err = json.Unmarshal(text, &c.a.Manifest)
	default:
		err = errors.New("nobody knows what it is")
	}
	if err != nil {
		return damaged(err)
	}
	return nil
}

func (c *checker) file(part, name string, content io.Reader) error {
	if !local(name) {
		return damaged(errors.New("the name leads out of its folder"))
	}
	sum := sha256.New()
	size, err := io.Copy(sum, content)
	if err != nil {
		return damaged(err)
	}
	c.tally(part).file(name, size, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// local reports whether a slashed path stays where it is put.
func local(name string) bool {
	return name != "" && path.Clean(name) == name && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../") &&
		!strings.ContainsAny(name, "\\:\x00")
}

// compare compares what was found with what the manifest says.
func (c *checker) compare() error {
	said := map[string]bool{}
	for _, want := range c.a.Manifest.Parts {
		said[want.Name] = true
		if got := c.tally(want.Name).done(); got != want {
			return damaged(fmt.Errorf("%s has %d records, the manifest says %d, or they differ", want.Name, got.Records, want.Records))
		}
	}
	for name := range c.tallies {
		if !said[name] {
			return damaged(fmt.Errorf("the manifest does not know %s", name))
		}
	}
	return nil
}

// readRows reads an entry with rows.
func readRows(content io.Reader, begin func(*tableHead) error, row func(head *tableHead, line []byte) error) error {
	var head *tableHead
	return eachLine(content, func(line []byte) error {
		if head != nil {
			return row(head, line)
		}
		head = &tableHead{}
		if err := json.Unmarshal(line, head); err != nil || head.Table == "" {
			return damaged(fmt.Errorf("no table: %w", err))
		}
		return begin(head)
	})
}

// eachLine hands every line to fn, with its end; a line may be long.
func eachLine(content io.Reader, fn func(line []byte) error) error {
	r := bufio.NewReaderSize(content, 1<<16)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long := bytes.Clone(line)
			var rest []byte
			rest, err = r.ReadBytes('\n')
			line = append(long, rest...)
		}
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}
