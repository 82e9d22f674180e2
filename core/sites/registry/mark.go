package registry

import (
	"crypto/rand"
	"strings"
)

// NewMark tells what is made now from whatever was made before.
func NewMark() string { return strings.ToLower(rand.Text()[:8]) }
