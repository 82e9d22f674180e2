package extism

import (
	"strings"
	"unicode/utf8"

	"armature/core/fault"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// kernel is what is kept for one instance.
type kernel struct {
	arena
	state
	frozen state
	paid   bool // for putting back what was frozen
	window window
}

// state is what the kernel knows beside the blocks, all of it addresses and
// lengths of the guest's choosing.
type state struct {
	inputAt, inputLen   uint64
	outputAt, outputLen uint64
	errorAt             uint64

	vars     map[string][]byte // a nil one is removed
	varsOwn  bool              // not the snapshot's
	varBytes int

	status  int32  // of the latest HTTP answer
	headers []byte // of it, as JSON; nil: there was none
}

func newKernel(w *engine.Window) *kernel {
	k := &kernel{window: newWindow(w)}
	k.arena.room = w.Grow
	return k
}

// of is the kernel of the instance that runs a call.
func of(c *engine.Call) *kernel { return c.Kernel().(*kernel) }

// Freeze implements engine.Kernel.
func (k *kernel) Freeze() {
	k.arena.freeze()
	k.frozen = k.state
	k.frozen.varsOwn = false
	k.arena.bytes, k.arena.room, k.window = nil, nil, window{} // of an instance that goes
}

// Clone implements engine.Kernel.
func (k *kernel) Clone(w *engine.Window) engine.KernelState {
	c := newKernel(w)
	c.frozen, c.arena.frozen = k.frozen, k.arena.frozen
	c.Reset()
	return c
}

// Reset implements engine.Kernel.
func (k *kernel) Reset() bool {
	if k.heavy() {
		return false
	}
	k.arena.reset()
	k.state = k.frozen
	k.paid = false
	k.window.forget(uint64(len(k.arena.frozen.bytes)))
	k.tell()
	return true
}

// Begin implements engine.Kernel: what the plugin has kept from its
// initialisation counts from the start, and so does its input.
func (k *kernel) Begin(c *engine.Call) {
	if w := k.weight(); w > 0 && !c.Reserve(w) {
		c.Abort(fault.New(fault.Exhausted, "", "The plugin starts with more memory than the call may have"))
	}
	input := hostapi.Input(c)
	k.setInput(k.put(c, input), uint64(len(input)))
}

// tell lets the window know how far the arena reaches.
func (k *kernel) tell() { k.window.reach(uint64(len(k.bytes))) }

func (k *kernel) setInput(at, n uint64) {
	k.inputAt, k.inputLen = at, n
	k.window.input(at-base, n)
}

// End implements engine.Kernel: an export succeeds with 0 and without an error
// text, whatever it has output.
func (k *kernel) End(c *engine.Call) error {
	message := k.Said()
	code := int32(uint32(c.Result))
	switch {
	case message != "":
		return fault.Invalid("", "%s", message)
	case code != 0:
		return fault.Invalid("", "%s returned %d", c.Export, code)
	}
	if k.outputLen == 0 {
		return nil
	}
	output, ok := k.span(k.outputAt, k.outputLen)
	if !ok { // it was inside when it was set
		return fault.New(fault.Trap, "", "%s: the output is gone", c.Export)
	}
	hostapi.SetOutput(c, output)
	return nil
}

// Said implements engine.Kernel.
func (k *kernel) Said() string {
	text, _ := k.text(k.errorAt)
	return valid(text[:min(len(text), maxText)])
}

// maxText bounds the message of an error, in bytes.
const maxText = 64 << 10

// alloc gives the guest a block; 0 where there is no memory for it.
func (k *kernel) alloc(c *engine.Call, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if n > maxArena {
		_ = c.Reserve(n) // refused, so that a trap that comes of it is told as what it is
		return 0
	}
	size := uint32(n)
	if p := k.reuse(size); p != 0 {
		k.settle(c)
		return p
	}
	most := uint64(maxArena)
	if c.Warm() {
		most = maxFrozen
	}
	more := k.cost(size) + slack
	if total := k.with(more, 1); !c.Reserve(total) || total > most {
		return 0
	}
	c.Spend((more + blockBytes) / bytesPerUnit)
	p := k.extend(size)
	k.tell()
	return p
}

// settle makes the call pay, once, for what the reset has to do when something
// has changed that was there from the start.
func (k *kernel) settle(c *engine.Call) {
	if k.changed && !k.paid {
		k.paid = true
		k.window.open()
		c.Spend((uint64(len(k.arena.frozen.bytes)) + blockBytes*uint64(len(k.arena.frozen.blocks))) / bytesPerUnit)
	}
}

// bytesPerUnit is how many bytes are cleared for a unit of fuel, as in the guest's
// own memory.
const bytesPerUnit = 4

// put makes a block of b; 0 for none. A host function that cannot answer ends the
// call.
func (k *kernel) put(c *engine.Call, b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	p := k.alloc(c, uint64(len(b)))
	if p == 0 {
		c.Abort(fault.New(fault.Exhausted, "", "There is no memory left for %d bytes from the host", len(b)))
	}
	c.Spend(uint64(len(b)) / bytesPerUnit)
	room, _ := k.text(p)
	copy(room, b)
	return p
}

// argument is the block that a guest hands over, empty for address 0. An address of
// nothing ends the call.
func (k *kernel) argument(c *engine.Call, p uint64) []byte {
	if p == 0 {
		return nil
	}
	text, ok := k.text(p)
	if !ok {
		c.BadPointer(p, 1)
	}
	return text
}

func valid(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
