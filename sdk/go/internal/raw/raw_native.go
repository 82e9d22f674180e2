//go:build !wasip1

package raw

func host() Host {
	if current == nil {
		panic("armature: no host: outside WebAssembly start a test with stubhost.New(t)")
	}
	return current
}

// The functions below mirror raw_wasip1.go.

func Input(b []byte) int32       { return host().Input(b) }
func Output(b []byte)            { host().Output(b) }
func Throw(kind int32, b []byte) { host().Throw(kind, b) }
func Take(b []byte) int32        { return host().Take(b) }
func Log(level int32, b []byte)  { host().Log(level, b) }
func Now() int64                 { return host().Now() }
func Random(b []byte)            { host().Random(b) }

func DocGet(in, out []byte) int32           { return host().Call("doc_get", in, out) }
func DocList(in, out []byte) int32          { return host().Call("doc_list", in, out) }
func DocCount(in, out []byte) int32         { return host().Call("doc_count", in, out) }
func DocInsert(in, out []byte) int32        { return host().Call("doc_insert", in, out) }
func DocUpdate(in, out []byte) int32        { return host().Call("doc_update", in, out) }
func DocDelete(in, out []byte) int32        { return host().Call("doc_delete", in, out) }
func DocSubmit(in, out []byte) int32        { return host().Call("doc_submit", in, out) }
func DocCancel(in, out []byte) int32        { return host().Call("doc_cancel", in, out) }
func MethodCall(in, out []byte) int32       { return host().Call("method_call", in, out) }
func CallerGet(in, out []byte) int32        { return host().Call("caller_get", in, out) }
func ConfigGet(in, out []byte) int32        { return host().Call("config_get", in, out) }
func KVGet(in, out []byte) int32            { return host().Call("kv_get", in, out) }
func KVSet(in, out []byte) int32            { return host().Call("kv_set", in, out) }
func KVDelete(in, out []byte) int32         { return host().Call("kv_delete", in, out) }
func HTTPFetch(in, out []byte) int32        { return host().Call("http_fetch", in, out) }
func ConnectedRequest(in, out []byte) int32 { return host().Call("connected_request", in, out) }
func RequestGet(in, out []byte) int32       { return host().Call("request_get", in, out) }
func Respond(in, out []byte) int32          { return host().Call("respond", in, out) }
func Enqueue(in, out []byte) int32          { return host().Call("enqueue", in, out) }
