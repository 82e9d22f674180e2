package hostapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/notice"
	"armature/runtime/abi"
)

// The bounds of one message.
const (
	maxMessage = 4096 // bytes
	maxTitle   = 140  // characters
)

// spoken is the field that a message counts as: markup that a rich text may hold.
var spoken = &doctype.Field{Type: "Text", Kind: doctype.Text}

// tell says something to the user that is no error.
func tell(ctx context.Context, _ *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Message   string `json:"message"`
		Title     string `json:"title"`
		Indicator string `json:"indicator"`
	}
	if err := decode(abi.Tell, request, &in); err != nil {
		return nil, err
	}
	indicator := cmp.Or(in.Indicator, notice.Indicators[0])
	switch {
	case strings.TrimSpace(in.Message) == "":
		return nil, fault.Invalid("", "%s: the message says nothing", abi.Tell)
	case len(in.Message) > maxMessage:
		return nil, fault.Invalid("", "%s: the message is over %d bytes", abi.Tell, maxMessage)
	case utf8.RuneCountInString(in.Title) > maxTitle || strings.ContainsAny(in.Title, "<>"):
		return nil, fault.Invalid("", "%s: a title is plain text of at most %d characters", abi.Tell, maxTitle)
	case !slices.Contains(notice.Indicators, indicator):
		return nil, fault.Invalid("", "%s: the indicator is one of %s", abi.Tell, strings.Join(notice.Indicators, ", "))
	}
	notice.Of(ctx).Add(notice.Notice{Text: spoken.Sanitize(in.Message), Title: in.Title, Indicator: indicator})
	return append(dst, "null"...), nil
}
