package engine

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero"

	"armature/core/account"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/engine/internal/link"
)

// common is what the modules of an engine share.
type common struct {
	cfg    Config
	host   call.Host      // of all calls
	rt     wazero.Runtime // of the code
	memory linear.Maker
	clocks link.Clocks
	idle   *account.Call // what no call of a guest takes
	live   atomic.Int64  // instances of all modules
	evict  func() bool   // closes an idle instance of some module; false if none is idle
}
