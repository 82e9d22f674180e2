package document

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"armature/core/doctype"
	"armature/core/fault"
)

// increment reads a change that is relative to what is stored, as in
// {"$inc": -2, "$min": 0}: the new value, which must not fall below $min nor rise
// above $max. The document is locked, or what is read of it is checked when it is
// written, so that no two increments are lost in one another.
//
// Errors: ValidationError when the field is no number, the document is new, the
// bounds are left or the sum is more than the field holds.
func increment(doc *doctype.Document, f *doctype.Field, by map[string]any, fresh bool) (any, error) {
	_, given := by["$inc"]
	for key := range by {
		if !slices.Contains([]string{"$inc", "$min", "$max"}, key) {
			given = false
		}
	}
	numeric := f.Kind == doctype.Int || f.Kind == doctype.Float
	switch {
	case !given:
		return nil, fault.Invalid("DataError", "%s cannot be an object; a number can be changed by {\"$inc\": n} with $min and $max", f.Title())
	case !numeric:
		return nil, fault.Invalid("DataError", "%s is not a number and cannot be changed by $inc", f.Title())
	case fresh:
		return nil, fault.Invalid("DataError", "%s: $inc changes what is stored, and nothing is yet", f.Title())
	}
	if f.Kind == doctype.Int {
		return incrementInt(doc, f, by)
	}
	return incrementFloat(doc, f, by)
}

func incrementInt(doc *doctype.Document, f *doctype.Field, by map[string]any) (any, error) {
	var n [3]int64
	for i, key := range []string{"$inc", "$min", "$max"} {
		text, ok := numberText(by[key])
		whole, err := strconv.ParseInt(text, 10, 64)
		switch {
		case by[key] == nil && i > 0:
			continue
		case !ok || err != nil:
			return nil, fault.Invalid("DataError", "%s: %s must be a whole number", f.Title(), key)
		}
		n[i] = whole
	}
	now, _ := doc.Values()[f.Index].(int64)
	sum := now + n[0]
	switch {
	case (sum > now) != (n[0] > 0) && n[0] != 0:
		return nil, fault.Invalid("", "%s: %d and %d are more than a number can be", f.Title(), now, n[0])
	case by["$min"] != nil && sum < n[1]:
		return nil, fault.Invalid("", "%s would be %d and must not be below %d", f.Title(), sum, n[1])
	case by["$max"] != nil && sum > n[2]:
		return nil, fault.Invalid("", "%s would be %d and must not be above %d", f.Title(), sum, n[2])
	}
	return json.Number(strconv.FormatInt(sum, 10)), nil
}

func incrementFloat(doc *doctype.Document, f *doctype.Field, by map[string]any) (any, error) {
	var n [3]float64
	for i, key := range []string{"$inc", "$min", "$max"} {
		text, ok := numberText(by[key])
		number, err := strconv.ParseFloat(text, 64)
		switch {
		case by[key] == nil && i > 0:
			continue
		case !ok || err != nil:
			return nil, fault.Invalid("DataError", "%s: %s must be a number", f.Title(), key)
		}
		n[i] = number
	}
	now, _ := doc.Values()[f.Index].(float64)
	sum := now + n[0]
	switch {
	case math.IsInf(sum, 0) || math.IsNaN(sum):
		return nil, fault.Invalid("", "%s: %g and %g are more than a number can be", f.Title(), now, n[0])
	case by["$min"] != nil && sum < n[1]:
		return nil, fault.Invalid("", "%s would be %g and must not be below %g", f.Title(), sum, n[1])
	case by["$max"] != nil && sum > n[2]:
		return nil, fault.Invalid("", "%s would be %g and must not be above %g", f.Title(), sum, n[2])
	}
	return sum, nil
}

// numberText is a number as JSON gave it.
func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}
