package store

import (
	"time"

	"armature/core/doctype"
)

// canonical makes a scanned value what doctype.ValueKind promises. Drivers give
// integers, doubles and text as they are; real date types come as time.Time.
func canonical(f *doctype.Field, v any) any {
	switch v := v.(type) {
	case time.Time:
		return string(appendMoment(make([]byte, 0, 26), f.Kind, v))
	case []byte:
		return string(v)
	case string:
		if f != nil && f.Kind == doctype.Time && len(v) < len("15:04:05.000000") {
			return string(appendClock(make([]byte, 0, 15), v))
		}
	}
	return v
}

func canonicalRow(cells []cell, values []any) {
	for i := range cells {
		if f := cells[i].field; f != nil {
			values[i] = canonical(f, values[i])
		}
	}
}

// appendCell appends a scanned value as JSON. Dates go straight to bytes: a
// list of them makes no strings.
func appendCell(dst []byte, f *doctype.Field, v any) []byte {
	t, ok := v.(time.Time)
	if !ok {
		if f != nil && f.Kind == doctype.Time {
			v = canonical(f, v)
		}
		return doctype.AppendValue(dst, f, v)
	}
	dst = append(dst, '"')
	dst = appendMoment(dst, f.Kind, t)
	if f.Kind == doctype.Datetime && !f.Standard && t.Nanosecond() == 0 {
		dst = dst[:len(dst)-len(".000000")]
	}
	return append(dst, '"')
}

// appendMoment appends a date or a date with time in canonical form. Written by
// hand: time.Format costs a tenth of a list.
func appendMoment(dst []byte, s doctype.ValueKind, t time.Time) []byte {
	year, month, day := t.Date()
	dst = append(dst, byte('0'+year/1000%10), byte('0'+year/100%10))
	dst = append2(dst, year%100)
	dst = append2(append(dst, '-'), int(month))
	dst = append2(append(dst, '-'), day)
	if s == doctype.Date {
		return dst
	}
	hour, minute, second := t.Clock()
	dst = append2(append(dst, ' '), hour)
	dst = append2(append(dst, ':'), minute)
	dst = append2(append(dst, ':'), second)
	micro := t.Nanosecond() / 1000
	dst = append2(append(dst, '.'), micro/10000)
	dst = append2(dst, micro/100%100)
	return append2(dst, micro%100)
}

func append2(dst []byte, n int) []byte {
	return append(dst, byte('0'+n/10), byte('0'+n%10))
}

// appendClock completes a time of day whose fraction was printed without its
// zeros.
func appendClock(dst []byte, v string) []byte {
	const full = "00:00:00.000000"
	dst = append(dst, v...)
	return append(dst, full[len(v):]...)
}

// appendObject appends a row of a list as a JSON object. It stops after the value
// with which dst has become longer than limit.
func appendObject(dst []byte, cells []cell, values []any, limit int) []byte {
	dst = append(dst, '{')
	for i := range cells {
		if len(dst) > limit {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, cells[i].key...)
		dst = appendCell(dst, cells[i].field, values[i])
	}
	return append(dst, '}')
}

// appendArray appends a row of a list as a JSON array, as appendObject does.
func appendArray(dst []byte, cells []cell, values []any, limit int) []byte {
	dst = append(dst, '[')
	for i := range cells {
		if len(dst) > limit {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, cells[i].field, values[i])
	}
	return append(dst, ']')
}
