package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/instance"
	"armature/runtime/internal/rewrite"
)

// prepareInstances takes the snapshot and proves that an instance can be made
// from it. Modules that a reset could not restore are only proved to initialise.
func (m *Module) prepareInstances(ctx context.Context, party string) error {
	// That a module initialises itself is not to fail because others are busy.
	in, _, err := m.newInitialised(ctx, call.Warm(m.common.cfg.Init, party, true))
	if err != nil {
		return m.initFault(err)
	}
	if m.reason != "" {
		in.close()
		return nil
	}
	m.snapshot, err = in.Freeze()
	in.close()
	if err != nil {
		return fmt.Errorf("initialise the module: %w", err)
	}
	if err := m.chargeSnapshot(ctx); err != nil {
		return err
	}
	m.source.Code.Data = nil // it is in the snapshot, and would keep the whole binary alive
	if in, err = m.newInstance(ctx); err != nil {
		return fmt.Errorf("make a first instance: %w", err)
	}
	if !m.pool.add(in, time.Now()) {
		m.drop(in)
		return ErrClosed
	}
	return nil
}

// chargeSnapshot charges the engine what all instances of a module share.
func (m *Module) chargeSnapshot(ctx context.Context) error {
	n := int64(len(m.snapshot.Contents()))
	if n == 0 {
		return nil
	}
	if err := m.common.idle.Take(ctx, account.Plugin, n); err != nil {
		return err
	}
	m.charged = n
	return nil
}

// newInstance makes an instance in the state of the snapshot; before there is one, an
// instance that has not initialised itself.
func (m *Module) newInstance(ctx context.Context) (*resident, error) {
	return m.common.admit(func() (*instance.Instance, error) { return m.source.New(ctx, m.snapshot) })
}

// newInitialised makes an instance without a snapshot: data segments, start
// function, _initialize and armature_warm, in that order. It also returns the
// fuel that took.
func (m *Module) newInitialised(ctx context.Context, c *Call) (in *resident, fuel uint64, err error) {
	if in, err = m.newInstance(ctx); err != nil {
		return nil, 0, err
	}
	if fuel, err = m.initialise(ctx, in.Instance, c); err != nil {
		in.close()
		return nil, fuel, err
	}
	return in, fuel, nil
}

func (m *Module) initialise(ctx context.Context, in *instance.Instance, c *Call) (fuel uint64, err error) {
	for i, d := range m.source.Code.Data {
		if !in.Write(d.Offset, d.Bytes) {
			return 0, &Error{Reason: Trap, Export: "initialisation", Detail: fmt.Sprintf("data segment %d does not fit the memory", i)}
		}
	}
	c.Senses, c.OnOutput = m.birth.senses(), m.logOutput
	refused := call.Begin(ctx, c, &m.subject)
	defer call.End(c)
	if refused != nil {
		return 0, refused
	}
	fuel, failed := call.Initialise(c, in, m.initialiseGuest)
	if failed != nil {
		return fuel, failed
	}
	return fuel, nil
}

// logOutput logs what guests print while they initialise, when there is nobody else
// to take it.
func (m *Module) logOutput(_ *Call, _ bool, line []byte) {
	m.common.cfg.Logger.Info("guest initialisation", "module", m.Hash(), "line", string(line))
}

func (m *Module) initialiseGuest(c *Call) *Error {
	if m.interpreter != nil {
		return m.boot(c)
	}
	if m.source.Code.Start {
		if err := call.Run(c, abi.ReservedPrefix+rewrite.Start); err != nil {
			err.Export = "start function"
			return err
		}
	}
	for _, name := range m.startupExports() {
		if err := call.Run(c, name); err != nil {
			return err
		}
	}
	return nil
}

// startupExports lists what a module exports for its own initialisation, in the
// order in which it runs.
func (m *Module) startupExports() []string {
	if m.common.cfg.Command != nil {
		return nil // a command begins with its main function
	}
	names := []string{abi.Initialize}
	if m.dialect != nil {
		names = m.dialect.Startup(m.Export)
	}
	return slices.DeleteFunc(append(names, abi.Warm), func(name string) bool {
		_, ok := m.Export(name)
		return !ok
	})
}

// initFault says that the guest's own initialisation failed, which is the
// author's to mend.
func (m *Module) initFault(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("initialise the module: %w", err)
	}
	if m.interpreter != nil && e.Reason == Aborted {
		return scriptFault(e)
	}
	f := e.Fault()
	if e.Reason == Unavailable || e.Reason == Canceled { // nothing is wrong with it
		return f
	}
	return &fault.Error{Kind: fault.Validation, Message: "The module fails to initialise: " + f.Message, Err: err, Trace: e.Stack}
}
