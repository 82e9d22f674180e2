package extism

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// services are Extism's functions that reach beyond the arena.
func (d *Dialect) services() []engine.Import {
	none := types()
	all := []engine.Import{
		env("config_get", types(l), types(l), configGet),
		env("var_get", types(l), types(l), varGet),
		env("var_set", types(l, l), none, varSet),
		env("http_request", types(l, l), types(l), httpRequest),
		env("http_status_code", none, types(i), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = uint64(uint32(k.status)) }),
		env("http_headers", none, types(l), func(k *kernel, c *engine.Call, s []uint64) { s[0] = k.put(c, k.headers) }),
		env("get_log_level", none, types(i), func(_ *kernel, _ *engine.Call, s []uint64) { s[0] = levelDebug }),
	}
	for _, log := range []struct {
		name  string
		level slog.Level
	}{
		{"log_trace", slog.LevelDebug}, {"log_debug", slog.LevelDebug}, {"log_info", slog.LevelInfo},
		{"log_warn", slog.LevelWarn}, {"log_error", slog.LevelError},
	} {
		all = append(all, env(log.name, types(l), none, func(k *kernel, c *engine.Call, s []uint64) {
			hostapi.Log(c, d.log, log.level, k.argument(c, s[0]))
			k.discard(c, s[0]) // as Extism does
		}))
	}
	return all
}

// levelDebug is what get_log_level answers, always, so that a plugin takes the same
// way whoever reads its log.
const levelDebug = 1

// ask asks for a capability. An error ends the call, as it does in Extism.
func ask(c *engine.Call, name string, request []byte) []byte {
	answer, err := hostapi.Ask(c, name, request)
	if err != nil {
		c.Abort(err)
	}
	return answer
}

// configGet answers a setting of the plugin: a string as it is, anything else as
// JSON.
func configGet(k *kernel, c *engine.Call, s []uint64) {
	key := k.key(c, "config_get", s[0])
	s[0] = 0
	if len(key) == 0 {
		return
	}
	s[0] = k.put(c, plain(ask(c, abi.ConfigGet, keyed(key))))
}

// maxKey bounds a key, in bytes. The host copies it before it knows what for.
const maxKey = 4 << 10

// key is a block that names something.
func (k *kernel) key(c *engine.Call, name string, p uint64) []byte {
	key := k.argument(c, p)
	if len(key) > maxKey {
		c.Abort(fault.New(fault.BadRequest, "", "%s: a key has at most %d bytes", name, maxKey))
	}
	c.Spend(byteFuel * uint64(len(key)))
	return key
}

// keyed is {"key": key}.
func keyed(key []byte) []byte {
	b := doctype.AppendString([]byte(`{"key":`), valid(key))
	return append(b, '}')
}

// plain is the text of a JSON string, the text of any other value, and nothing
// for null.
func plain(value []byte) []byte {
	if string(value) == "null" {
		return nil
	}
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return []byte(text)
	}
	return value
}

// byteFuel is the fuel for reading or writing a byte of JSON.
const byteFuel = 8

// httpRequest makes a request by http_fetch. Address 0 stands for an answer
// without a body.
func httpRequest(k *kernel, c *engine.Call, s []uint64) {
	k.status, k.headers = 0, nil
	var in struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
	}
	asked, body := k.argument(c, s[0]), k.argument(c, s[1])
	if c.Warm() {
		ask(c, abi.HTTPFetch, nil) // says why not
	}
	hostapi.Fits(c, abi.HTTPFetch, uint64(len(asked))+uint64(len(body)))
	c.Spend(byteFuel * (uint64(len(asked)) + uint64(len(body))))
	if err := json.Unmarshal(asked, &in); err != nil {
		c.Abort(fault.Wrap(fault.BadRequest, "", err, "http_request: the request is not the JSON it should be: %v", err))
	}
	request, err := json.Marshal(map[string]any{
		"url": in.URL, "method": strings.ToUpper(in.Method), "headers": in.Headers, "body_base64": body,
	})
	if err != nil {
		c.Abort(err)
	}
	var out struct {
		Status  int32           `json:"status"`
		Headers json.RawMessage `json:"headers"`
		Body    string          `json:"body"`
		Base64  []byte          `json:"body_base64"`
	}
	answer := ask(c, abi.HTTPFetch, request)
	c.Spend(byteFuel * uint64(len(answer)))
	if err := json.Unmarshal(answer, &out); err != nil {
		c.Abort(err)
	}
	k.status, k.headers = out.Status, out.Headers
	if out.Base64 != nil {
		s[0] = k.put(c, out.Base64)
		return
	}
	s[0] = k.put(c, []byte(out.Body))
}

// maxVars bounds what a call has in variables, in bytes, as Extism does.
const maxVars = 1 << 20

// varPrefix keeps variables apart from what armature1 keeps in the same store.
const varPrefix = "extism:"

// varGet answers a variable: as this call has set it, or as the plugin's store has
// it where the plugin may use that.
func varGet(k *kernel, c *engine.Call, s []uint64) {
	key := string(k.key(c, "var_get", s[0]))
	value, known := k.vars[key]
	if !known && !c.Warm() {
		answer, ok := store(c, abi.KVGet, keyed([]byte(varPrefix+key)))
		if ok {
			value, _ = base64.StdEncoding.DecodeString(string(plain(answer)))
		}
	}
	s[0] = k.put(c, value)
}

// varSet sets a variable, or removes it, for the rest of the call, and in the
// plugin's store where the plugin may use that.
func varSet(k *kernel, c *engine.Call, s []uint64) {
	key := string(k.key(c, "var_set", s[0]))
	k.setVar(c, key, k.argument(c, s[1]), s[1] != 0)
	if !c.Warm() {
		request := keyed([]byte(varPrefix + key))
		if s[1] == 0 {
			store(c, abi.KVDelete, request)
		} else {
			request = append(request[:len(request)-1], `,"value":"`...)
			request = append(base64.StdEncoding.AppendEncode(request, k.vars[key]), `"}`...)
			store(c, abi.KVSet, request)
		}
	}
	k.discard(c, s[0]) // as Extism does
	k.discard(c, s[1])
}

// varBytes is what a variable costs beside its key and its value.
const varBytes = 64

// setVar keeps a copy of the value, or that there is none.
func (k *kernel) setVar(c *engine.Call, key string, value []byte, there bool) {
	total := k.varBytes + varBytes + len(key) + len(value)
	if old, known := k.vars[key]; known {
		total -= varBytes + len(key) + len(old)
	}
	if total > maxVars {
		c.Abort(fault.New(fault.Exhausted, "", "var_set: over %d bytes of variables", maxVars))
	}
	c.Spend(byteFuel * uint64(len(value)))
	if !k.varsOwn { // they are of the snapshot, which others share
		c.Spend(varBytes * uint64(len(k.vars)))
		own := make(map[string][]byte, len(k.vars)+1)
		maps.Copy(own, k.vars)
		k.vars, k.varsOwn = own, true
	}
	k.vars[key], k.varBytes = nil, total
	if there {
		k.vars[key] = append([]byte{}, value...)
	}
}

// store asks the plugin's store. Without the grant, or a store, variables live as
// long as the call; that is told by the error, which a repeated call is told too.
func store(c *engine.Call, name string, request []byte) (answer []byte, ok bool) {
	answer, err := hostapi.Ask(c, name, request)
	switch {
	case err == nil:
		return answer, true
	case err.Kind == fault.Permission || err.Kind == fault.NotImplemented:
		return nil, false
	}
	c.Abort(err)
	return nil, false
}
