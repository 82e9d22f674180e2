package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// wasiModule is the import module of WASI preview 1.
const wasiModule = "wasi_snapshot_preview1"

// WASI error numbers.
const (
	errnoSuccess = 0
	errnoBadf    = 8
	errnoInval   = 28
	errnoNosys   = 52
	errnoSpipe   = 70
)

// wasi is WASI preview 1 without a system behind it: no files, no environment,
// no arguments; standard output goes to the call, standard input is at its
// end, clocks and randomness are the host's. It is ours rather than the
// runtime's own because that one binds output, clock and exit to an instance,
// and ours serve one call after another from different sites.
//
// Pointers outside the memory end the call, as they do for our own imports.
func (e *Engine) wasi() []hostFunc {
	const p, l = I32, I64 // a pointer or number; a long
	fs := []hostFunc{
		wasiFunc("args_sizes_get", wasiNone, p, p),
		wasiFunc("args_get", wasiOK, p, p),
		wasiFunc("environ_sizes_get", wasiNone, p, p),
		wasiFunc("environ_get", wasiOK, p, p),
		wasiFunc("clock_res_get", wasiClockRes, p, p),
		wasiFunc("clock_time_get", e.wasiClockTime, p, l, p),
		wasiFunc("random_get", wasiRandom, p, p),
		wasiFunc("sched_yield", wasiOK),
		wasiFunc("poll_oneoff", wasiPoll, p, p, p, p),
		wasiFunc("proc_raise", wasiUnsupported, p),
		wasiFunc("fd_write", wasiWrite, p, p, p, p),
		wasiFunc("fd_read", wasiRead, p, p, p, p),
		wasiFunc("fd_close", wasiStd(errnoSuccess), p),
		wasiFunc("fd_datasync", wasiStd(errnoInval), p),
		wasiFunc("fd_sync", wasiStd(errnoInval), p),
		wasiFunc("fd_fdstat_get", wasiFdstat, p, p),
		wasiFunc("fd_fdstat_set_flags", wasiStd(errnoSuccess), p, p),
		wasiFunc("fd_seek", wasiStd(errnoSpipe), p, l, p, p),
		wasiFunc("fd_tell", wasiStd(errnoSpipe), p, p),
	}
	noFile := []struct {
		name   string
		params []ValueType
	}{
		{"fd_advise", []ValueType{p, l, l, p}},
		{"fd_allocate", []ValueType{p, l, l}},
		{"fd_fdstat_set_rights", []ValueType{p, l, l}},
		{"fd_filestat_get", []ValueType{p, p}},
		{"fd_filestat_set_size", []ValueType{p, l}},
		{"fd_filestat_set_times", []ValueType{p, l, l, p}},
		{"fd_pread", []ValueType{p, p, p, l, p}},
		{"fd_prestat_get", []ValueType{p, p}},
		{"fd_prestat_dir_name", []ValueType{p, p, p}},
		{"fd_pwrite", []ValueType{p, p, p, l, p}},
		{"fd_readdir", []ValueType{p, p, p, l, p}},
		{"fd_renumber", []ValueType{p, p}},
		{"path_create_directory", []ValueType{p, p, p}},
		{"path_filestat_get", []ValueType{p, p, p, p, p}},
		{"path_filestat_set_times", []ValueType{p, p, p, p, l, l, p}},
		{"path_link", []ValueType{p, p, p, p, p, p, p}},
		{"path_open", []ValueType{p, p, p, p, p, l, l, p, p}},
		{"path_readlink", []ValueType{p, p, p, p, p, p}},
		{"path_remove_directory", []ValueType{p, p, p}},
		{"path_rename", []ValueType{p, p, p, p, p, p}},
		{"path_symlink", []ValueType{p, p, p, p, p}},
		{"path_unlink_file", []ValueType{p, p, p}},
		{"sock_accept", []ValueType{p, p, p}},
		{"sock_recv", []ValueType{p, p, p, p, p, p}},
		{"sock_send", []ValueType{p, p, p, p, p}},
		{"sock_shutdown", []ValueType{p, p}},
	}
	for _, f := range noFile {
		fs = append(fs, wasiFunc(f.name, wasiNoFile, f.params...))
	}
	return append(fs, hostFunc{wasiModule, "proc_exit", []ValueType{p}, nil,
		func(_ context.Context, s []uint64) { panic(&exit{uint32(s[0])}) }})
}

