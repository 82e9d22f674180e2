package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"armature/core/auth/otp"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// The settings of codes by mail, and what holds without them.
const (
	loginCodeSetting      = "login_with_code"
	loginCodeLimitSetting = "login_code_limit"            // letters in an hour, by address; by network ten times that
	loginCodeHourSetting  = "login_code_letters_per_hour" // of the site
	defaultLoginCodeLimit = 5
	defaultLoginCodeHour  = 1000
)

const (
	// loginCodeLife is how long a code is good.
	loginCodeLife = 10 * time.Minute
	// maxCodeTries is how many codes are looked at for one letter. Beside it the codes of a
	// user are counted as those of an app are (maxWrongCodes).
	maxCodeTries = 5
)

// loginCodeTable is the codes that letters have brought. A row's name is the keyed hash of
// what only the browser has that asked; of the codes keyed hashes are kept. There is a row
// for who is no user as well, so that the database does the same work for both. It is no DocType of
// the schema.
func loginCodeTable() *doctype.DocType {
	return private("Login Code", "armature_login_code", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1}, // empty: nobody logs in by it
		{Name: "code", Type: "Data"},
		{Name: "link", Type: "Data"},
		{Name: "tries", Type: "Int"},
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
	})
}

// codeWish is somebody's wish for a code, sealed into a cookie of the browser that asked.
type codeWish struct {
	ID     string
	User   string // as typed
	Until  int64  // seconds
	To     string // where the login leads
	Factor bool   // of Attempt
}

const codeWishPurpose = "login that waits for a code by mail"

// CodeWish is what whoever asks for a code by mail has asked for.
type CodeWish struct {
	User   string // as typed
	To     string // where the login leads, a path of this site; empty: home
	Factor bool   // as in Attempt
}

// MailedCode is the code of a letter, which goes to the user's verified address and nowhere else.
type MailedCode struct {
	User, FullName, Email string
	Code                  string // six digits, good in the browser that asked
	Key                   string // the same for a link: 32 random bytes in hexadecimal
	Lives                 time.Duration
}

// MailsCodes reports whether the site lets users log in by a code sent to their address.
func (s *Service) MailsCodes() bool { return s.flag(loginCodeSetting) }

func noLoginCode() error { return fault.Denied("Nobody logs in with a code by mail here") }

// AskLoginCode counts somebody's wish for a code, and refuses those that are too many
// (TooManyRequests): for whom was typed in, of a network, of the site. It does the same
// whether there is such a user or not: that is looked up by StartLoginCode, after the
// answer. token is a secret of the browser that asks. Errors: Permission where the site
// mails no codes; Validation for nothing typed in.
func (s *Service) AskLoginCode(ctx context.Context, w CodeWish, from Remote) (token string, err error) {
	if !s.MailsCodes() {
		return "", noLoginCode()
	}
	typed := fold(w.User)
	if typed == "" || len(typed) > maxData {
		return "", fault.Invalid("", "Type in the e-mail address or user name of the account")
	}
	most := s.number(loginCodeLimitSetting, defaultLoginCodeLimit)
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.wish(ctx, tx, s.codeWishName("address", typed), most); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, s.codeWishName("network", network(from.Address)), most*addressFactor); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, s.codeWishName("site", ""), s.number(loginCodeHourSetting, defaultLoginCodeHour)); err != nil {
			return err
		}
		return s.resets.wishes.sweep(ctx, tx)
	})
	if err != nil {
		return "", failed(err)
	}
	text, err := json.Marshal(codeWish{ID: random(sessionBytes), User: strings.TrimSpace(w.User), To: w.To, Factor: w.Factor, Until: s.now().Add(loginCodeLife).Unix()})
	if err != nil {
		return "", err
	}
	return s.secret.Seal(codeWishPurpose, text), nil
}

func (s *Service) codeWishName(of, what string) string {
	return hex.EncodeToString(s.secret.MAC("login code "+of, what))
}

// WaitingCode is the wish for a code that a browser has made. Errors: Gone when it is too
// old, or none.
func (s *Service) WaitingCode(token string) (CodeWish, error) {
	w, err := s.openCodeWish(token)
	return CodeWish{User: w.User, To: w.To, Factor: w.Factor}, err
}

