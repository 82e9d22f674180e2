package file_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"armature/core/account"
)

// picture has a red left and a blue right half, and a green corner at the top
// left.
func picture(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{200, uint8(x ^ y), 0, 255}
			if x >= w/2 {
				c = color.RGBA{0, uint8(x ^ y), 200, 255}
			}
			if x < w/4 && y < h/4 {
				c = color.RGBA{0, 255, 0, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func encoded(t testing.TB, format string, m image.Image) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	if format == "png" {
		err = png.Encode(&b, m)
	} else {
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShrink(t *testing.T) {
	s := newSite(t, "")
	for _, tt := range []struct {
		format, name  string
		w, h          int
		fields        []string
		wantW, wantH  int
		wantUnchanged bool
	}{
		{"png", "a.png", 2000, 1000, nil, 1024, 512, false},
		{"jpeg", "a.jpg", 2000, 1000, nil, 1024, 512, false},
		{"jpeg", "b.jpg", 300, 900, []string{"max_width", "100", "max_height", "90"}, 30, 90, false},
		{"png", "c.png", 1000, 3, []string{"max_width", "10"}, 10, 1, false},
		{"png", "small.png", 20, 20, nil, 20, 20, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content := encoded(t, tt.format, picture(tt.w, tt.h))
			f := s.upload("ann", tt.name, content, append(tt.fields, "optimize", "1")...).file()
			got := s.get("", urlPath(f)).must(200).text
			m, format, err := image.Decode(strings.NewReader(got))
			if err != nil || format != tt.format || m.Bounds().Dx() != tt.wantW || m.Bounds().Dy() != tt.wantH {
				t.Fatalf("%s %v %v", format, m.Bounds(), err)
			}
			if f["file_size"] != float64(len(got)) || tt.wantUnchanged && got != content {
				t.Errorf("%v bytes, %d read", f["file_size"], len(got))
			}
		})
	}
	// Without being asked nothing is touched; what is no image never is.
	content := encoded(t, "png", picture(1500, 10))
	if f := s.upload("ann", "raw.png", content).file(); f["file_size"] != float64(len(content)) {
		t.Error("an image was changed unasked")
	}
	s.upload("ann", "a.txt", "text", "optimize", "1").must(200)
	s.upload("ann", "t.txt", "t", "optimize", "1").must(200)
	s.upload("ann", "n.png", content, "optimize", "1", "max_width", "-1").fails(417, "DataError")
}

// TestImageMemory: what an image takes while it is made smaller is charged before it
// is decoded, by the size that it says it has.
func TestImageMemory(t *testing.T) {
	s := newSite(t, "")
	s.memory = account.New(8<<20, nil)
	s.serve(t)
	large, small := encoded(t, "jpeg", picture(1500, 1000)), encoded(t, "jpeg", picture(600, 400))
	s.upload("ann", "large.jpg", large, "optimize", "1").fails(413, "RequestEntityTooLargeError")
	s.upload("ann", "large.jpg", large).must(200)
	before := s.memory.Stats().Peak
	s.upload("ann", "small.jpg", small, "optimize", "1", "max_width", "100").must(200)
	if stats := s.memory.Stats(); stats.Peak < before+600*400*4 || stats.Held[account.Image] != 0 {
		t.Errorf("%+v, the peak before was %d", stats, before)
	}
}

// TestColours: the halves stay where they were.
func TestColours(t *testing.T) {
	s := newSite(t, "")
	f := s.upload("ann", "a.png", encoded(t, "png", picture(1200, 600)), "optimize", "1", "max_width", "120").file()
	m, err := png.Decode(strings.NewReader(s.get("", urlPath(f)).text))
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[int]color.RGBA{45: {200, 0, 0, 255}, 110: {0, 0, 200, 255}} {
		if r, _, b, a := m.At(x, 40).RGBA(); r>>8 != uint32(want.R) || b>>8 != uint32(want.B) || a>>8 != 255 {
			t.Errorf("at %d: %v", x, m.At(x, 40))
		}
	}
	if r, g, b, _ := m.At(5, 5).RGBA(); r>>8 != 0 || g>>8 != 255 || b>>8 != 0 {
		t.Errorf("the corner is %v", m.At(5, 5))
	}
}

// TestTurned: a photograph that is stored on its side is turned upright, since
// the mark that said so is not kept.
func TestTurned(t *testing.T) {
	s := newSite(t, "")
	plain := encoded(t, "jpeg", picture(400, 200))
	// Where the green corner, top left as stored, is to be shown.
	corners := map[int][2]float64{1: {0.1, 0.1}, 2: {0.9, 0.1}, 3: {0.9, 0.9}, 4: {0.1, 0.9}, 5: {0.1, 0.1}, 6: {0.9, 0.1}, 7: {0.9, 0.9}, 8: {0.1, 0.9}}
	for turn, at := range corners {
		content := plain[:2] + exif(turn) + plain[2:]
		f := s.upload("ann", "a.jpg", content, "optimize", "1", "max_width", "100", "max_height", "100").file()
		m, err := jpeg.Decode(strings.NewReader(s.get("", urlPath(f)).text))
		if err != nil {
			t.Fatal(err)
		}
		w, h := m.Bounds().Dx(), m.Bounds().Dy()
		if want := [2]int{100, 50}; turn <= 4 && [2]int{w, h} != want || turn > 4 && [2]int{h, w} != want {
			t.Errorf("%d: %d x %d", turn, w, h)
		}
		if r, g, b, _ := m.At(int(at[0]*float64(w)), int(at[1]*float64(h))).RGBA(); g>>8 < 200 || r>>8 > 60 || b>>8 > 60 {
			t.Errorf("%d: the corner is not at %v", turn, at)
		}
	}
}

func exif(turn int) string {
	tiff := "MM\x00*\x00\x00\x00\x08\x00\x01" + "\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(turn)) + "\x00\x00\x00\x00\x00\x00"
	body := "Exif\x00\x00" + tiff
	return "\xff\xe1" + string(binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))) + body
}

// TestImageBombs: a few bytes that claim to be a huge picture are refused before
// a pixel is decoded, and broken ones are an error of the client.
func TestImageBombs(t *testing.T) {
	s := newSite(t, "")
	small := encoded(t, "png", picture(10, 10))
	bomb := func(w, h uint32) string {
		b := []byte(small)
		binary.BigEndian.PutUint32(b[16:], w)
		binary.BigEndian.PutUint32(b[20:], h)
		binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
		return string(b)
	}
	shot := encoded(t, "jpeg", picture(10, 10))
	for name, content := range map[string]string{
		"wide":        bomb(1<<30, 1),
		"square":      bomb(50_000, 50_000),
		"enormous":    bomb(1<<31-1, 1<<31-1),
		"empty":       bomb(0, 0),
		"lies":        bomb(3000, 3000),
		"cut":         small[:40],
		"header only": "\x89PNG\r\n\x1a\n",
		"jpeg cut":    shot[:60],
		"jpeg noise":  "\xff\xd8" + strings.Repeat("\xff\xe1\x00\x02", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			if r := s.upload("ann", "a.png", content, "optimize", "1"); r.status != 417 || r.body["exc_type"] != "ValidationError" {
				t.Errorf("%d %s", r.status, r.text)
			}
		})
	}
	s.clean(0)
	// A mark that leads nowhere says nothing about the picture.
	wild := "\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\xff\xff\xff\xff" + shot[2:]
	s.upload("ann", "a.jpg", wild, "optimize", "1").must(200)
}
