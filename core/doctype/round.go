package doctype

import (
	"math/big"
	"strconv"
	"strings"
)

// roundDecimal rounds half away from zero by the digits a person reads. A double
// of 1.005 lies a little below that number, so arithmetic on doubles makes 1.00
// of it and 2.68 of 2.675: alike to whoever typed them, and rounded apart.
func roundDecimal(x float64, places int) float64 {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) <= places {
		return x
	}
	n, _ := new(big.Int).SetString(whole+fraction[:places], 10) // nothing but digits
	if fraction[places] >= '5' {
		n.Add(n, big.NewInt(1))
	}
	digits := n.String()
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	dot := len(digits) - places
	rounded, err := strconv.ParseFloat(sign+digits[:dot]+"."+digits[dot:], 64)
	if err != nil {
		return x // beyond a double, which x is not
	}
	return rounded
}
