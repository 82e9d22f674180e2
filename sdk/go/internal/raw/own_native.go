//go:build !wasip1

package raw

// The functions below mirror own_wasip1.go.

func Input(b []byte) int32       { return host().Input(b) }
func Output(b []byte)            { host().Output(b) }
func Throw(kind int32, b []byte) { host().Throw(kind, b) }
func Take(b []byte) int32        { return host().Take(b) }
func Log(level int32, b []byte)  { host().Log(level, b) }
func Now() int64                 { return host().Now() }
func Random(b []byte)            { host().Random(b) }
