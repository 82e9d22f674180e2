package serve_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// halfSent is a request whose body has only begun: the server waits for the
// rest in the middle of the request.
type halfSent struct {
	t    *testing.T
	conn net.Conn
}

const firstHalf, secondHalf = `{"description": "sent`, ` while it stops"}`

func sendHalf(s *armaturetest.Server) *halfSent {
	s.T.Helper()
	addr := strings.TrimPrefix(s.URL, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { conn.Close() })
	// The server says 100 Continue when it begins to read the body, which is well
	// into the request.
	fmt.Fprintf(conn, "POST /api/resource/ToDo HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n%s", addr, s.Auth, len(firstHalf+secondHalf), firstHalf)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		s.T.Fatalf("%q, %v", line, err)
	}
	return &halfSent{s.T, conn}
}

func (h *halfSent) finish() string {
	h.t.Helper()
	_, _ = io.WriteString(h.conn, secondHalf)
	_ = h.conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
	text, _ := io.ReadAll(h.conn)
	return string(text)
}

func sendSignal(s *armaturetest.Server, sig os.Signal) {
	s.T.Helper()
	if err := s.Process.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
}

func TestStopLetsRequestsEnd(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve("--drain-delay", "300ms")
		s.Auth = in.Keys("Administrator")
		half := sendHalf(s)
		sendSignal(s, syscall.SIGTERM)
		armaturetest.Eventually(t, "it is not ready", func() bool {
			status, _ := s.CallAs("", "GET", "/readyz", nil)
			return status == http.StatusServiceUnavailable
		})
		if status, _ := s.CallAs("", "GET", "/healthz", nil); status != http.StatusOK {
			t.Errorf("while it stops it is not alive: %d", status)
		}
		armaturetest.Eventually(t, "nothing listens any more", func() bool {
			c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		if text := half.finish(); !strings.Contains(text, "200 OK") || !strings.Contains(text, "sent while it stops") {
			t.Errorf("the request in flight got %s", text)
		}
		if err := <-s.Done; err != nil {
			t.Errorf("it ended with %v\n%s", err, s.Log)
		}
		s.Done <- nil
		again := in.Serve()
		again.Auth = s.Auth
		if list := again.Want("GET", "/api/resource/ToDo", nil).([]any); len(list) != 1 {
			t.Errorf("afterwards there are %v", list)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	in := armaturetest.New(t)
	for _, tt := range []struct {
		name    string
		timeout string
		signals int
	}{{"by its timeout", "100ms", 1}, {"by a second signal", "1h", 2}} {
		t.Run(tt.name, func(t *testing.T) {
			s := in.Serve("--shutdown-timeout", tt.timeout)
			s.Auth = in.Keys("Administrator")
			sendHalf(s)
			sendSignal(s, syscall.SIGTERM)
			armaturetest.Eventually(t, "it says that it stops", func() bool { return strings.Contains(s.Log.String(), "shutting down") })
			if tt.signals == 2 {
				sendSignal(s, syscall.SIGTERM)
			}
			select {
			case err := <-s.Done:
				s.Done <- err
				if err == nil {
					t.Error("a request was cut, and it says that all is well")
				}
			case <-time.After(2 * time.Minute):
				t.Fatalf("it does not end\n%s", s.Log)
			}
		})
	}
}

func TestReload(t *testing.T) {
	in := armaturetest.New(t)
	dir := t.TempDir()
	cert, key, file := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "armature.json")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writePair(t, cert, key, 1)
	settings := `{"tls_cert": "` + cert + `", "tls-key": "` + key + `", "hsts": "1h", "metrics-token": "hidden" %s}`
	write(file, fmt.Sprintf(settings, ""))
	s := in.Serve("--config", file)
	ping := func() int64 {
		t.Helper()
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		res, err := c.Get(s.URL + "/api/method/ping")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Header.Get("Strict-Transport-Security") != "max-age=3600" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	requests := func() int { return strings.Count(s.Log.String(), "msg=request ") }
	hangup := func(want string) {
		t.Helper()
		before := strings.Count(s.Log.String(), want)
		sendSignal(s, syscall.SIGHUP)
		defer func() {
			if t.Failed() {
				t.Log(s.Log)
			}
		}()
		armaturetest.Eventually(t, want, func() bool { return strings.Count(s.Log.String(), want) > before })
	}

	if n := ping(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	armaturetest.Eventually(t, "the request is logged", func() bool { return requests() == 1 })

	writePair(t, cert, key, 2)
	write(file, fmt.Sprintf(settings, `, "access_log": false, "slow-query-ms": 0, "listen": "127.0.0.1:1", "metrics_token": "hidden too"`))
	hangup("is set twice") // a wrong file changes nothing but the certificate
	if n := ping(); n != 2 {
		t.Errorf("after the first reload: certificate %d", n)
	}
	armaturetest.Eventually(t, "the request is logged", func() bool { return requests() == 2 })

	write(file, strings.Replace(fmt.Sprintf(settings, `, "access_log": false, "log-level": "debug"`), "hidden", "hidden too", 1))
	hangup("level=INFO msg=reloaded")
	if !strings.Contains(s.Log.String(), "settings=[metrics-token]") || strings.Contains(s.Log.String(), "hidden") {
		t.Errorf("the log does not name what takes a restart, or shows it:\n%s", s.Log)
	}
	ping()
	write(file, fmt.Sprintf(settings, `, "access_log": true`))
	hangup("level=INFO msg=reloaded")
	ping()
	armaturetest.Eventually(t, "the last request is logged", func() bool { return requests() >= 3 })
	if n := requests(); n != 3 {
		t.Errorf("%d requests are logged, want 3\n%s", n, s.Log)
	}
	s.Stop()
}

func TestSettingsAreChecked(t *testing.T) {
	in := armaturetest.New(t)
	file := filepath.Join(t.TempDir(), "armature.json")
	tests := []struct{ name, text, want string }{
		{"a misspelt key", `{"lisen": ":80"}`, `"lisen" is not a setting; there are access-log, `},
		{"a flag that is no setting", `{"config": "x"}`, "is not a setting"},
		{"an object", `{"listen": {"port": 80}}`, "listen must be a string, a number, true or false"},
		{"nothing", `{"listen": null}`, "must be a string"},
		{"twice", `{"log-level": "info", "log_level": "warn"}`, "set twice"},
		{"not an object", `["listen"]`, "must be a JSON object"},
		{"not JSON", `listen: 80`, "must be a JSON object"},
		{"cut off", `{"listen": "x"`, "settings: "},
		{"more behind it", `{} {}`, "something after"},
		{"a value that does not fit", `{"shutdown-timeout": "soon"}`, file + ": shutdown-timeout: "},
		{"a level that is none", `{"log-level": "loud"}`, "log-level"},
		{"a negative time", `{"slow-query-ms": -1}`, "--slow-query-ms -1: must be 0 or more"},
		{"HSTS alone", `{"hsts": "1h"}`, "TLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, stderr, err := in.Try("", "serve", "--listen", "127.0.0.1:0", "--config", file)
			if err == nil || !strings.Contains(stderr, tt.want) {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}

	cmd := in.Command("serve", "--listen", "no address")
	cmd.Env = append(cmd.Env, "ARMATURE_LISTNE=:80", "ARMATURE_PORT_8000_TCP=tcp://10.0.0.1:8000", "ARMATURE_SERVICE_HOST=10.0.0.1")
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "name=ARMATURE_LISTNE") || strings.Contains(string(out), "name=ARMATURE_PORT") || strings.Contains(string(out), "name=ARMATURE_SERVICE") {
		t.Errorf("of the environment it says %s", out)
	}
}

// writePair writes a self-signed certificate with a serial number, and its key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
