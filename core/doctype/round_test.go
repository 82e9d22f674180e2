package doctype_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"armature/core/doctype"
)

func TestPrecisionRoundsByDecimalDigits(t *testing.T) {
	tests := []struct {
		in        string
		precision int
		want      float64
	}{
		{"1.005", 2, 1.01}, {"2.675", 2, 2.68}, {"-1.005", 2, -1.01}, {"-2.675", 2, -2.68},
		{"1.004999", 2, 1}, {"0.005", 2, 0.01}, {"0.004", 2, 0}, {"-0.004", 2, 0},
		{"9.995", 2, 10}, {"99999.995", 2, 100000}, {"0.0000000005", 9, 0.000000001},
		{"1e300", 2, 1e300}, {"1e-300", 2, 0}, {"123456789.125", 2, 123456789.13}, {"7", 3, 7},
	}
	for _, tt := range tests {
		f := &doctype.Field{Name: "f", Type: "Currency", Kind: doctype.Float, Precision: tt.precision}
		got, err := doctype.Coerce(f, json.Number(tt.in), nil)
		if err != nil || got != tt.want {
			t.Errorf("%s to %d places: %v, %v; want %v", tt.in, tt.precision, got, err, tt.want)
		}
	}
}

// TestRoundingIsThatOfExactDecimals compares with rationals, which hold every
// decimal number exactly, and asks that a rounded value stays as it is.
func TestRoundingIsThatOfExactDecimals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		places := 1 + random.IntN(6)
		text := strconv.FormatInt(random.Int64N(2_000_000_000)-1_000_000_000, 10) + "e-" + strconv.Itoa(random.IntN(9))
		f := &doctype.Field{Name: "f", Type: "Currency", Kind: doctype.Float, Precision: places}
		got, err := doctype.Coerce(f, json.Number(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		exact, _ := new(big.Rat).SetString(text)
		want, _ := strconv.ParseFloat(exact.FloatString(places), 64) // half away from zero
		if want == 0 {
			want = 0
		}
		if got != want {
			t.Fatalf("%s to %d places is %v, want %v", text, places, got, want)
		}
		if again, err := doctype.Coerce(f, got, nil); err != nil || again != got {
			t.Fatalf("%v to %d places again: %v, %v", got, places, again, err)
		}
	}
}
