package backup

import (
	"bytes"
	"context"
	"slices"

	"filippo.io/age"

	"armature/core/account"
)

// ageWork is what age takes for the logarithm of what a guess of a passphrase costs.
const ageWork = 18

// stretch runs fn, which makes a key of a passphrase: that takes a kilobyte for each
// step (256 MiB, as a rule), which are charged to the call of ctx. work is the
// logarithm of the steps; 0: age's own.
func stretch(ctx context.Context, work int, fn func() error) error {
	if work == 0 {
		work = ageWork
	}
	memory := account.From(ctx)
	n := min(int64(1)<<(10+work), memory.Most())
	if err := memory.Take(ctx, account.Archive, n); err != nil {
		return err
	}
	defer memory.Give(account.Archive, n)
	return fn()
}

// passphrase opens what is sealed under it. An archive is read twice, to check it and to
// restore it, and what the passphrase leads to is worked out once: that takes a second.
// age authenticates the head of the file with it each time.
type passphrase struct {
	text string

	head []byte // the part of the head that key was sealed in
	key  []byte
}

// identity is the passphrase as age asks for it, on behalf of ctx.
func (p *passphrase) identity(ctx context.Context) (age.Identity, error) {
	under, err := age.NewScryptIdentity(p.text)
	if err != nil {
		return nil, err
	}
	return unwrap(func(stanzas []*age.Stanza) ([]byte, error) {
		var head []byte
		for _, s := range stanzas {
			for _, part := range append([]string{s.Type}, s.Args...) {
				head = append(append(head, part...), 0)
			}
			head = append(append(head, s.Body...), 0)
		}
		if p.key != nil && bytes.Equal(head, p.head) {
			return slices.Clone(p.key), nil
		}
		var key []byte
		err := stretch(ctx, 0, func() (err error) { // at most: what it takes is in the head
			key, err = under.Unwrap(stanzas)
			return err
		})
		if err == nil {
			p.head, p.key = head, slices.Clone(key)
		}
		return key, err
	}), nil
}

// unwrap is an age.Identity.
type unwrap func(stanzas []*age.Stanza) ([]byte, error)

func (u unwrap) Unwrap(stanzas []*age.Stanza) ([]byte, error) { return u(stanzas) }
