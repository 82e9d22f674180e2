// Package abi carries the published JSON Schema of manifests, so that the command
// line can put it beside a new plugin.
package abi

import _ "embed"

// ManifestSchema is manifest.schema.json.
//
//go:embed manifest.schema.json
var ManifestSchema []byte
