package main

import (
	"math"
	"math/bits"
)

// JSON and the database hold amounts as binary fractions, in which 0.1 + 0.2 is
// not 0.3. So everything is worked out in whole numbers of the smallest unit, and
// becomes a fraction again on the way out.

// Money is in hundredths, such as cents.
type Money int64

// Float is the amount as documents hold it.
func (m Money) Float() float64 { return float64(m) / 100 }

// The largest number of units of each kind. Any two of them multiply to less
// than what times can hold, and all amounts stay exact as float64.
const largest = 1e13

// units is x in units of which so many are one, such as 12.5 in hundredths:
// 1250. It is false for what is negative, too large, no number, or has more
// digits than the unit: an amount of 0.001 is a mistake, not nothing.
func units(x float64, one float64) (n uint64, ok bool) {
	whole := math.Round(x * one)
	if !(whole >= 0 && whole <= largest) || whole/one != x {
		return 0, false
	}
	return uint64(whole), true
}

// times is a * b / by, rounded to the nearest whole number, a half up: the rule
// that most tax offices ask for. It is false where the result is too large.
func times(a, b, by uint64) (m Money, ok bool) {
	high, low := bits.Mul64(a, b) // the whole product, of 128 bits
	low, carry := bits.Add64(low, by/2, 0)
	if high += carry; high >= by {
		return 0, false
	}
	n, _ := bits.Div64(high, low, by)
	return Money(n), n <= largest
}
