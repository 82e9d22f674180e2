package abi

import "strings"

// Extism is the second ABI: modules built for that host run unmodified. Its import
// modules are ExtismEnv, the functions of its kernel, and ExtismUser, in which the
// capabilities of ABI version 1 are offered under names that begin with
// ExtismPrefix.
const (
	Extism       = "extism"
	ExtismEnv    = "extism:host/env"
	ExtismUser   = "extism:host/user"
	ExtismPrefix = "armature_"
)

// Uses returns the capabilities that an imported function stands for. Without an
// optional one the function does less; one that is not optional has to be asked
// for.
func Uses(module, name string) (capabilities []string, optional bool) {
	switch {
	case module == Module:
		return []string{name}, false
	case module == ExtismUser:
		if name, ok := strings.CutPrefix(name, ExtismPrefix); ok {
			return []string{name}, false
		}
	case module != ExtismEnv:
	case name == "http_request":
		return []string{HTTPFetch}, false
	case name == "config_get":
		return []string{ConfigGet}, false
	case name == "var_get":
		return []string{KVGet}, true
	case name == "var_set":
		return []string{KVSet, KVDelete}, true
	}
	return nil, false
}
