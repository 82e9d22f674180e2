//go:build !unix

package armaturetest

import "testing"

// lock does nothing where files cannot be held so.
func lock(*testing.T, string) (unlock func()) { return func() {} }
