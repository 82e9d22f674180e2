package serve

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"

	"armature/core/account"
)

// minMemory is the least that a server can be told to do with, in bytes.
const minMemory = 128 << 20

// openAccount makes the account of the memory that the process may take, and bounds
// Go's heap by it. Five eighths of it are admitted by the account: the rest is for
// what nobody charges, the program and the caches of the database among it, and for
// garbage. Without --memory it is the limit of the process's control group, or three
// quarters of the machine's memory.
func openAccount(flag string) (*account.Account, error) {
	limit, err := memoryLimit(flag)
	if err != nil {
		return nil, err
	}
	bound := func(outside int64) { debug.SetMemoryLimit(max(limit/8*6-outside, limit/4)) }
	if os.Getenv("GOMEMLIMIT") != "" {
		bound = func(int64) {} // the operator knows better
	}
	bound(0)
	return account.New(limit/8*5, bound), nil
}

// connectionSize is what a connection takes that has sent a long head and no more, in
// bytes, as measured.
const connectionSize = 64 << 10

// maxConnections is how many connections may be open: together they take a quarter of
// what the account admits, beside it.
func maxConnections(a *account.Account) int { return int(a.Total() / 4 / connectionSize) }

func memoryLimit(flag string) (int64, error) {
	if flag != "" {
		n, err := humanize.ParseBytes(flag)
		if err != nil || n < minMemory || n > math.MaxInt64 {
			return 0, fmt.Errorf("--memory %q: use a size of at least 128MiB, such as 1GiB", flag)
		}
		return int64(n), nil
	}
	n, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.ApplyRatio(memlimit.FromSystem, 0.75))()
	if err != nil {
		return 0, fmt.Errorf("find out how much memory there is (--memory says it): %w", err)
	}
	return max(int64(min(n, math.MaxInt64)), minMemory), nil
}
