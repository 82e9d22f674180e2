package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"

	"armature/runtime/engine/internal/rewrite"
)

// anonymous instances start nothing by themselves and have no name, so that any
// number of them can live.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// cachePath is where this build's compiled code is kept. The runtime adds its
// own version; ours is that of the rewriter.
func (e *Engine) cachePath() string {
	return filepath.Join(e.cfg.CacheDir, fmt.Sprintf("rewrite-%d", rewrite.Version))
}

func (e *Engine) openCache() error {
	if err := os.MkdirAll(e.cachePath(), 0o700); err != nil {
		return fmt.Errorf("make the compilation cache: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(e.cachePath())
	if err != nil {
		return fmt.Errorf("open the compilation cache: %w", err)
	}
	e.cache = cache
	return nil
}

// compileCached compiles a rewritten binary, from the cache if it is there, on this
// goroutine: of others a panic of the compiler could not be caught. A damaged cache
// is emptied rather than believed or reported.
func (e *Engine) compileCached(ctx context.Context, binary []byte) (wazero.CompiledModule, error) {
	compiled, err := e.rt.CompileModule(ctx, binary)
	if err == nil || e.cache == nil || !strings.Contains(err.Error(), "compilationcache") {
		return compiled, err
	}
	e.log.Warn("the compilation cache is damaged and will be emptied", "err", err)
	files, _ := filepath.Glob(filepath.Join(e.cachePath(), "*", "*"))
	for _, f := range files {
		_ = os.Remove(f)
	}
	return e.rt.CompileModule(ctx, binary)
}
