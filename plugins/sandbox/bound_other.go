//go:build !linux

package sandbox

import "runtime/debug"

// bound sets the limits of this process: here the clock, which the server looks
// at, and the stack have to do.
func bound() error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxMemory)
	return nil
}
