package otp_test

import (
	"image"
	"image/color"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"armature/core/auth/otp"
)

// TestVectors are those of RFC 6238 appendix B for SHA-1, in their last six digits.
func TestVectors(t *testing.T) {
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // 12345678901234567890
	for second, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		step, ok := otp.Verify(secret, code, time.Unix(second, 0), 0)
		if !ok || step != second/30 {
			t.Errorf("at %d: period %d, %v", second, step, ok)
		}
	}
}

// TestWindow: a code is good in its period, the one before and the one after, and once.
func TestWindow(t *testing.T) {
	secret := otp.NewSecret()
	shown := time.Unix(1_900_000_000/30*30, 0)
	code, err := totp.GenerateCode(secret, shown)
	if err != nil {
		t.Fatal(err)
	}
	for off := -120; off <= 120; off += 10 {
		at := shown.Add(time.Duration(off) * time.Second)
		want := off >= -30 && off < 60
		step, ok := otp.Verify(secret, code, at, 0)
		if ok != want {
			t.Errorf("%d seconds off: %v", off, ok)
		}
		if !ok {
			continue
		}
		if _, again := otp.Verify(secret, code, at, step); again {
			t.Errorf("%d seconds off: good twice", off)
		}
	}
	for _, wrong := range []string{"", code[1:], code + "0", " " + code[:5], "١٢٣٤٥٦"} {
		if _, ok := otp.Verify(secret, wrong, shown, 0); ok {
			t.Errorf("%q is right", wrong)
		}
	}
	if _, ok := otp.Verify("not base32!", code, shown, 0); ok {
		t.Error("right for a secret that is none")
	}
}

func TestURI(t *testing.T) {
	u, err := url.Parse(otp.URI("ABC", "The Shop: Düsseldorf", "jane+x@example.com"))
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/The Shop  Düsseldorf:jane+x@example.com" ||
		u.Query().Get("secret") != "ABC" || strings.Contains(u.RawQuery, "+") {
		t.Errorf("%v, %v", u, err)
	}
}

func TestRecoveryCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, code := range otp.NewRecoveryCodes() {
		typed := " " + strings.ToLower(strings.NewReplacer("0", "o", "1", "l").Replace(otp.Shown(code))) + "\n"
		if got, ok := otp.Recovery(otp.Clean(typed)); !ok || got != code || seen[code] {
			t.Errorf("%s, typed %q, is %q, %v", code, typed, got, ok)
		}
		seen[code] = true
	}
	if _, ok := otp.Recovery("123456"); ok {
		t.Error("a code of an app is a recovery code")
	}
}

// TestPicture paints what an SVG would and compares with another drawing of the same
// code.
func TestPicture(t *testing.T) {
	p, err := otp.Draw("otpauth://totp/a:b?secret=ABC")
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewGray(image.Rect(0, 0, p.Size, p.Size))
	dark := 0
	for run := range strings.SplitSeq(strings.TrimPrefix(p.Path, "M"), "M") {
		at, rest, _ := strings.Cut(run, "h")
		width, _, _ := strings.Cut(rest, "v")
		x, y, _ := strings.Cut(at, " ")
		left, _ := strconv.Atoi(x)
		top, _ := strconv.Atoi(y)
		n, _ := strconv.Atoi(width)
		for i := range n {
			img.SetGray(left+i, top, color.Gray{255})
			dark++
		}
	}
	// The three finders stand in three corners, inside the quiet margin: a ring of
	// seven squares' width.
	for _, corner := range []image.Point{{4, 4}, {p.Size - 11, 4}, {4, p.Size - 11}} {
		for i := range 7 {
			for _, at := range []image.Point{{i, 0}, {i, 6}, {0, i}, {6, i}} {
				if img.GrayAt(corner.X+at.X, corner.Y+at.Y).Y == 0 {
					t.Fatalf("no finder at %v", corner)
				}
			}
		}
	}
	if img.GrayAt(3, 3).Y != 0 || img.GrayAt(p.Size-8, p.Size-8).Y != 0 && dark < 100 {
		t.Error("no quiet margin")
	}
	if _, err := otp.Draw(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text of any length has a picture")
	}
}
