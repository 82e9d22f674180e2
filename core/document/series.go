package document

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
)

// seriesPart is a piece of a naming pattern: literal text, a piece of the date,
// a field, or the counter of a width.
type seriesPart struct {
	literal string
	token   string
	width   int // > 0: the counter
}

// formatParts reads "ABC-{MM}-{field}-{#####}" (autoname format:).
func formatParts(pattern string) []seriesPart {
	var parts []seriesPart
	for pattern != "" {
		open := strings.IndexByte(pattern, '{')
		end := strings.IndexByte(pattern, '}')
		if open < 0 || end < open {
			return append(parts, seriesPart{literal: pattern})
		}
		if open > 0 {
			parts = append(parts, seriesPart{literal: pattern[:open]})
		}
		parts = append(parts, tokenPart(pattern[open+1:end]))
		pattern = pattern[end+1:]
	}
	return parts
}

// dottedParts reads "ABC-.YYYY.-.#####", the old style and that of naming
// series: parts between dots, some of which are tokens. A pattern without a
// counter gets one of five digits.
func dottedParts(pattern string, dt *doctype.DocType) []seriesPart {
	if !strings.Contains(pattern, "#") {
		pattern = strings.TrimSuffix(pattern, ".") + ".#####"
	}
	var parts []seriesPart
	for _, piece := range strings.Split(pattern, ".") {
		if piece == "" {
			continue
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(piece, "{"), "}")
		part := tokenPart(inner)
		if part.width == 0 && !isDateToken(inner) && dt.Field(inner) == nil {
			part = seriesPart{literal: piece}
		}
		parts = append(parts, part)
	}
	return parts
}

func tokenPart(token string) seriesPart {
	if token != "" && strings.Trim(token, "#") == "" {
		return seriesPart{width: len(token)}
	}
	return seriesPart{token: token}
}

func isDateToken(s string) bool {
	switch s {
	case "YY", "YYYY", "MM", "DD", "JJJ", "WW", "timestamp":
		return true
	}
	return false
}

func dateToken(token string, now time.Time) string {
	switch token {
	case "YY":
		return fmt.Sprintf("%02d", now.Year()%100)
	case "YYYY":
		return fmt.Sprintf("%04d", now.Year())
	case "MM":
		return fmt.Sprintf("%02d", int(now.Month()))
	case "DD":
		return fmt.Sprintf("%02d", now.Day())
	case "JJJ":
		return fmt.Sprintf("%03d", now.YearDay())
	case "WW":
		_, week := now.ISOWeek()
		return fmt.Sprintf("%02d", week)
	}
	return strconv.FormatInt(now.UnixMicro(), 10)
}

// nameBySeries resolves a pattern. The counter's scope is the text before it,
// so a new month starts again at 1.
func (s *Service) nameBySeries(ctx context.Context, tx Tx, doc *doctype.Document, parts []seriesPart) (string, error) {
	return resolveSeries(doc, parts, s.now(), func(prefix string, width int) (string, error) {
		n, err := tx.Next(ctx, seriesCounter(doc.Type, prefix))
		return fmt.Sprintf("%0*d", width, n), err
	})
}

// resolveSeries resolves a pattern for a document named at a time; count gives
// the number that stands behind a text.
func resolveSeries(doc *doctype.Document, parts []seriesPart, at time.Time, count func(prefix string, width int) (string, error)) (string, error) {
	var name strings.Builder
	for _, part := range parts {
		switch {
		case part.width > 0:
			number, err := count(name.String(), part.width)
			if err != nil {
				return "", err
			}
			name.WriteString(number)
		case part.token == "":
			name.WriteString(part.literal)
		case isDateToken(part.token):
			name.WriteString(dateToken(part.token, at))
		default:
			f := doc.Type.Field(part.token)
			if f == nil || f.Index < 0 {
				return "", fault.Invalid("", "%s: the naming rule uses a field that does not exist: %s", doc.Type.Name, part.token)
			}
			if v := doc.Values()[f.Index]; v != nil {
				fmt.Fprint(&name, v)
			}
		}
	}
	return name.String(), nil
}

func seriesCounter(dt *doctype.DocType, prefix string) string {
	return "series:" + dt.Name + ":" + prefix
}

// amendedName is the name of an amendment: the original's with -1, then -2.
func amendedName(ctx context.Context, tx Tx, dt *doctype.DocType, original string) (string, error) {
	base := original
	if stem, n, ok := cutLast(original, "-"); ok {
		if _, err := strconv.Atoi(n); err == nil {
			if absent, err := tx.Absent(ctx, dt, []string{stem}); err != nil {
				return "", err
			} else if len(absent) == 0 {
				base = stem
			}
		}
	}
	for n := 1; ; n++ {
		name := base + "-" + strconv.Itoa(n)
		absent, err := tx.Absent(ctx, dt, []string{name})
		if err != nil {
			return "", err
		}
		if len(absent) == 1 {
			return name, nil
		}
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
