package armature

import (
	"time"

	"armature/sdk/go/internal/raw"
)

// Now is the server's clock, to the microsecond, in UTC. It also works in
// tests, where time.Now would be the machine's.
func Now() time.Time { return time.UnixMicro(raw.Now()).UTC() }

// Random fills b with random bytes from the server, fresh in every call.
func Random(b []byte) { raw.Random(b) }
