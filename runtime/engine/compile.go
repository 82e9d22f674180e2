package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"armature/runtime/engine/internal/rewrite"
)

// anonymous instances start nothing by themselves and have no name, so that any
// number of them can live.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// openCache opens where this build's compiled code is kept. The runtime adds its
// own version; ours is that of the rewriter. Where that cannot be had the engine
// works without.
func (e *Engine) openCache() {
	dir := filepath.Join(e.cfg.CacheDir, fmt.Sprintf("rewrite-%d", rewrite.Version))
	kept, files, err := openCodeCache(dir, e.log)
	if err != nil {
		e.log.Warn("compiled code is not kept", "folder", dir, "error", err)
		return
	}
	e.kept, e.cache = kept, files
}

// compileCached compiles a rewritten binary, from the cache if it is there, on this
// goroutine: of others a panic of the compiler could not be caught.
func (e *Engine) compileCached(ctx context.Context, binary []byte) (wazero.CompiledModule, error) {
	if e.kept == nil {
		return e.rt.CompileModule(ctx, binary)
	}
	return e.kept.compile(ctx, e.rt, binary)
}