func (s *Service) openCodeWish(token string) (w codeWish, err error) {
	text, err := s.secret.Open(codeWishPurpose, token)
	if err != nil || json.Unmarshal(text, &w) != nil || w.Until <= s.now().Unix() || !s.MailsCodes() {
		return codeWish{}, fault.New(fault.Gone, "", "The code is too old: ask for another one")
	}
	return w, nil
}

// StartLoginCode makes the code of a wish; nil where no letter is to be sent: nobody is
// called so, they may not log in this way, as the Administrator, whose address nobody has
// proved, and everybody else whose address is not verified, or they were sent too many
// under other names. Errors: Gone; those of the database.
func (s *Service) StartLoginCode(ctx context.Context, token string, from Remote) (*MailedCode, error) {
	w, err := s.openCodeWish(token)
	if err != nil {
		return nil, err
	}
	found, err := s.candidate(ctx, w.User)
	if err != nil {
		return nil, err
	}
	mailed := &MailedCode{Code: sixDigits(), Key: random(resetBytes), Lives: loginCodeLife}
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		mailed.User = ""
		if found.name != "" && found.name != identity.Administrator {
			if err := s.address(ctx, tx, found.name, mailed); err != nil {
				return err
			}
		}
		if err := s.sweepLoginCodes(ctx, tx); err != nil {
			return err
		}
		err := s.insert(ctx, tx, s.loginCodes, s.hashWish(w.ID), identity.Administrator, map[string]any{
			"user": mailed.User, "code": s.hashLoginCode(w.ID, mailed.Code), "link": s.hashLoginCode(w.ID, mailed.Key),
			"tries": int64(0), "expires": w.Until,
		})
		if err != nil || mailed.User == "" {
			return err
		}
		act := Activity{Operation: "Login Code", User: mailed.User, From: from, Subject: "Login Code: a code for " + mailed.User + " was asked for"}
		return s.Record(ctx, tx, act)
	})
	if err != nil || mailed.User == "" {
		return nil, err
	}
	return mailed, nil
}

// address fills in to whom a code goes, if it may go to that user.
func (s *Service) address(ctx context.Context, tx document.Tx, user string, to *MailedCode) error {
	doc, err := s.read(ctx, tx, user, false)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || !doc.Bool("enabled") || !logsIn(doc) || doc.Type.Field("email_verified") == nil || !doc.Bool("email_verified") {
		return err
	}
	w, _, err := s.resets.wishes.locked(ctx, tx, s.codeWishName("user", user))
	if err != nil || w.count >= s.number(loginCodeLimitSetting, defaultLoginCodeLimit) {
		return err
	}
	to.User, to.FullName, to.Email = user, doc.Text("full_name"), doc.Text("email")
	return s.resets.wishes.add(ctx, tx, s.codeWishName("user", user))
}

// sixDigits is a code out of a million.
func sixDigits() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // it ends the program before
	}
	return fmt.Sprintf("%06d", n)
}

// hashWish is the name of the row of a wish, whose id is 32 random bytes: one round is
// enough. hashLoginCode is what is kept of its code: without the id, which only the
// browser has, nobody tries a million codes on it.
func (s *Service) hashWish(id string) string {
	return hex.EncodeToString(s.secret.MAC("login code", id))
}

func (s *Service) hashLoginCode(id, code string) string {
	return hex.EncodeToString(s.secret.MAC("code of a login", id+" "+code))
}

// CodeLogin is somebody who comes with a code.
type CodeLogin struct {
	Token   string // of AskLoginCode
	Code    string // of the letter: the digits, or the key of its link
	From    Remote
	Session string                   // as in Attempt
	Known   func(user string) string // as in Attempt
}

const wrongLoginCode = "The code is wrong, too old, or was used before. After five wrong ones ask for another code"

