package store

import (
	"strconv"

	"armature/core/doctype"
)

// jsonList writes values as a JSON array, for json_each.
func jsonList(values []any) string {
	dst := []byte{'['}
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = doctype.AppendValue(dst, nil, v)
	}
	return string(append(dst, ']'))
}

// arrayList writes values as a PostgreSQL array literal. The database gives it
// the type of the column it is compared with.
func arrayList(values []any) string {
	dst := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch v := v.(type) {
		case int64:
			dst = strconv.AppendInt(dst, v, 10)
		case float64:
			dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
		case string:
			dst = appendQuoted(dst, v)
		default:
			dst = append(dst, "NULL"...)
		}
	}
	return string(append(dst, '}'))
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}