// wasiFunc makes the host function of a WASI call that returns an error number.
func wasiFunc(name string, fn func(c *Call, s []uint64) uint32, params ...ValueType) hostFunc {
	return hostFunc{wasiModule, name, params, []ValueType{I32},
		func(ctx context.Context, s []uint64) {
			s[0] = uint64(fn(instanceOf(ctx).call, s))
		}}
}

func wasiOK(*Call, []uint64) uint32          { return errnoSuccess }
func wasiNoFile(*Call, []uint64) uint32      { return errnoBadf }
func wasiUnsupported(*Call, []uint64) uint32 { return errnoNosys }

// wasiNone answers both sizes of an empty list.
func wasiNone(c *Call, s []uint64) uint32 {
	c.putUint32(uint32(s[0]), 0)
	c.putUint32(uint32(s[1]), 0)
	return errnoSuccess
}

// wasiStd answers code for the three standard descriptors; there are no others.
func wasiStd(code uint32) func(*Call, []uint64) uint32 {
	return func(_ *Call, s []uint64) uint32 {
		if uint32(s[0]) > 2 {
			return errnoBadf
		}
		return code
	}
}

// Clock numbers; those of CPU time are answered with the monotonic clock.
const clockRealtime = 0

func wasiClockRes(c *Call, s []uint64) uint32 {
	if uint32(s[0]) > 3 {
		return errnoInval
	}
	c.putUint64(uint32(s[1]), 1)
	return errnoSuccess
}

// wasiClockTime reads the clock on every call, so that a guest sees no time
// from before its snapshot unless it kept some itself.
func (e *Engine) wasiClockTime(c *Call, s []uint64) uint32 {
	var ns int64
	switch id := uint32(s[0]); {
	case id == clockRealtime:
		ns = e.cfg.Now().UnixNano()
	case id <= 3:
		ns = int64(time.Since(e.epoch))
	default:
		return errnoInval
	}
	if c.Senses != nil {
		ns = c.Senses.Clock(c, uint32(s[0]), ns)
	}
	c.putUint64(uint32(s[2]), uint64(ns))
	return errnoSuccess
}

func wasiRandom(c *Call, s []uint64) uint32 {
	// rand.Read never fails: it ends the process when the system has no entropy.
	b := c.Read(uint32(s[0]), uint32(s[1]))
	_, _ = rand.Read(b)
	if c.Senses != nil {
		c.Senses.Random(c, b)
	}
	return errnoSuccess
}

// wasiRead finds standard input at its end.
func wasiRead(c *Call, s []uint64) uint32 {
	if uint32(s[0]) != 0 {
		return errnoBadf
	}
	c.putUint32(uint32(s[3]), 0)
	return errnoSuccess
}

// wasiFdstat describes the standard descriptors as character devices, which
// libraries write to line by line and never seek.
func wasiFdstat(c *Call, s []uint64) uint32 {
	const charDevice, rightRead, rightWrite = 2, 1 << 1, 1 << 6
	fd := uint32(s[0])
	if fd > 2 {
		return errnoBadf
	}
	var stat [24]byte
	stat[0] = charDevice
	rights := uint64(rightWrite)
	if fd == 0 {
		rights = rightRead
	}
	binary.LittleEndian.PutUint64(stat[8:], rights)
	c.Write(uint32(s[1]), stat[:])
	return errnoSuccess
}

func (c *Call) putUint32(ptr, v uint32) {
	binary.LittleEndian.PutUint32(c.Read(ptr, 4), v)
}

func (c *Call) putUint64(ptr uint32, v uint64) {
	binary.LittleEndian.PutUint64(c.Read(ptr, 8), v)
}
