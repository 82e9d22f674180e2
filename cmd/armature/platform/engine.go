package platform

import (
	"armature/runtime/compile"
	"armature/runtime/engine"
	"armature/runtime/extism"
	"armature/runtime/hostapi"
	"armature/runtime/quickjs"
)

// EngineConfig is the configuration of an engine that runs every kind of plugin, and
// compiles in processes of their own.
func EngineConfig(cfg hostapi.Config) engine.Config {
	imports := hostapi.Imports(cfg)
	return engine.Config{
		Compiler:     compile.NewProcess("plugin", CompileCommand),
		Imports:      imports,
		Interpreters: []engine.Interpreter{quickjs.New(imports)},
		Dialects:     []engine.Dialect{extism.New(cfg.Logger)},
	}
}
