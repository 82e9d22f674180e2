package auth

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// The settings of password resets and what holds without them.
const (
	resetLimitSetting = "password_reset_limit"                // wishes in an hour, by user and by address
	resetLifeSetting  = "reset_password_link_expiry_duration" // seconds
	defaultResetLimit = 3
	defaultResetLife  = 24 * 60 * 60
)

const (
	// resetBytes is the length of a key before it is written in hexadecimal.
	resetBytes = 32
	// resetEvery is how long a wish for a reset counts.
	resetEvery = time.Hour
	// addressFactor is how many users' resets may be asked for from one address:
	// an office has one.
	addressFactor = 10
)

// resets is the keys of the links by which a password may be set once. Of a key
// the table keeps a keyed hash; it is no DocType of the schema.
type resets struct {
	dt     *doctype.DocType
	wishes *tally
}

// Reset is a key that lets its holder set a user's password once.
type Reset struct {
	User     string
	FullName string
	Email    string
	Key      string        // goes into the link and nowhere else
	Lives    time.Duration // from now
}

// AskReset counts the wish for a reset and refuses those that are too many
// (TooManyRequests). It does the same whether there is such a user or not: who
// is there is looked up by StartReset, after the answer.
func (s *Service) AskReset(ctx context.Context, typed string, from Remote) error {
	typed = fold(typed)
	if typed == "" || len(typed) > maxData {
		return fault.Invalid("", "Type in the e-mail address or user name of the account")
	}
	most := s.number(resetLimitSetting, defaultResetLimit)
	user := hex.EncodeToString(s.secret.MAC("reset user", typed))
	address := hex.EncodeToString(s.secret.MAC("reset address", network(from.Address)))
	err := s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.wish(ctx, tx, user, most); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, address, most*addressFactor); err != nil {
			return err
		}
		return s.resets.wishes.sweep(ctx, tx)
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

// wish counts one more wish under a name, unless it had most before.
func (s *Service) wish(ctx context.Context, tx document.Tx, name string, most int64) error {
	var now window
	err := s.resets.wishes.change(ctx, tx, name, func(w window) window {
		w.count++
		now = w
		return w
	})
	if err != nil || now.count <= most {
		return err
	}
	wait := s.untilThen(now.since + resetEvery.Milliseconds())
	return fault.Wrap(fault.TooManyRequests, "", lockedError(wait), "Too many letters were asked for; try again in %d seconds", wait)
}

// StartReset makes a key for the user that somebody typed in, by address or user
// name; nil when there is no such user, or the user may not reset the password
// this way: the Administrator, whose address nobody has proved, who is disabled,
// and the user of a plugin.
func (s *Service) StartReset(ctx context.Context, typed string, from Remote) (*Reset, error) {
	found, err := s.candidate(ctx, strings.TrimSpace(typed))
	if err != nil || found.name == "" || found.name == identity.Administrator || !found.enabled || strings.HasSuffix(found.name, pluginDomain) {
		return nil, err
	}
	return s.newReset(ctx, found.name, from, true)
}

// NewReset makes a key for any user, for whoever may set the user's password
// anyway: the command line. Errors: Missing; Validation for Guest and a disabled
// user.
func (s *Service) NewReset(ctx context.Context, user string, from Remote) (*Reset, error) {
	return s.newReset(ctx, user, from, false)
}

// newReset makes a key; mailed says that it goes to the user's address and nowhere else,
// so that whoever uses it has shown that the address is theirs.
func (s *Service) newReset(ctx context.Context, user string, from Remote, mailed bool) (*Reset, error) {
	reset := &Reset{Key: random(resetBytes), Lives: s.resetLife()}
	err := s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, true)
		if err != nil {
			return err
		}
		if !logsIn(doc) {
			return noLogin(doc)
		}
		if !doc.Bool("enabled") {
			return fault.Invalid("", "User %s is disabled", user)
		}
		reset.User, reset.FullName, reset.Email = doc.Name(), doc.Text("full_name"), doc.Text("email")
		err = s.insert(ctx, tx, s.resets.dt, s.hashReset(reset.Key), reset.User, map[string]any{
			"user": reset.User, "expires": s.now().Add(reset.Lives).Unix(), "mailed": check(mailed),
		})
		if err != nil {
			return err
		}
		if err := s.sweepResets(ctx, tx); err != nil {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: "Reset", User: reset.User, From: from})
	})
	if err != nil {
		return nil, err
	}
	return reset, nil
}

