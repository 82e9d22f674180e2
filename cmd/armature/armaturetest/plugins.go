package armaturetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// Plugins is the folder of the plugins for all sites, which is made with the default
// site.
func (in *Installation) Plugins() string {
	in.T.Helper()
	folder := filepath.Join(in.Data, "plugins")
	if _, stderr, _ := in.Try("", "site", "new", "default"); !exists(folder) { // the site may be there
		in.T.Fatal(stderr)
	}
	return folder
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Drop puts a file into the folder of the plugins for all sites.
func (in *Installation) Drop(name, text string) {
	in.T.Helper()
	path := filepath.Join(in.Data, "plugins", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		in.T.Fatal(err)
	}
	Put(in.T, path, []byte(text))
}

// Message is what a method answers, or "" if it fails.
func (s *Server) Message(path string, args map[string]any) string {
	var body any // nil, not a map that is nil
	if args != nil {
		body = args
	}
	status, answer := s.Call("POST", "/api/method/"+path, body)
	if status != http.StatusOK {
		return ""
	}
	return fmt.Sprint(answer["message"])
}

// Install installs a plugin over HTTP, as a program does.
func (s *Server) Install(wasm []byte) map[string]any {
	s.T.Helper()
	return s.Want("POST", "/api/method/framework.plugins.install",
		map[string]any{"wasm": base64.StdEncoding.EncodeToString(wasm)}).(map[string]any)
}

// builtTodo is the todo example; empty where it could not be built.
var builtTodo struct {
	once   sync.Once
	bundle []byte
}

// Todo builds the todo example into dir and returns the file.
func (in *Installation) Todo(dir string) string {
	in.T.Helper()
	file := filepath.Join(dir, "todo.wasm")
	builtTodo.once.Do(func() {
		built := filepath.Join(filepath.Dir(compiled), "todo.wasm")
		in.Run("plugin", "build", filepath.Join(Root(in.T), "examples", "todo"), "-o", built)
		text, err := os.ReadFile(built)
		if err != nil {
			in.T.Fatal(err)
		}
		builtTodo.bundle = text
	})
	if err := os.WriteFile(file, builtTodo.bundle, 0o600); err != nil {
		in.T.Fatal(err)
	}
	return file
}

// Upload posts a form with a bundle, as curl -F does.
func (s *Server) Upload(auth, path string, file []byte, fields ...string) (int, map[string]any) {
	s.T.Helper()
	return s.UploadAs("todo.wasm", auth, path, file, fields...)
}

// UploadAs posts a form with a file of any name.
func (s *Server) UploadAs(name, auth, path string, file []byte, fields ...string) (int, map[string]any) {
	s.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			s.T.Fatal(err)
		}
	}
	if file != nil {
		part, err := form.CreateFormFile("file", name)
		if err != nil {
			s.T.Fatal(err)
		}
		if _, err := part.Write(file); err != nil {
			s.T.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		s.T.Fatal(err)
	}
	return s.Send(auth, path, form.FormDataContentType(), &body)
}

func (s *Server) Send(auth, path, media string, body io.Reader) (int, map[string]any) {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.URL+path, body)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Authorization", auth)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.T.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

// Script installs a plugin of one script over HTTP and approves what it is named;
// nil leaves it waiting.
func (s *Server) Script(in *Installation, name, code string, manifest map[string]any, approve []string) {
	s.T.Helper()
	dir := filepath.Join(s.T.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.T.Fatal(err)
	}
	manifest["name"], manifest["version"], manifest["abi"] = name, "1", 1
	if manifest["grants"] == nil {
		manifest["grants"] = []string{} // without, a script asks for everything that is not the platform's
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		s.T.Fatal(err)
	}
	for file, content := range map[string][]byte{"main.js": []byte(code), "armature.json": text} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			s.T.Fatal(err)
		}
	}
	built := filepath.Join(dir, "out.wasm")
	in.Run("plugin", "build", dir, "-o", built)
	wasm, err := os.ReadFile(built)
	if err != nil {
		s.T.Fatal(err)
	}
	done := s.Install(wasm)
	if approve == nil {
		return
	}
	s.Want("POST", "/api/method/framework.plugins.approve", map[string]any{"plugin": done["plugin"], "grants": approve})
}
