// Package conformance validates the OpenAPI document of a running server with a
// validator library. It is a module of its own, which imports nothing of the
// product, so that the library is no dependency of it.
package conformance

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

const oddDocType = `{"name": "Odd-Name With_Parts", "module": "Custom", "custom": 1, "fields": [
	{"fieldname": "a", "fieldtype": "Select", "options": "x\ny"},
	{"fieldname": "b", "fieldtype": "Link", "options": "User"},
	{"fieldname": "c", "fieldtype": "Table", "options": "Has Role"},
	{"fieldname": "d", "fieldtype": "JSON"}],
	"permissions": [{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}]}`

func TestDocumentIsOpenAPI31(t *testing.T) {
	origin, authorization := serve(t)
	if status, text := request(t, http.MethodPost, origin+"/api/resource/DocType", authorization, oddDocType); status != http.StatusOK {
		t.Fatalf("make a DocType: %d %s", status, text)
	}
	for name, credentials := range map[string]string{"administrator": authorization, "guest": ""} {
		t.Run(name, func(t *testing.T) {
			status, text := request(t, http.MethodGet, origin+"/api/openapi.json", credentials, "")
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, text)
			}
			validate(t, text)
		})
	}
}

func validate(t *testing.T, text string) {
	t.Helper()
	doc, err := libopenapi.NewDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s", p.Message, p.Reason)
		}
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	if model.Model.Paths.PathItems.Len() == 0 {
		t.Error("the document describes nothing")
	}
}

// serve builds the server, runs it on an empty folder until the test ends, and
// returns its origin and the Administrator's credentials.
func serve(t *testing.T) (origin, authorization string) {
	t.Helper()
	data, binary := t.TempDir(), os.Getenv("ARMATURE_TEST_BINARY")
	if binary == "" { // which make test builds once for all
		binary = filepath.Join(t.TempDir(), "armature")
		if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/armature").CombinedOutput(); err != nil {
			t.Fatalf("build the server: %v\n%s", err, out)
		}
	}
	server := exec.Command(binary, "serve", "--data", data, "--listen", "127.0.0.1:0")
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	lines := bufio.NewScanner(out)
	for origin == "" && lines.Scan() {
		origin = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	if origin == "" {
		t.Fatal("the server did not say where it serves")
	}
	go io.Copy(io.Discard, out) // until the server ends
	text, err := exec.Command(binary, "user", "keys", "Administrator", "--data", data, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	return origin, "token " + keys.Key + ":" + keys.Secret
}

func request(t *testing.T, verb, url, authorization, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), verb, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(all)
}
