package compile

import (
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"armature/core/fault"
)

const (
	maxFailures = 1024
	// A module can fail because the machine had too much else to do, so that it is
	// not for ever.
	failureLasts = 10 * time.Minute
	// What is longer is not remembered: authors hear all that is wrong with a module.
	maxFailure = 16 << 10
)

// failures remembers which modules failed: a file in a folder, or an answer to a
// client, is tried again and again.
type failures struct{ known *lru.Cache[string, failure] }

type failure struct {
	err  error
	till time.Time
}

func newFailures() *failures {
	known, err := lru.New[string, failure](maxFailures)
	if err != nil {
		panic(err) // a size below one
	}
	return &failures{known}
}

// add remembers what is wrong with a module; errors that are not about it are none.
func (f *failures) add(hash string, err error) {
	var invalid *fault.Error
	if errors.As(err, &invalid) && invalid.Kind == fault.Validation && len(invalid.Message) <= maxFailure {
		f.known.Add(hash, failure{err, time.Now().Add(failureLasts)})
	}
}

// of is what is wrong with a module, if anything is known to be.
func (f *failures) of(hash string) error {
	known, ok := f.known.Get(hash)
	if !ok {
		return nil
	}
	if time.Now().After(known.till) {
		f.known.Remove(hash)
		return nil
	}
	return known.err
}
