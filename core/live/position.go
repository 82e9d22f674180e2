package live

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"armature/core/document"
)

// keep is how long the log of changes is kept, and for how long somebody is said to
// follow it: so long after it was lost a stream can be resumed.
const keep = 10 * time.Minute

// heard is how long after somebody began to follow every process logs for certain what
// it commits. It is longer than a process may rely on what it knows, and leaves time for
// the commit itself.
const heard = 1500 * time.Millisecond

// position is where a client has got to, as the id of an event tells it.
type position struct {
	at      time.Time // when it was given out
	schema  int64     // version of the DocTypes
	asks    uint32    // sum of what it subscribed to, as its rights resolved it
	of      document.Position
	lineage string // of the database
}

func (p position) String() string {
	return fmt.Sprintf("%s.%s.%s.%s.%s", p.lineage, strconv.FormatInt(p.at.UnixMilli(), 36), strconv.FormatInt(p.schema, 36),
		strconv.FormatUint(uint64(p.asks), 36), p.of)
}

// parsePosition reads the id of an event; false where it is none.
func parsePosition(text string) (p position, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 5 || len(text) > 5000 {
		return p, false
	}
	at, err := strconv.ParseInt(parts[1], 36, 64)
	schema, err2 := strconv.ParseInt(parts[2], 36, 64)
	asks, err3 := strconv.ParseUint(parts[3], 36, 32)
	if err != nil || err2 != nil || err3 != nil {
		return p, false
	}
	return position{lineage: parts[0], at: time.UnixMilli(at), schema: schema, asks: uint32(asks), of: document.Position(parts[4])}, true
}
