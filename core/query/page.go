package query

import (
	"math"
	"strconv"
	"strings"
)

// start reads the offset; what is not a number is 0 (reference section 1.8).
func start(values ...any) (int, error) {
	n, _, _ := firstInt(values)
	if n < 0 {
		return 0, refused("limit_start must not be negative")
	}
	return n, nil
}

// length reads the page length: the first that is given counts, 0 means all.
func length(values ...any) (int, error) {
	n, given, ok := firstInt(values)
	switch {
	case !given:
		return DefaultLength, nil
	case !ok:
		return 0, refused("limit_page_length must be a whole number")
	case n < 0:
		return 0, refused("limit_page_length must not be negative")
	}
	return n, nil
}

// firstInt reads the first value that is given. Numbers too large to count rows
// with are cut.
func firstInt(values []any) (n int, given, ok bool) {
	for _, v := range values {
		s, isScalar := scalar(v)
		if !isScalar {
			return 0, true, false
		}
		text := strings.TrimSpace(text(s))
		if text == "" {
			continue
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) {
			return 0, true, false
		}
		return int(max(-1, min(f, math.MaxInt32))), true, true
	}
	return 0, false, true
}

// text is a scalar as text; null is empty.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case interface{ String() string }: // json.Number
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