// LoginWithCode begins the session of who has the code of a letter, in the browser that
// asked for it. It stands in place of the password: who needs a second factor shows it.
// Wrong codes count as wrong passwords do, by user and by address, and five end the
// letter. Errors: Gone where the wish is none or too old; Authentication for a wrong code,
// whether there is such a user or not; those of Login.
func (s *Service) LoginWithCode(ctx context.Context, c CodeLogin) (*Login, error) {
	w, err := s.openCodeWish(c.Token)
	if err != nil {
		return nil, err
	}
	found, err := s.candidate(ctx, w.User)
	if err != nil {
		return nil, failed(err)
	}
	who := found.name
	if who == "" {
		who = fold(w.User)
	}
	c.From = c.From.short()
	culprits := s.culprits(who, c.From)
	if err := s.checkLocked(ctx, culprits); err != nil {
		return nil, err
	}
	code := strings.TrimSpace(c.Code)
	if len(code) != 2*resetBytes {
		code = otp.Clean(cut(code, maxData))
	}
	if code == "" {
		return nil, refusal(wrongLoginCode)
	}
	var refused error
	// Who hangs up before the answer has failed all the same.
	counting, stop := context.WithTimeout(context.WithoutCancel(ctx), hashingWait)
	defer stop()
	err = s.writeAgain(counting, func(tx document.Tx) (err error) {
		refused, err = s.checkLoginCode(counting, tx, w, found, who, code, c.From, culprits)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	if refused != nil {
		return nil, refused
	}
	return s.begin(ctx, entry{
		Attempt: Attempt{User: found.name, From: c.From, Session: c.Session, Known: c.Known, Factor: w.Factor},
		user:    found.name, culprits: culprits, by: []string{byCode}, how: "with a code by mail",
		same: func(string) bool { return true }, // no password was checked
		spend: func(ctx context.Context, tx document.Tx) (refused, err error) {
			// Of two who come with the code, the one whose delete finds the row has it.
			gone, err := tx.Delete(ctx, s.catalog.Schema(), s.loginCodes, s.hashWish(w.ID))
			if err != nil || gone {
				return nil, err
			}
			return refusal(wrongLoginCode), nil
		},
	})
}

// checkLoginCode looks at a code and counts a wrong one before the next is looked at.
// refused is an answer that the transaction is kept for.
func (s *Service) checkLoginCode(ctx context.Context, tx document.Tx, w codeWish, found candidate, who, code string, from Remote, culprits [2]string) (refused, err error) {
	row, err := tx.Get(ctx, s.catalog.Schema(), s.loginCodes, s.hashWish(w.ID), true)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	culprit := s.codeWishName("guesses", who)
	guesses, _, err := s.factors.wrong.locked(ctx, tx, culprit)
	if err != nil {
		return nil, err
	}
	linked := len(code) == 2*resetBytes
	if guesses.count >= maxWrongCodes && !linked {
		wait := s.untilThen(guesses.since + codeEvery.Milliseconds())
		return fault.Wrap(fault.TooManyRequests, "", lockedError(wait),
			"Too many wrong codes; use the link of the letter, or try again in %d seconds", wait), nil
	}
	if row != nil {
		kept := "code"
		if linked {
			kept = "link"
		}
		tries := row.Int("tries")
		right := equal(row.Text(kept), s.hashLoginCode(w.ID, code))
		if right && found.name != "" && row.Text("user") == found.name && tries < maxCodeTries && row.Int("expires") > s.now().Unix() {
			return nil, nil
		}
		if _, err := tx.UpdateIf(ctx, s.loginCodes, row.Name(), map[string]any{}, map[string]any{"tries": tries + 1}); err != nil {
			return nil, err
		}
	}
	if err := s.failures.add(ctx, tx, culprits[:]...); err != nil {
		return nil, err
	}
	if err := s.factors.wrong.add(ctx, tx, culprit); err != nil {
		return nil, err
	}
	act := Activity{Operation: "Login", Status: Refused, User: found.name, From: from}
	if act.Subject = "Login: a wrong code by mail of " + found.name; found.name == "" {
		act.Subject = "Login: unknown user"
	}
	return refusal(wrongLoginCode), s.Record(ctx, tx, act)
}

// endLoginCodes makes the codes of a user worthless.
func (s *Service) endLoginCodes(ctx context.Context, tx document.Tx, user string) error {
	return s.dropFactors(ctx, tx, user, s.loginCodes)
}

// sweepLoginCodes clears away codes that are too old.
func (s *Service) sweepLoginCodes(ctx context.Context, tx document.Tx) error {
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: s.loginCodes,
		Columns: columns(s.loginCodes, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: s.loginCodes.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}
