package link

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"armature/runtime/engine/internal/call"
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

// WASI is WASI preview 1 without a system behind it: no files, no environment,
// no arguments; standard output goes to the call, standard input is at its
// end, clocks and randomness are the host's. It is ours rather than the
// runtime's own because that one binds output, clock and exit to an instance,
// and ours serve one call after another from different sites.
//
// Pointers outside the memory end the call, as they do for our own imports.
func WASI(clocks Clocks) []Func {
	const p, l = call.I32, call.I64 // a pointer or number; a long
	fs := []Func{
		wasiFunc("args_sizes_get", wasiNone, p, p),
		wasiFunc("args_get", wasiOK, p, p),
		wasiFunc("environ_sizes_get", wasiNone, p, p),
		wasiFunc("environ_get", wasiOK, p, p),
		wasiFunc("clock_res_get", wasiClockRes, p, p),
		wasiFunc("clock_time_get", clocks.clockTime, p, l, p),
		wasiFunc("random_get", wasiRandom, p, p),
		wasiFunc("sched_yield", wasiOK),
		wasiFunc("poll_oneoff", clocks.poll, p, p, p, p),
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
		params []call.ValueType
	}{
		{"fd_advise", []call.ValueType{p, l, l, p}},
		{"fd_allocate", []call.ValueType{p, l, l}},
		{"fd_fdstat_set_rights", []call.ValueType{p, l, l}},
		{"fd_filestat_get", []call.ValueType{p, p}},
		{"fd_filestat_set_size", []call.ValueType{p, l}},
		{"fd_filestat_set_times", []call.ValueType{p, l, l, p}},
		{"fd_pread", []call.ValueType{p, p, p, l, p}},
		{"fd_prestat_get", []call.ValueType{p, p}},
		{"fd_prestat_dir_name", []call.ValueType{p, p, p}},
		{"fd_pwrite", []call.ValueType{p, p, p, l, p}},
		{"fd_readdir", []call.ValueType{p, p, p, l, p}},
		{"fd_renumber", []call.ValueType{p, p}},
		{"path_create_directory", []call.ValueType{p, p, p}},
		{"path_filestat_get", []call.ValueType{p, p, p, p, p}},
		{"path_filestat_set_times", []call.ValueType{p, p, p, p, l, l, p}},
		{"path_link", []call.ValueType{p, p, p, p, p, p, p}},
		{"path_open", []call.ValueType{p, p, p, p, p, l, l, p, p}},
		{"path_readlink", []call.ValueType{p, p, p, p, p, p}},
		{"path_remove_directory", []call.ValueType{p, p, p}},
		{"path_rename", []call.ValueType{p, p, p, p, p, p}},
		{"path_symlink", []call.ValueType{p, p, p, p, p}},
		{"path_unlink_file", []call.ValueType{p, p, p}},
		{"sock_accept", []call.ValueType{p, p, p}},
		{"sock_recv", []call.ValueType{p, p, p, p, p, p}},
		{"sock_send", []call.ValueType{p, p, p, p, p}},
		{"sock_shutdown", []call.ValueType{p, p}},
	}
	for _, f := range noFile {
		fs = append(fs, wasiFunc(f.name, wasiNoFile, f.params...))
	}
	return append(fs, procExit)
}

// procExit ends the call.
var procExit = Func{wasiModule, "proc_exit", []call.ValueType{call.I32}, nil,
	func(_ context.Context, s []uint64) { call.Exit(uint32(s[0])) }}

// wasiFunc makes the host function of a WASI call that returns an error number.
func wasiFunc(name string, fn func(c *call.Call, s []uint64) uint32, params ...call.ValueType) Func {
	return Func{wasiModule, name, params, []call.ValueType{call.I32},
		func(ctx context.Context, s []uint64) {
			s[0] = uint64(fn(call.Of(ctx), s))
		}}
}

