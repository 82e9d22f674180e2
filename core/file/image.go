package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"armature/core/account"
	"armature/core/fault"
)

// Bounds of an image to be shrunk.
const (
	// maxImage is the most bytes that decoding one image may take: what it says of
	// its size is checked before any pixel is read, so a few kilobytes that claim
	// to be a wall of pixels cost nothing.
	maxImage = 256 << 20

	defaultWidth  = 1024 // where the client asks to optimize and names no bounds
	defaultHeight = 768
	jpegQuality   = 85
)

// Shrinker makes images smaller. It is shared by everybody whose memory it has
// to bound.
type Shrinker struct {
	slots chan struct{}
}

// NewShrinker makes a Shrinker that holds n images in memory at once.
func NewShrinker(n int) *Shrinker { return &Shrinker{make(chan struct{}, n)} }

// bounds are what an image is to fit into; 0: the default.
type bounds struct{ width, height int }

// shrink returns a draft of the image in d that fits into the bounds, or d
// itself where it is no PNG or JPEG, or nothing would be gained. A ValidationError
// for an image that is broken or too large to be decoded.
func (s *Service) shrink(ctx context.Context, d *Draft, b bounds) (*Draft, error) {
	f, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := readImageHead(f)
	if err != nil || head.format == "" {
		return d, err
	}
	select {
	case s.shrinker.slots <- struct{}{}:
		defer func() { <-s.shrinker.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	memory := account.From(ctx)
	if err := memory.Take(ctx, account.Image, head.memory(b)); err != nil {
		return nil, err
	}
	defer memory.Give(account.Image, head.memory(b))
	small, err := head.shrunk(ctx, f, b)
	if err != nil {
		return nil, err
	}
	made, err := s.Receive(ctx, bytes.NewReader(small), int64(len(small)))
	if err != nil {
		return nil, err
	}
	if made.Size >= d.Size && head.fits(b) {
		made.Close()
		return d, nil
	}
	d.Close()
	return made, nil
}

// imageHead is what an image says of itself before its pixels.
type imageHead struct {
	format        string // "png" or "jpeg"; empty: neither
	width, height int    // pixels, as stored
	turn          int    // EXIF orientation, 1 to 8
	perPixel      int64  // bytes that decoding takes
}

func readImageHead(f *os.File) (imageHead, error) {
	var magic [8]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return imageHead{}, nil // too short to be an image
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return imageHead{}, err
	}
	h := imageHead{turn: 1}
	var config image.Config
	var err error
	switch {
	case string(magic[:]) == "\x89PNG\r\n\x1a\n":
		h.format, h.perPixel = "png", 16 // 16 bits a channel, and as much again for interlaced rows
		config, err = png.DecodeConfig(bufio.NewReader(f))
	case magic[0] == 0xff && magic[1] == 0xd8:
		scan := scanJPEG(bufio.NewReader(f))
		h.format, h.turn, h.perPixel = "jpeg", scan.turn, 4
		if scan.progressive {
			h.perPixel = 16 // all coefficients are kept until the last scan
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return h, err
		}
		config, err = jpeg.DecodeConfig(bufio.NewReader(f))
	default:
		return imageHead{}, nil
	}
	if err != nil {
		return h, badImage(err)
	}
	h.width, h.height = config.Width, config.Height
	if h.width <= 0 || h.height <= 0 || int64(h.width) > maxImage/h.perPixel/int64(h.height) {
		return h, fault.Invalid("", "The image has too many pixels to be resized: %d x %d", h.width, h.height)
	}
	_, err = f.Seek(0, io.SeekStart)
	return h, err
}

func badImage(err error) error {
	return fault.Wrap(fault.Validation, "", err, "The image cannot be read")
}

// fits reports whether the image is within the bounds as it is.
func (h imageHead) fits(b bounds) bool {
	w, hgt := h.target(b)
	return w == h.width && hgt == h.height
}

// target is the size the stored pixels shrink to; nothing grows.
func (h imageHead) target(b bounds) (width, height int) {
	if b.width <= 0 {
		b.width = defaultWidth
	}
	if b.height <= 0 {
		b.height = defaultHeight
	}
	if h.turn > 4 { // it will lie on its side
		b.width, b.height = b.height, b.width
	}
	scale := min(1, float64(b.width)/float64(h.width), float64(b.height)/float64(h.height))
	return max(1, int(float64(h.width)*scale+0.5)), max(1, int(float64(h.height)*scale+0.5))
}

// memory is how many bytes shrinking takes: the pixels as they are decoded, the small
// ones twice, before and after they are turned, and what they are encoded into.
func (h imageHead) memory(b bounds) int64 {
	width, height := h.target(b)
	return h.perPixel*int64(h.width)*int64(h.height) + 16*int64(width)*int64(height)
}

// wanted reads for a decoder as long as somebody waits for the image.
type wanted struct {
	ctx context.Context
	r   io.Reader
}

func (w wanted) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// shrunk decodes, scales, turns upright and encodes again. What is kept of the
// original is its pixels: no position, no camera, no comment.
func (h imageHead) shrunk(ctx context.Context, f *os.File, b bounds) ([]byte, error) {
	decode := jpeg.Decode
	if h.format == "png" {
		decode = png.Decode
	}
	src, err := decode(bufio.NewReader(wanted{ctx, f}))
	if gone := ctx.Err(); gone != nil {
		return nil, gone
	}
	if err != nil {
		return nil, badImage(err)
	}
	if src.Bounds().Dx() != h.width || src.Bounds().Dy() != h.height {
		return nil, badImage(errors.New("the size changed while it was read"))
	}
	width, height := h.target(b)
	small, err := scale(ctx, src, width, height)
	if err != nil {
		return nil, err
	}
	small = upright(small, h.turn)
	var out bytes.Buffer
	if h.format == "png" {
		err = png.Encode(&out, small)
	} else {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: jpegQuality})
	}
	return out.Bytes(), err
}
