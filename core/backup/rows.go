package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
	"unicode/utf8"

	"armature/core/doctype"
)

// appendRow appends a row as a line: an array of its canonical values.
func appendRow(dst []byte, values []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch v := v.(type) {
		case nil:
			dst = append(dst, "null"...)
		case int64:
			dst = strconv.AppendInt(dst, v, 10)
		case float64:
			dst = strconv.AppendFloat(dst, v, 'g', -1, 64) // comes back as it was
		case string:
			if !utf8.ValidString(v) {
				return dst, fmt.Errorf("a value is not text")
			}
			dst = doctype.AppendString(dst, v)
		default:
			return dst, fmt.Errorf("a value of type %T", v)
		}
	}
	return append(dst, ']', '\n'), nil
}

// parseRow reads what appendRow wrote, for the fields of its columns.
func parseRow(line []byte, fields []*doctype.Field) ([]any, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var values []any
	if err := dec.Decode(&values); err != nil {
		return nil, err
	}
	if len(values) != len(fields) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(fields))
	}
	for i, f := range fields {
		n, isNumber := values[i].(json.Number)
		if !isNumber {
			continue
		}
		var err error
		if f.Kind == doctype.Float {
			values[i], err = strconv.ParseFloat(n.String(), 64)
		} else {
			values[i], err = strconv.ParseInt(n.String(), 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return values, nil
}

// tally counts records and hashes them.
type tally struct {
	part Part
	sum  hash.Hash
}

func newTally(name string) *tally { return &tally{part: Part{Name: name}, sum: sha256.New()} }

func (t *tally) add(line []byte) {
	t.part.Records++
	t.sum.Write(line)
}

func (t *tally) done() Part {
	t.part.SHA256 = hex.EncodeToString(t.sum.Sum(nil))
	return t.part
}