func wasiOK(*call.Call, []uint64) uint32          { return errnoSuccess }
func wasiNoFile(*call.Call, []uint64) uint32      { return errnoBadf }
func wasiUnsupported(*call.Call, []uint64) uint32 { return errnoNosys }

// wasiNone answers both sizes of an empty list.
func wasiNone(c *call.Call, s []uint64) uint32 {
	putUint32(c, uint32(s[0]), 0)
	putUint32(c, uint32(s[1]), 0)
	return errnoSuccess
}

// wasiStd answers code for the three standard descriptors; there are no others.
func wasiStd(code uint32) func(*call.Call, []uint64) uint32 {
	return func(_ *call.Call, s []uint64) uint32 {
		if uint32(s[0]) > 2 {
			return errnoBadf
		}
		return code
	}
}

// ClockRealtime is the number of that clock; those of CPU time are answered with the monotonic clock.
const ClockRealtime = 0

// Clocks are what guests are told of the time.
type Clocks struct {
	Now   func() time.Time
	Epoch time.Time // zero of the monotonic clock
}

// Wall is Unix time in nanoseconds, Monotonic that since the epoch.
func (t Clocks) Wall() int64      { return t.Now().UnixNano() }
func (t Clocks) Monotonic() int64 { return int64(time.Since(t.Epoch)) }

func wasiClockRes(c *call.Call, s []uint64) uint32 {
	if uint32(s[0]) > 3 {
		return errnoInval
	}
	putUint64(c, uint32(s[1]), 1)
	return errnoSuccess
}

// clockTime reads the clock on every call, so that a guest sees no time
// from before its snapshot unless it kept some itself.
func (t Clocks) clockTime(c *call.Call, s []uint64) uint32 {
	var ns int64
	switch id := uint32(s[0]); {
	case id == ClockRealtime:
		ns = t.Wall()
	case id <= 3:
		ns = t.Monotonic()
	default:
		return errnoInval
	}
	if c.Senses != nil {
		ns = c.Senses.Clock(c, uint32(s[0]), ns)
	}
	putUint64(c, uint32(s[2]), uint64(ns))
	return errnoSuccess
}

func wasiRandom(c *call.Call, s []uint64) uint32 {
	// rand.Read never fails: it ends the process when the system has no entropy.
	b := c.Read(uint32(s[0]), uint32(s[1]))
	_, _ = rand.Read(b)
	if c.Senses != nil {
		c.Senses.Random(c, b)
	}
	return errnoSuccess
}

// wasiWrite hands standard output and error to the call.
func wasiWrite(c *call.Call, s []uint64) uint32 {
	fd, iovs, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if fd != 1 && fd != 2 {
		return errnoBadf
	}
	const maxVectors = 1024 // what POSIX systems allow
	if n > maxVectors {
		return errnoInval
	}
	var total uint32
	for vec := c.Read(iovs, n*8); len(vec) > 0; vec = vec[8:] {
		b := c.Read(binary.LittleEndian.Uint32(vec), binary.LittleEndian.Uint32(vec[4:]))
		total += uint32(len(b))
		call.Print(c, fd == 2, b)
	}
	putUint32(c, result, total)
	return errnoSuccess
}

// wasiRead finds standard input at its end.
func wasiRead(c *call.Call, s []uint64) uint32 {
	if uint32(s[0]) != 0 {
		return errnoBadf
	}
	putUint32(c, uint32(s[3]), 0)
	return errnoSuccess
}

// wasiFdstat describes the standard descriptors as character devices, which
// libraries write to line by line and never seek.
func wasiFdstat(c *call.Call, s []uint64) uint32 {
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

func putUint32(c *call.Call, ptr, v uint32) {
	binary.LittleEndian.PutUint32(c.Read(ptr, 4), v)
}

func putUint64(c *call.Call, ptr uint32, v uint64) {
	binary.LittleEndian.PutUint64(c.Read(ptr, 8), v)
}
