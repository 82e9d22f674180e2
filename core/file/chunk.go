package file

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/identity"
)

// Bounds of uploads in chunks.
const (
	maxChunks  = 10_000
	unfinished = 4              // how many files of the largest size a user may have half uploaded
	chunkLife  = 24 * time.Hour // after this an unfinished upload is forgotten
)

// chunk is one piece of an upload. Pieces may come in any order and again; the
// one with the last index finishes the upload and is answered with the File.
type chunk struct {
	index, count int64
	offset, size int64 // bytes
	total        int64 // bytes of the whole file; 0: not said
	user, id     string
}

// chunkOf reads the fields of section 6.1; ok is false for an upload in one
// piece. An upload is known by its user and by all that is said of the file: a
// client that uploads two of the same name and size at once tells them apart by
// the field upload_id. Guests are all the same user, so theirs need one.
func chunkOf(f *form, caller *identity.Caller, most int64) (c chunk, ok bool, err error) {
	for field, to := range map[string]*int64{
		"chunk_index": &c.index, "total_chunk_count": &c.count,
		"chunk_byte_offset": &c.offset, "total_file_size": &c.total,
	} {
		if *to, err = f.number(field); err != nil {
			return c, false, err
		}
	}
	if c.count <= 1 {
		return c, false, nil
	}
	if c.size = f.draft.Size; c.total > most {
		return c, true, tooLarge(most)
	}
	end := c.total
	if end == 0 {
		end = most
	}
	switch {
	case c.count > maxChunks:
		return c, true, fault.Invalid("DataError", "A file has at most %d chunks", maxChunks)
	case c.index >= c.count:
		return c, true, fault.Invalid("DataError", "chunk_index must be below total_chunk_count")
	case c.offset > end || c.size > end-c.offset: // no sum that could overflow
		return c, true, fault.Invalid("DataError", "The chunk reaches beyond the end of the file")
	case c.size == 0:
		return c, true, fault.Invalid("DataError", "The chunk is empty")
	case caller.IsGuest() && len(f.fields["upload_id"]) < 16:
		return c, true, fault.Invalid("DataError", "A Guest's upload in chunks needs an upload_id of 16 characters or more")
	}
	in := f.info()
	c.user = digest(caller.User)[:16]
	c.id = digest(f.fields["upload_id"], CleanName(in.Name), in.DocType, in.DocName, in.Field, in.Folder,
		strconv.FormatBool(in.Private), strconv.FormatInt(c.total, 10), strconv.FormatInt(c.count, 10))[:32]
	return c, true, nil
}

// digest is a hash of several texts; where one ends is part of it.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c chunk) last() bool     { return c.index == c.count-1 }
func (c chunk) prefix() string { return parts + c.user + "-" + c.id + "." }
func (c chunk) key() string    { return fmt.Sprintf("%s%06d.%016d", c.prefix(), c.index, c.offset) }

// keep stores a piece that is not the last.
func (s *Service) keep(ctx context.Context, c chunk, d *Draft, most int64) error {
	held := c.size
	err := s.storage.List(ctx, parts+c.user+"-", func(o Object) error {
		switch {
		case s.now().Sub(o.Modified) > chunkLife:
			return s.storage.Delete(ctx, o.Key)
		case o.Key != c.key():
			held += o.Size
		}
		return nil
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, "", err, "The file storage does not answer")
	}
	if held > unfinished*most {
		return fault.New(fault.TooManyRequests, "", "Too many uploads are unfinished")
	}
	if err := s.storage.Put(ctx, c.key(), d.path); err != nil {
		return fault.Unstored(err, "The file could not be stored")
	}
	return nil
}

// piece is a stored chunk.
type piece struct {
	key           string
	index, offset int64
	size          int64
}

func (s *Service) pieces(ctx context.Context, c chunk) ([]piece, error) {
	var all []piece
	err := s.storage.List(ctx, c.prefix(), func(o Object) error {
		p := piece{key: o.Key, size: o.Size}
		if _, err := fmt.Sscanf(strings.TrimPrefix(o.Key, c.prefix()), "%d.%d", &p.index, &p.offset); err != nil {
			return err
		}
		all = append(all, p)
		return nil
	})
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.offset, b.offset))
	})
	return all, err
}

// join puts the pieces and the last one, which is in d, together. Somebody who
// finishes the same upload at the same time waits, and finds no pieces then. done
// removes the pieces where keep is false and lets the next one in.
//
// A DataError names what is missing; the upload can still be completed then.
// Pieces that overlap or leave a gap are thrown away.
func (s *Service) join(ctx context.Context, c chunk, d *Draft, most int64) (whole *Draft, done func(keep bool), err error) {
	unlock := s.finishing.lock(c.prefix())
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	all, err := s.pieces(ctx, c)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Unavailable, "", err, "The file storage does not answer")
	}
	for i := range c.count - 1 {
		if !slices.ContainsFunc(all, func(p piece) bool { return p.index == i }) {
			return nil, nil, fault.Invalid("DataError", "Chunk %d of %d is missing", i, c.count)
		}
	}
	if err := c.contiguous(all); err != nil {
		s.forget(ctx, all)
		return nil, nil, err
	}
	stream := &stream{ctx: ctx, storage: s.storage, pieces: all, last: d}
	defer stream.close()
	if whole, err = s.Receive(ctx, stream, most); err != nil {
		return nil, nil, err
	}
	return whole, func(keep bool) {
		if !keep {
			s.forget(context.WithoutCancel(ctx), all)
		}
		unlock()
	}, nil
}

// contiguous refuses pieces that do not follow each other byte by byte.
func (c chunk) contiguous(all []piece) error {
	at := int64(0)
	for _, p := range append(slices.Clone(all), piece{index: c.index, offset: c.offset, size: c.size}) {
		if p.offset != at {
			return fault.Invalid("DataError", "Chunk %d begins at byte %d and not at %d; upload the file again", p.index, p.offset, at)
		}
		at += p.size
	}
	if c.total > 0 && at != c.total {
		return fault.Invalid("DataError", "The chunks have %d bytes and not %d; upload the file again", at, c.total)
	}
	return nil
}

func (s *Service) forget(ctx context.Context, all []piece) {
	for _, p := range all {
		if err := s.storage.Delete(ctx, p.key); err != nil {
			s.log.Warn("remove a chunk; the sweep will try again", "key", p.key, "error", err)
		}
	}
}

// stream reads pieces one after the other, and the last one from its draft.
type stream struct {
	ctx     context.Context // of the one request it serves
	storage Storage
	pieces  []piece
	last    *Draft // nil once it is being read
	now     io.ReadCloser
}

func (r *stream) Read(p []byte) (int, error) {
	for {
		if r.now == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.now.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		r.close()
		if n > 0 {
			return n, nil
		}
	}
}

func (r *stream) next() (err error) {
	switch {
	case len(r.pieces) > 0:
		r.now, err = r.storage.Open(r.ctx, r.pieces[0].key, 0)
		r.pieces = r.pieces[1:]
	case r.last != nil:
		r.now, err = r.last.Open()
		r.last = nil
	default:
		return io.EOF
	}
	return err
}

func (r *stream) close() {
	if r.now != nil {
		r.now.Close() // it was only read
		r.now = nil
	}
}
