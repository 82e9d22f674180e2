package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hostility is one way to take from others.
type hostility struct {
	name  string
	conns int
	next  request
	holds bool // sends half of each request and waits
}

// hostileScript is the plugin of the hostile site, and of the other one, which never
// calls it.
const hostileScript = `
export function spin() { for (;;) {} }
export function grow() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(all.length)); }
`

// hostilities are the ways, with what they need on the site.
func hostilities(ctx context.Context, address, auth string) ([]hostility, error) {
	const todo = "/api/resource/ToDo"
	if _, err := newDocument(ctx, address, hostileHost, todo, auth, map[string]any{"description": strings.Repeat("long text ", 400_000)}); err != nil {
		return nil, err
	}
	aliases := make([]string, 40)
	for i := range aliases {
		aliases[i] = fmt.Sprintf(`"description as a%d"`, i)
	}
	like := "%" + strings.Repeat("t%x%", 4000)
	credentials, err := json.Marshal(map[string]string{"usr": "Administrator", "pwd": loginPassword})
	if err != nil {
		return nil, err
	}
	styled, err := json.Marshal(map[string]string{"description": `<p style="color:` + strings.Repeat("(", 400_000) + `">x</p>`})
	if err != nil {
		return nil, err
	}
	large := append(append([]byte(`{"description": "`), bytes.Repeat([]byte("x"), 20<<20)...), '"', '}')
	get := func(path string) request { return same(plain("GET", path, auth, nil)) }
	list := func(key, value string) request {
		return get(todo + "?limit=20&" + url.Values{key: {value}}.Encode())
	}
	return []hostility{
		{name: "guests that spin", conns: 4, next: get("/api/method/hostile.spin")},
		{name: "guests that grow", conns: 12, next: get("/api/method/hostile.grow")},
		{name: "modules that take long to compile", conns: 4, next: modules(auth)},
		{name: "a field of 4 MB aliased 40 times", conns: 4, next: list("fields", "["+strings.Join(aliases, ",")+"]")},
		{name: "bodies of 20 MB", conns: 16, next: same(plain("POST", todo, auth, large))},
		{name: "bodies held open without credentials", conns: 64, next: same(plain("POST", todo, "", large)), holds: true},
		{name: "HTML that is hard to clean", conns: 4, next: same(plain("POST", todo, auth, styled))},
		{name: "patterns of 16,000 letters", conns: 4, next: list("filters", `[["description","like","`+like+`"]]`)},
		{name: "logins", conns: 70, next: same(plain("POST", "/api/method/login", "", credentials))},
		{name: "writes", conns: 32, next: same(plain("POST", todo, auth, []byte(`{"description": "one of many"}`)))},
	}, nil
}

// same sends one text to the hostile site over and over.
func same(text []byte) request {
	text = toHostile(text)
	return func(int, int) []byte { return text }
}

func toHostile(text []byte) []byte {
	return bytes.Replace(text, []byte("Host: bench\r\n"), []byte("Host: "+hostileHost+"\r\n"), 1)
}

// run sends requests until ctx ends, whatever is answered, and returns how many were.
func (h hostility) run(ctx context.Context, address string) int {
	var answers atomic.Int64
	var work sync.WaitGroup
	for id := range h.conns {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				h.connect(ctx, address, id, &answers)
			}
		})
	}
	work.Wait()
	return int(answers.Load())
}

// connect uses one connection until it breaks or ctx ends.
func (h hostility) connect(ctx context.Context, address string, id int, answers *atomic.Int64) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		select { // the server takes none
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		text := h.next(id, n)
		if h.holds {
			text = text[:len(text)/2]
		}
		if _, err := conn.Write(text); err != nil && !h.holds {
			return
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		answers.Add(1)
		if err != nil || resp.Close || h.holds {
			return
		}
	}
}

// modules asks what installing a module would do: of one that is new each time, with
// loops in loops over many locals.
func modules(auth string) request {
	var made atomic.Uint64
	return func(int, int) []byte {
		wasm := loops(made.Add(1))
		body := []byte(`{"wasm": "` + base64.StdEncoding.EncodeToString(wasm) + `"}`)
		return toHostile(plain("POST", "/api/method/framework.plugins.plan", auth, body))
	}
}

// loops is a plugin whose only function has 100 loops inside of each other, in which
// 500 locals change.
func loops(number uint64) []byte {
	const depth, locals = 100, 500
	section := func(id byte, body ...byte) []byte {
		return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
	}
	text := func(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }
	const path = "acme.loops.run"
	code := binary.AppendUvarint([]byte{1}, locals)
	code = append(code, 0x7e) // i64
	code = append(code, bytes.Repeat([]byte{0x03, 0x40}, depth)...)
	for i := range uint64(locals) { // the first local is the argument
		code = binary.AppendUvarint(append(code, 0x20), 1+i)            // local.get
		code = binary.AppendUvarint(append(code, 0x20), 1+(i+1)%locals) // local.get
		code = binary.AppendUvarint(append(code, 0x7c, 0x21), 1+i)      // i64.add, local.set
	}
	again := []byte{0x20, 0, 0x45, 0x0d, 0, 0x0b} // each loop runs again while the argument is 0
	code = append(append(code, bytes.Repeat(again, depth)...), 0x0b)
	body := append(binary.AppendUvarint(nil, uint64(len(code))), code...)
	exports := append(append([]byte{2}, text("memory")...), 2, 0)
	exports = append(append(exports, text(path)...), 0, 0)
	manifest := fmt.Sprintf(`{"name": "acme.loops", "version": "1.0.%d", "abi": 1, "methods": [{"path": "%s"}]}`, number, path)
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range [][]byte{
		section(1, 1, 0x60, 1, 0x7f, 0), section(3, 1, 0), section(5, 1, 0, 1), section(7, exports...),
		section(10, append([]byte{1}, body...)...), section(0, append(text("number"), fmt.Sprint(number)...)...),
		section(0, append(text("armature.manifest"), manifest...)...),
	} {
		wasm = append(wasm, s...)
	}
	return wasm
}
