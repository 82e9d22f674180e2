package otp

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// Picture is a QR code as the dark squares of an SVG: a page shows it without asking
// the server for another file, which would have to hold the secret.
type Picture struct {
	Size int    // squares on a side, the quiet margin included
	Path string // of an SVG: one subpath for each run of dark squares
}

// quiet is the margin that a reader needs around the squares (ISO/IEC 18004 section
// 5.3.8).
const quiet = 4

// Draw makes the QR code of a text. Errors: a text too long for one.
func Draw(text string) (Picture, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return Picture{}, fmt.Errorf("draw a QR code: %w", err)
	}
	side := code.Bounds().Dx()
	dark := func(x, y int) bool { return code.At(x, y) == color.Black }
	var path strings.Builder
	for y := range side {
		for x := 0; x < side; x++ {
			from := x
			for x < side && dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return Picture{Size: side + 2*quiet, Path: path.String()}, nil
}
