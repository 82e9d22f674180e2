package hostapi

import (
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Config is what the host functions need that no call brings.
type Config struct {
	Now    func() time.Time // what guests are told; nil: time.Now
	Random io.Reader        // nil: crypto/rand
	Logger *slog.Logger     // for guests that log while they initialise; nil: nowhere
}

// Imports returns every host function, for engine.Config. All modules link to
// all of them: whether a call may use one is asked when it does.
func Imports(cfg Config) []engine.Import {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	all := []engine.Import{
		function(abi.Input, 2, i32, input),
		function(abi.Output, 2, none, output),
		function(abi.Throw, 3, none, throw),
		function(abi.Take, 2, i32, take),
		function(abi.Log, 3, none, logTo(cfg.Logger)),
		function(abi.Now, 0, i64, clock(cfg.Now)),
		function(abi.Random, 2, none, random(cfg.Random)),
	}
	for _, c := range operations {
		all = append(all, function(c.name, 4, i32, c.serve()))
	}
	return all
}

var (
	none []engine.ValueType
	i32  = []engine.ValueType{engine.I32}
	i64  = []engine.ValueType{engine.I64}
)

func function(name string, params int, results []engine.ValueType, fn func(*engine.Call, []uint64)) engine.Import {
	im := engine.Import{Module: abi.Module, Name: name, Results: results, Fn: fn}
	for range params {
		im.Params = append(im.Params, engine.I32)
	}
	return im
}

// Names lists the host functions by name.
func Names() []string {
	return append(abi.Imports(), abi.Capabilities()...)
}
