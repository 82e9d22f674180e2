package auth

import (
	"context"
	"strings"
	"time"
	"unicode"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// The setting of how many users may be made within an hour, and what holds
// without it.
const (
	newUsersSetting = "throttle_user_limit"
	defaultNewUsers = 60
)

// throttleUsers refuses one more user where too many were made within an hour
// (reference section 11): somebody has got hold of credentials, or a program runs
// wild.
func (s *Service) throttleUsers(ctx context.Context, tx document.Tx, dt *doctype.DocType) error {
	most := s.number(newUsersSetting, defaultNewUsers)
	n, err := tx.Count(ctx, &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where: doctype.Compare{
			Operand: doctype.Operand{Field: dt.Field("creation")}, Op: query.Gt,
			Value: doctype.FormatDatetime(s.now().Add(-time.Hour)),
		},
	})
	if err != nil || n <= most {
		return err
	}
	return fault.Invalid("Throttled", "More than %d users were made within an hour. The site's setting %s allows more.", most, newUsersSetting)
}

// chooseUsername gives a new user who names no user name one made of the first
// name (reference section 11), or of both names where somebody has that. Where
// both are taken there is none: the e-mail address does as well.
func (s *Service) chooseUsername(ctx context.Context, tx document.Tx, user *doctype.Document) error {
	if user.Text("username") != "" {
		return nil
	}
	first, last := scrub(user.Text("first_name")), scrub(user.Text("last_name"))
	wishes := []string{first}
	if last != "" {
		wishes = append(wishes, first+"_"+last)
	}
	for _, wish := range wishes {
		if clean, err := cleanUsername(wish); first == "" || err != nil || clean != wish || builtinName(wish) {
			continue
		}
		n, err := tx.Count(ctx, &doctype.Select{
			DocType: user.Type, Columns: columns(user.Type, "name"), Where: equals(user.Type, "username", wish), Length: 1,
		})
		if err != nil {
			return err
		}
		if n == 0 {
			user.Put("username", wish)
			return nil
		}
	}
	return nil
}

func builtinName(name string) bool {
	return strings.EqualFold(name, identity.Administrator) || strings.EqualFold(name, identity.Guest)
}

// scrub makes a name one word in small letters.
func scrub(name string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		case unicode.IsSpace(r), r == '-', r == '_':
			return '_'
		}
		return -1
	}, strings.TrimSpace(name))
	return cut(word, maxData/3)
}
