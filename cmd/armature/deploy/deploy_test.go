// Package deploy checks examples/deploy against the binary and against the
// programs that the files are for. It is a module of its own, which imports
// nothing of the product, so that the types of Kubernetes are no dependency of
// it.
package deploy

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var top = filepath.Join("..", "..", "..")

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "examples", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// program finds a program, or skips the test; on a build machine nothing may be
// missing.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
	}
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	return path
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build builds the binary that the Dockerfile builds. Its -trimpath is left to who runs
// the tests: without, everything would be compiled once more.
func build(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^RUN CGO_ENABLED=0 go build -trimpath .* -o /out/armature (\S+)$`).FindStringSubmatch(read(t, "Dockerfile"))
	if line == nil {
		t.Fatal("the Dockerfile builds in another way than this test knows")
	}
	binary := filepath.Join(t.TempDir(), "armature")
	cmd := exec.Command("go", "build", "-o", binary, line[1])
	cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// flags are those that serve has.
func flags(t *testing.T, binary string) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^ +--([a-z-]+)`).FindAllStringSubmatch(output(t, binary, "serve", "--help"), -1) {
		list = append(list, m[1])
	}
	if len(list) < 10 {
		t.Fatalf("serve has the flags %q", list)
	}
	return list
}

// TestNamesExist compares every setting and variable that the files speak of with
// the binary.
func TestNamesExist(t *testing.T) {
	known := flags(t, build(t))
	variables := []string{"ARMATURE_SECRET_KEY", "ARMATURE_ADMIN_PASSWORD", "ARMATURE_BACKUP_PASSPHRASE"}
	for _, f := range known {
		variables = append(variables, "ARMATURE_"+strings.ToUpper(strings.ReplaceAll(f, "-", "_")))
	}
	for _, name := range []string{"Dockerfile", "armature.service", "kubernetes.yaml", "compose.yaml", "README.md", "nginx.conf", "haproxy.cfg"} {
		text := read(t, name)
		for _, v := range regexp.MustCompile(`ARMATURE_[A-Z_]*[A-Z]`).FindAllString(text, -1) {
			if !slices.Contains(variables, v) {
				t.Errorf("%s speaks of %s, which is no setting", name, v)
			}
		}
		for _, m := range regexp.MustCompile(`--(drain|shutdown|metrics|log|tls|acme|slow|access|listen|data|config|redis|database|redirect)[a-z-]*`).FindAllString(text, -1) {
			if !slices.Contains(known, strings.TrimPrefix(m, "--")) {
				t.Errorf("%s speaks of %s, which is no flag", name, m)
			}
		}
	}
	// A word in backquotes with a hyphen is a setting.
	for _, m := range regexp.MustCompile("`([a-z]+(-[a-z]+)+)`").FindAllStringSubmatch(read(t, "README.md"), -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("README.md speaks of %s, which is no setting", m[1])
		}
	}
	for name, text := range map[string]string{"armature.json": read(t, "armature.json"), "kubernetes.yaml": kubernetesSettings(t)} {
		var settings map[string]any
		if err := json.Unmarshal([]byte(text), &settings); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for key := range settings {
			if !slices.Contains(known, key) {
				t.Errorf("%s sets %s, which is no setting", name, key)
			}
		}
	}
}

func TestSystemd(t *testing.T) {
	analyze := program(t, "systemd-analyze")
	unit := filepath.Join(t.TempDir(), "armature.service")
	text := strings.Replace(read(t, "armature.service"), "/usr/local/bin/armature", "/bin/true", 1)
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "verify", "--man=no", unit)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "armature.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestLoadBalancers(t *testing.T) {
	dir := t.TempDir()
	cert := writePair(t, dir)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		text = strings.NewReplacer("/etc/armature/tls/cert.pem", cert, "/etc/armature/tls/key.pem", cert).Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("nginx", func(t *testing.T) {
		nginx := program(t, "nginx")
		path := write("nginx.conf", "pid "+dir+"/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+read(t, "nginx.conf")+"}\n")
		if out := output(t, nginx, "-t", "-e", "stderr", "-p", dir, "-c", path); strings.Contains(out, "[warn]") {
			t.Error(out)
		}
	})
	t.Run("haproxy", func(t *testing.T) {
		haproxy := program(t, "haproxy")
		if out := output(t, haproxy, "-c", "-f", write("haproxy.cfg", read(t, "haproxy.cfg"))); strings.Contains(out, "[WARNING]") {
			t.Error(out)
		}
	})
}

// TestScratch runs the binary as the image does: nothing but it and an empty
// folder, without root.
func TestScratch(t *testing.T) {
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("only root can change the root folder")
		}
		t.Skip("only root can change the root folder")
	}
	const user = 65532
	if text := read(t, "Dockerfile"); !strings.Contains(text, fmt.Sprintf("USER %d:%d", user, user)) || !strings.Contains(text, "\nFROM scratch\n") {
		t.Error("the Dockerfile runs as somebody else, or from something")
	}
	text, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "armature"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "tmp"} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, user, user); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	// A script is read by another process of the program, which has to be found.
	script := filepath.Join(root, "data", "plugins", "hi.js")
	if err := os.Mkdir(filepath.Dir(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("export const manifest = {methods: {there: {allow_guest: true}}}\nexport function there() {}"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/armature", args...)
		cmd.Dir, cmd.Env = "/", []string{"ARMATURE_DATA=/data", "ARMATURE_LOG_FORMAT=json", "ARMATURE_LISTEN=127.0.0.1:0"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		return cmd
	}
	// Time zones are in the binary.
	for _, args := range [][]string{{"site", "new", "default"}, {"site", "config", "default", "set", "time_zone", `"Europe/Paris"`}} {
		if out, err := inside(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	cmd := inside("serve")
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "serves ")
	if err != nil || !ok {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("it says %q, %v\n%s", line, err, &log)
	}
	for _, path := range []string{"/readyz", "/api/method/ping", "/login", "/api/method/hi.there"} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, _ = io.Copy(io.Discard, res.Body); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, res.StatusCode, &log)
		}
		res.Body.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
}

// writePair writes a self-signed certificate and its key into one file.
func writePair(t *testing.T, dir string) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"docs.example.org"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	path := filepath.Join(dir, "cert.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
