package serve_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/serve"
)

// pair writes a self-signed certificate with a serial number, and its key.
func pair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: []string{"docs.example.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	replace(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}

// replace puts a new file in the place of another, as those who renew
// certificates do.
func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// running is a server until stop, which returns what Serve did.
type running struct {
	*serve.Server
	stop func() error
}

func start(t *testing.T, c serve.Config, handler http.HandlerFunc) *running {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	s, err := serve.Listen(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, handler) }()
	stop := func() error {
		cancel()
		err := <-done
		done <- err
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return &running{s, stop}
}

// client trusts everybody: the tests look at serial numbers.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func get(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res.Body = io.NopCloser(strings.NewReader(string(text)))
	return res
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	s := start(t, serve.Config{CertFile: cert, KeyFile: key, HSTS: time.Hour}, hello)
	old := client(t)
	serial := func(c *http.Client) int64 {
		return get(t, c, s.URL()).TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	res := get(t, old, s.URL())
	if n := serial(old); n != 1 || res.Proto != "HTTP/2.0" || res.Header.Get("Strict-Transport-Security") != "max-age=3600" {
		t.Errorf("certificate %d, %s, %v", n, res.Proto, res.Header)
	}

	pair(t, cert, key, 2)
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if n := serial(client(t)); n != 2 {
		t.Errorf("after Reload a new connection gets certificate %d", n)
	}
	// The connection from before goes on, unbroken.
	reused := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL(), nil)
	if res, err := old.Do(req); err != nil || !reused {
		t.Errorf("the old connection: %v, reused %v", err, reused)
	} else {
		res.Body.Close()
	}

	// Nobody asks: files that change are seen.
	pair(t, cert, key, 3)
	deadline := time.Now().Add(2 * time.Minute)
	for serial(client(t)) != 3 {
		if time.Now().After(deadline) {
			t.Fatal("the third certificate is not used")
		}
		time.Sleep(20 * time.Millisecond)
	}

	// A key that does not fit, and half a file, leave the certificate in use.
	pair(t, cert, filepath.Join(dir, "other.pem"), 4)
	if err := s.Reload(); err == nil {
		t.Error("a key of another certificate was taken")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil {
		t.Error("a missing key was taken")
	}
	if n := serial(client(t)); n != 3 {
		t.Errorf("afterwards a new connection gets certificate %d", n)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	s := start(t, serve.Config{CertFile: cert, KeyFile: key}, hello)
	addr := strings.TrimPrefix(s.URL(), "https://")
	for version, ok := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if (err == nil) != ok {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			c.Close()
		}
	}
}

func TestRedirect(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	s := start(t, serve.Config{CertFile: cert, KeyFile: key, Redirect: "127.0.0.1:0"}, hello)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL(), "https://"))
	tests := []struct{ name, host, path, want string }{
		{"the usual port", "docs.example.test", "/app?a=1&b=%20", "https://docs.example.test/app?a=1&b=%20"},
		{"another port", "docs.example.test:8080", "/", "https://docs.example.test:" + port + "/"},
		{"IPv6", "[::1]:8080", "/a%2Fb", "https://[::1]:" + port + "/a%2Fb"},
		{"not another host", "docs.example.test", "//evil.example/x", "https://docs.example.test//evil.example/x"},
		{"a host that is none", "user@evil.example", "/", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.RedirectAddr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST "+tt.path+" HTTP/1.1\r\nHost: "+tt.host+"\r\nContent-Length: 0\r\n\r\n")
			text, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			status := "HTTP/1.1 308 "
			if tt.want == "" {
				status = "HTTP/1.1 400 "
			}
			if !strings.HasPrefix(string(text), status) || tt.want != "" && !strings.Contains(string(text), "Location: "+tt.want+"\r\n") {
				t.Errorf("got %s", text)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	entered, release := make(chan struct{}, 1), make(chan struct{})
	s := start(t, serve.Config{DrainDelay: 100 * time.Millisecond, DrainTimeout: 30 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-release
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request was cut: %v", err)
			}
		}
		hello(w, r)
	})
	slow := make(chan string, 1)
	go func() {
		res, err := client(t).Get(s.URL() + "/slow")
		if err != nil {
			slow <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		slow <- string(text)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	for !s.Draining() {
		time.Sleep(time.Millisecond)
	}
	// Load balancers have not noticed yet, and send more.
	if res := get(t, client(t), s.URL()); res.StatusCode != 200 || !res.Close {
		t.Errorf("while draining: %d, to be closed %v", res.StatusCode, res.Close)
	}
	// Then there is nothing to connect to, and the request still runs.
	addr := strings.TrimPrefix(s.URL(), "http://")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("it goes on listening")
		}
	}
	select {
	case err := <-stopped:
		t.Fatalf("it ended before the request: %v", err)
	default:
	}
	close(release)
	if text := <-slow; text != "hello" {
		t.Errorf("the request got %q", text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A proxy that ends TLS may go on in HTTP/2, and anybody in HTTP/1.1.
func TestHTTP2WithoutTLS(t *testing.T) {
	server, err := serve.Listen(serve.Config{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	}()
	for _, two := range []bool{true, false} {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(two)
		transport.Protocols.SetHTTP1(!two)
		res, err := (&http.Client{Transport: transport}).Get(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		transport.CloseIdleConnections()
		if want := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[two]; err != nil || string(text) != want {
			t.Errorf("%q %v, want %s", text, err, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDrainIsBounded has a request wait for ever, which is told to end, and one
// that does not even listen to that.
func TestDrainIsBounded(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		entered, cut := make(chan struct{}), make(chan error, 1)
		hold := make(chan struct{})
		s := start(t, serve.Config{DrainTimeout: 50 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
			cut <- r.Context().Err()
			if deaf {
				<-hold
			}
		})
		go func() {
			if res, err := client(t).Get(s.URL()); err == nil {
				res.Body.Close()
			}
		}()
		<-entered
		began := time.Now()
		err := s.stop()
		if took := time.Since(began); took > time.Minute || (err != nil) != deaf {
			t.Errorf("deaf %v: %v after %v", deaf, err, took)
		}
		if err := <-cut; !errors.Is(err, context.Canceled) {
			t.Errorf("the request was told %v", err)
		}
		close(hold)
	}
}

func TestListenRefuses(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		name string
		c    serve.Config
		want string
	}{
		{"a certificate alone", serve.Config{CertFile: cert}, "needs its key"},
		{"a missing file", serve.Config{CertFile: cert, KeyFile: key + "x"}, "no such file"},
		{"a key as certificate", serve.Config{CertFile: key, KeyFile: cert}, "TLS certificate"},
		{"two sources", serve.Config{CertFile: cert, KeyFile: key, ACME: &serve.ACME{}}, "not from both"},
		{"a redirect to nothing", serve.Config{Redirect: "127.0.0.1:0"}, "nothing to redirect to"},
		{"HSTS without TLS", serve.Config{HSTS: time.Hour}, "TLS"},
		{"a port that is taken", serve.Config{Listen: taken.Addr().String()}, "in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.c.Listen == "" {
				tt.c.Listen = "127.0.0.1:0"
			}
			s, err := serve.Listen(tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something about %q", err, tt.want)
			}
			if s != nil {
				s.Close()
			}
		})
	}
}

func TestHeadersAreBounded(t *testing.T) {
	s := start(t, serve.Config{}, hello)
	req, _ := http.NewRequest("GET", s.URL(), nil)
	req.Header.Set("X-Long", strings.Repeat("x", 100<<10))
	res, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("100 KiB of headers get %d", res.StatusCode)
	}
}
