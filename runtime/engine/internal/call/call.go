// Package call runs one exported function of a guest: within limits of memory, fuel,
// time and nesting, on the account of whom it is made for, in its turn, and with the
// host functions it calls. It is handed an instance and gives it back as the guest
// left it; where instances come from is not its subject.
//
// Functions of the package are for the engine. What host functions may do is methods
// of [Call].
package call

import (
	"context"
	"log/slog"
	"time"

	"armature/core/account"
	"armature/runtime/engine/internal/admission"
	"armature/runtime/engine/internal/deadline"
	"armature/runtime/engine/internal/instance"
)

// Call is one run of one exported function. The caller fills in the exported
// fields; host functions receive the same pointer. A Call serves once and
// belongs to one goroutine: its methods may be used by host functions, on the
// goroutine that runs them, while the call lasts.
type Call struct {
	Export string // the function's export name
	Arg    int32  // its argument, if it takes one
	Limits Limits
	State  any   // what host functions keep about this call
	Parent *Call // the call whose host function makes this one, if any

	// Party is whose call this is. While more guests run for long than there are
	// slots, each party gets its share of them. Of a nested call it is the
	// parent's.
	Party string

	// OnOutput receives what the guest prints, line by line without the
	// newline. The slice is valid during the call of OnOutput only.
	OnOutput func(c *Call, stderr bool, line []byte)

	// Senses hears, or decides, what WASI tells the guest of the world; nil: the
	// host's clock and randomness as they are. While a guest warms up, they are
	// its module's Birth.
	Senses Senses

	// Due ends the call before its limits do; zero: nothing does.
	Due Due

	// Memo is what an interpreter keeps about the call.
	Memo any

	// Result is what the function returned, if it returns anything.
	Result uint64

	warm         bool
	unhurried    bool // waiting for a slot does not count against its time
	subject      *Subject
	in           *instance.Instance // while the guest runs
	kernel       Kernel             // of in
	base         context.Context
	ctx          *deadline.Context // base with the deadline, once asked for
	started      time.Time
	deadline     time.Time
	overdue      Due    // what the deadline is for; zero: the call itself
	limits       Limits // in force
	turned       uint64 // fuel it had used when others ran last
	usage        Usage
	reservedPeak uint64 // the most bytes the host has kept for the guest
	account      *account.Call
	charged      int64  // bytes, to account
	short        error  // why account has not got what the guest asked for
	refused      uint64 // bytes that Reserve refused
	turn         *admission.Turn
	own          admission.Turn
	nesting      int

	processorBefore time.Duration // what the chain had used when the call began
}

// Host is what all calls of an engine share.
type Host struct {
	Slots         *admission.Slots
	Defaults      Limits // of a call that names none
	Maximum       Limits // that none may exceed
	ProcessorTime bool   // a call ends, too, by the time its fuel is taken for
	Log           *slog.Logger
}

// Subject is what calls run: a module, as far as they know it.
type Subject struct {
	*Host
	*Binary
	Resumes bool    // it exports armature_resume, which comes before each call
	Program Program // it is, where it is a script
}

// Senses stands between a guest and the clock and randomness of WASI, so that a
// call can be recorded and repeated. Its methods may end the call by Abort.
type Senses interface {
	// Clock returns what the guest is told when the clock of that number says ns.
	Clock(c *Call, id uint32, ns int64) int64
	// Random may change the random bytes the guest is about to get.
	Random(c *Call, b []byte)
}

// Due is a moment by which a call must have ended because of something it keeps
// from others.
type Due struct {
	At      time.Time     // zero: there is none
	Allowed time.Duration // and For: what the error says, such as "a lock may be kept for 2s"
	For     string
}

// Program is a script in the state of the snapshot. It must not change.
type Program interface {
	// Run runs c.Export in a clone of the snapshot. An error ends the call as
	// Call.Abort would.
	Run(c *Call) error
	// Stack says where a script was when the engine ended its call: functions,
	// innermost first. It gets a quantum of fuel of its own.
	Stack(c *Call) []string
}

// Kernel is what a dialect keeps for one instance beside the instance's own
// memory.
type Kernel interface {
	instance.KernelState
	// Begin comes before an export runs, End after it has returned, with what it
	// returned in Call.Result. Either may end the call as Call.Abort does; an error
	// of End does too.
	Begin(c *Call)
	End(c *Call) error
	// Said is what the guest has said so far of why it fails, if anything: of use when
	// it traps.
	Said() string
}

// Warm makes the call in which a module initialises itself. Who is unhurried has its
// turns not counted against its time.
func Warm(limits Limits, party string, unhurried bool) *Call {
	return &Call{Limits: limits, Party: party, warm: true, unhurried: unhurried}
}

// WarmFor makes the call in which an instance initialises itself for c alone, which has
// begun.
func WarmFor(c *Call) *Call { return Warm(c.limits, c.turn.Party, false) }

// Warm reports that the guest runs its own initialisation: there is no caller,
// no site and no State, and what it computes becomes part of every later call.
// Host functions that reach data must refuse.
func (c *Call) Warm() bool { return c.warm }

// Binary describes the module the call runs in.
func (c *Call) Binary() *Binary { return c.subject.Binary }

// Program is the script the call runs; nil while it is being read, and for a
// module that is none.
func (c *Call) Program() Program { return c.subject.Program }

// Kernel is that of the instance the call runs in; nil unless its module speaks a
// dialect.
func (c *Call) Kernel() Kernel { return c.kernel }

// Started is when the call began.
func Started(c *Call) time.Time { return c.started }