// resetLife is how long a key may be used.
func (s *Service) resetLife() time.Duration {
	return time.Duration(min(s.number(resetLifeSetting, defaultResetLife), 365*24*3600)) * time.Second
}

// hashReset is the name of the row of a key, which is 32 random bytes: one round
// is enough.
func (s *Service) hashReset(key string) string {
	return hex.EncodeToString(s.secret.MAC("password reset", key))
}

// CheckReset returns the user whose password a key may set; Gone when it is
// unknown, used or too old, which are not told apart. It spends nothing.
func (s *Service) CheckReset(ctx context.Context, key string) (user string, err error) {
	if len(key) != 2*resetBytes {
		return "", spent()
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		user, err = s.resetUser(ctx, tx, key, false)
		return err
	})
	if err != nil {
		return "", failed(err)
	}
	return user, nil
}

// resetUser is the user of a key that is still good.
func (s *Service) resetUser(ctx context.Context, tx document.Tx, key string, lock bool) (string, error) {
	row, err := tx.Get(ctx, s.catalog.Schema(), s.resets.dt, s.hashReset(key), lock)
	if fault.KindOf(err) == fault.NotFound {
		return "", spent()
	}
	if err != nil {
		return "", err
	}
	if row.Int("expires") <= s.now().Unix() {
		return "", spent()
	}
	return row.Text("user"), nil
}

func spent() error {
	return fault.New(fault.Gone, "", "The reset password link has either been used before or is invalid")
}

// FinishReset sets the password of the user whom a key was made for. The key is
// spent with it, as are the user's others; the user's sessions end and failed
// logins are forgotten. Errors: Gone (see CheckReset); Validation for a password
// the policy refuses, which spends nothing; Unavailable when passwords cannot be
// hashed now.
func (s *Service) FinishReset(ctx context.Context, key, password string, from Remote) (user string, err error) {
	if err := s.writable(); err != nil {
		return "", err
	}
	if user, err = s.CheckReset(ctx, key); err != nil {
		return "", err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return "", err
	}
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		if user, err = s.resetUser(ctx, tx, key, true); err != nil {
			return err
		}
		// Of two who hold the link, the one whose delete finds the row has it.
		row, err := tx.Get(ctx, s.catalog.Schema(), s.resets.dt, s.hashReset(key), true)
		if err != nil {
			return err
		}
		ok, err := tx.Delete(ctx, s.catalog.Schema(), s.resets.dt, s.hashReset(key))
		if err != nil {
			return err
		}
		if !ok {
			return spent()
		}
		doc, err := s.read(ctx, tx, user, true)
		if err != nil || !doc.Bool("enabled") || !logsIn(doc) {
			return spent()
		}
		self := &identity.Caller{User: user}
		if err := s.putPassword(ctx, tx, self, doc, hash, from); err != nil {
			return err
		}
		if row.Bool("mailed") {
			if err := s.verifyEmail(ctx, tx, doc); err != nil {
				return err
			}
		}
		if err := s.EndSessions(ctx, tx, user); err != nil {
			return err
		}
		return s.forgive(ctx, tx, s.culprits(user, from))
	})
	if err != nil {
		return "", failed(err)
	}
	return user, nil
}

// hash hashes a new password when it is its turn.
func (s *Service) hash(ctx context.Context, password string) (hash string, err error) {
	if err := CheckPolicy(password); err != nil {
		return "", err
	}
	err = s.hasher.do(ctx, s, func() error {
		hash = s.hasher.hash(password)
		return nil
	})
	return hash, err
}

// endResets makes the keys of a user worthless, and what else letters have brought.
func (s *Service) endResets(ctx context.Context, tx document.Tx, user string) error {
	if s.resets.dt == nil {
		return nil
	}
	if err := s.endLoginCodes(ctx, tx, user); err != nil {
		return err
	}
	if err := s.endAddressChange(ctx, tx, user); err != nil {
		return err
	}
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: s.resets.dt,
		Columns: columns(s.resets.dt, "name"),
		Where:   equals(s.resets.dt, "user", user),
	})
}

// sweepResets clears away keys that are too old.
func (s *Service) sweepResets(ctx context.Context, tx document.Tx) error {
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: s.resets.dt,
		Columns: columns(s.resets.dt, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: s.resets.dt.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}
