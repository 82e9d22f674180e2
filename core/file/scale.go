package file

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"math"
)

// scale shrinks an image: each pixel becomes the average of the area it covers,
// by alpha-premultiplied colours. The source is read in strips, so that beside
// it and the result nothing large is held. The error is ctx's.
func scale(ctx context.Context, src image.Image, width, height int) (*image.RGBA, error) {
	b := src.Bounds()
	columns := weigh(b.Dx(), width)
	rows := weigh(b.Dy(), height)
	dst := image.NewRGBA(image.Rect(0, 0, width, height))
	strip := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	line := make([]float32, 4*width)  // one source row, shrunk
	total := make([]float32, 4*width) // one row of the result
	read := -1
	for y, area := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(total)
		for n, weight := range area.weights {
			if row := area.from + n; row != read {
				draw.Draw(strip, strip.Rect, src, image.Pt(b.Min.X, b.Min.Y+row), draw.Src)
				shrinkRow(line, strip.Pix, columns)
				read = row
			}
			for i, v := range line {
				total[i] += weight * v
			}
		}
		out := dst.Pix[y*dst.Stride : y*dst.Stride+4*width]
		for i, v := range total {
			out[i] = uint8(min(255, v+0.5))
		}
	}
	return dst, nil
}

func shrinkRow(dst []float32, src []uint8, columns []area) {
	for x, a := range columns {
		var sum [4]float32
		for n, weight := range a.weights {
			p := src[4*(a.from+n):]
			sum[0] += weight * float32(p[0])
			sum[1] += weight * float32(p[1])
			sum[2] += weight * float32(p[2])
			sum[3] += weight * float32(p[3])
		}
		copy(dst[4*x:4*x+4], sum[:])
	}
}

// area is the source pixels that one pixel of the result covers, and how much of
// it each makes up.
type area struct {
	from    int
	weights []float32
}

func weigh(src, dst int) []area {
	all := make([]area, dst)
	step := float64(src) / float64(dst)
	for i := range all {
		low, high := float64(i)*step, min(float64(i+1)*step, float64(src))
		a := area{from: int(low)}
		for p := a.from; p < int(math.Ceil(high)); p++ {
			covered := min(high, float64(p+1)) - max(low, float64(p))
			a.weights = append(a.weights, float32(covered/step))
		}
		all[i] = a
	}
	return all
}

// upright turns an image as its EXIF orientation says (EXIF 2.3, tag 0x0112): 3
// is half a turn, 6 and 8 lie on their side, the even ones up to 4 and 5 and 7
// are mirrored.
func upright(src *image.RGBA, turn int) *image.RGBA {
	if turn < 2 || turn > 8 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	if turn > 4 {
		dst = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			dst.SetRGBA(x, y, pixelFor(src, turn, x, y, w, h))
		}
	}
	return dst
}

// pixelFor is the source pixel shown at x, y of the upright image.
func pixelFor(src *image.RGBA, turn, x, y, w, h int) color.RGBA {
	switch turn {
	case 2:
		x = w - 1 - x
	case 3:
		x, y = w-1-x, h-1-y
	case 4:
		y = h - 1 - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, h-1-x
	case 7:
		x, y = w-1-y, h-1-x
	case 8:
		x, y = w-1-y, x
	}
	return src.RGBAAt(x, y)
}
