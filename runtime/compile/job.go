package compile

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"

	"armature/core/account"
	"armature/core/fair"
	"armature/core/fault"
	"armature/runtime/internal/rewrite"
)

// job is the loading of one binary, for all who wait for it.
type job struct {
	hash   string
	ctx    context.Context // ends when nobody waits any more
	cancel context.CancelFunc
	stages [2]stage
	users  int // who waits, or takes what came out; guarded by Service.mu

	// What came out so far; it belongs to the stage that runs, and to everybody when
	// the last one has ended.
	code     *rewrite.Module
	compiled wazero.CompiledModule
	err      error
	out      *shared // of compiled; guarded by Service.mu
}

// stage is a part of a job that is done in one turn.
type stage struct {
	begun context.Context // ends when somebody begins it
	begin context.CancelFunc
	done  chan struct{}
	last  bool // nothing is left to be done; for those who have seen done
}

// shared is compiled code that several hold.
type shared struct {
	compiled wazero.CompiledModule
	holders  int // guarded by Service.mu
	free     func()
}

// drop lets go of shared code. It needs the lock.
func (o *shared) drop() {
	if o.holders--; o.holders > 0 {
		return
	}
	if o.compiled != nil {
		_ = o.compiled.Close(context.Background())
	}
	o.free()
}

// charge charges the machine code that a job has loaded, and returns its bytes. Where
// there is no memory for it, the job has failed.
func (s *Service) charge(j *job) (bytes int64) {
	if j.compiled == nil {
		return 0
	}
	bytes = s.store.size(j.code.Binary)
	if err := s.cfg.Memory.Take(j.ctx, account.Plugin, bytes); err != nil {
		_ = j.compiled.Close(context.Background())
		j.compiled, j.err = nil, err
		return 0
	}
	return bytes
}

func newJob(hash string) *job {
	j := &job{hash: hash}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	for i := range j.stages {
		begun, begin := context.WithCancel(context.Background())
		j.stages[i] = stage{begun: begun, begin: begin, done: make(chan struct{})}
	}
	return j
}

// end notes what came out, and reports that nothing is left to be done.
func (j *job) end(compiled wazero.CompiledModule, err error) bool {
	j.compiled, j.err = compiled, err
	return true
}

// join finds the job of a binary, or begins one.
func (s *Service) join(hash string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	j := s.jobs[hash]
	if j == nil {
		j = newJob(hash)
		s.jobs[hash] = j
	}
	j.users++
	return j, nil
}

// leave ends the wait for a job. The last one ends the job.
func (s *Service) leave(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.users--; j.users > 0 {
		return
	}
	delete(s.jobs, j.hash)
	j.cancel()
	if j.out != nil {
		j.out.drop()
	}
}

// handle is the code of a job that has come to an end, for one of those who waited.
func (s *Service) handle(j *job, size int) *Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := j.out
	out.holders++
	return &Code{Module: *j.code, Hash: j.hash, Size: size, Compiled: j.compiled, release: func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		out.drop()
	}}
}

// turn has a stage of a job done, in a turn of one of the parties that wait for it, and
// waits for its end. The error is of the party's wait.
func (s *Service) turn(ctx context.Context, j *job, n int, party string, do func() bool) error {
	st, lane := &j.stages[n], s.lanes[n]
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(st.begun, cancel)()
	defer context.AfterFunc(j.ctx, cancel)()
	switch err := lane.Take(waiting, party); {
	case err == nil && s.begins(j, st):
		s.work.Go(func() {
			defer lane.Pass(party)
			s.run(j, st, do)
		})
	case err == nil:
		lane.Pass(party)
	case errors.Is(err, fair.ErrFull):
		return fault.Wrap(fault.Unavailable, "", err, "Too many modules wait to be compiled")
	}
	select {
	case <-st.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-j.ctx.Done():
		return ErrClosed // somebody waits, so it ended with the service
	}
}

// begins reports whether it is for the caller to do a stage.
func (s *Service) begins(j *job, st *stage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.begun.Err() != nil || s.closed {
		return false
	}
	st.begin()
	return true
}

// run does a stage, for everybody who waits.
func (s *Service) run(j *job, st *stage, do func() bool) {
	defer close(st.done)
	if st.last = s.safely(j, do); !st.last {
		return
	}
	machine := s.charge(j)
	if j.code != nil {
		j.code.Binary = nil
	}
	if j.ctx.Err() == nil { // else it was ended, and nothing is wrong with the module
		s.failed.add(j.hash, j.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &shared{j.compiled, 1, func() { s.cfg.Memory.Give(account.Plugin, machine) }}
	if j.users == 0 {
		out.drop()
		return
	}
	j.out = out
}
