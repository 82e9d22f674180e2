// Package acme gets certificates for a running server from Pebble, the ACME
// server that Let's Encrypt tests clients with. It is a module of its own, which
// imports nothing of the product, so that Pebble is no dependency of it.
package acme

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

const (
	ours   = "docs.example.test"
	theirs = "other.example.test"
)

func TestCertificates(t *testing.T) {
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // a request sent again would be counted twice
	binary := build(t)
	for _, tt := range []struct {
		name string
		http bool
	}{{"TLS-ALPN-01", false}, {"HTTP-01", true}} {
		t.Run(tt.name, func(t *testing.T) {
			secure, plain := freePort(t), freePort(t)
			validatedAt := secure
			if tt.http {
				validatedAt = 1 // nobody answers there, so the other challenge has to do
			}
			p := startPebble(t, plain, validatedAt)
			data := t.TempDir()
			run(t, binary, data, "site", "new", "default")
			run(t, binary, data, "site", "config", "default", "set", "hosts", `["`+ours+`"]`)
			s := start(t, binary, data, p, secure, plain)

			first := s.handshake(t, ours, p.roots)
			if _, err := s.dial(theirs, p.roots); err == nil {
				t.Error("a host that is no site's got a certificate")
			}
			if _, err := s.dial("", p.roots); err == nil {
				t.Error("a client that names no host got a certificate")
			}
			// An order whose challenge failed is followed by one with another challenge.
			orders := p.orders.Load()
			if orders != 1 && !tt.http || orders > 2 {
				t.Errorf("%d certificates were ordered", orders)
			}
			s.stop(t)

			// The certificate is kept, and for the server's owner only.
			s = start(t, binary, data, p, secure, plain)
			if again := s.handshake(t, ours, p.roots); again.SerialNumber.Cmp(first.SerialNumber) != 0 || p.orders.Load() != orders {
				t.Errorf("after a restart there is another certificate; %d orders", p.orders.Load())
			}
			s.stop(t)
			err := filepath.WalkDir(filepath.Join(data, "certificates"), func(path string, e fs.DirEntry, err error) error {
				if err == nil {
					if info, ierr := e.Info(); ierr != nil || info.Mode().Perm()&0o077 != 0 {
						t.Errorf("%s: %v, %v", path, info.Mode(), ierr)
					}
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// pebble is an ACME server that finds every host at 127.0.0.1.
type pebble struct {
	directory string
	trust     string // PEM file with the certificate of its own HTTPS
	roots     *x509.CertPool
	orders    atomic.Int64
}

func startPebble(t *testing.T, httpPort, tlsPort int) *pebble {
	t.Helper()
	p := &pebble{roots: x509.NewCertPool(), trust: filepath.Join(t.TempDir(), "pebble.pem")}
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	authority := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	validation := va.New(quiet, httpPort, tlsPort, true, startDNS(t), store)
	front := wfe.New(quiet, store, validation, authority, []string{"pebble.example.test"}, true, false, 1, 1)
	next := front.Handler()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order-plz" {
			p.orders.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.directory = server.URL + wfe.DirectoryPath
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(p.trust, text, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := x509.ParseCertificate(authority.GetRootCert(0).DER)
	if err != nil {
		t.Fatal(err)
	}
	p.roots.AddCert(root)
	return p
}

func startDNS(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if len(q.Question) == 1 && q.Question[0].Qtype == dns.TypeA {
			m.Answer = append(m.Answer, &dns.A{
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.IPv4(127, 0, 0, 1),
			})
		}
		_ = w.WriteMsg(m)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe()
	}()
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-done
	})
	return l.Addr().String()
}

// server is a running armature serve.
type server struct {
	cmd  *exec.Cmd
	addr string
	log  *strings.Builder // complete when the process has ended
}

func start(t *testing.T, binary, data string, p *pebble, secure, plain int) *server {
	t.Helper()
	s := &server{log: &strings.Builder{}}
	s.cmd = exec.Command(binary, "serve", "--data", data, "--acme", "--acme-directory", p.directory, "--acme-email", "ops@example.test",
		"--listen", address(secure), "--redirect-listen", address(plain))
	s.cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+p.trust)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
		if t.Failed() {
			t.Log(s.log)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, "https://") {
		t.Fatalf("it says %q, %v", line, err)
	}
	_, s.addr, _ = strings.Cut(strings.TrimSpace(line), "https://")
	return s
}

func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func (s *server) dial(host string, roots *x509.CertPool) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: roots, InsecureSkipVerify: host == ""}}
	c, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return c.(*tls.Conn), nil
}

// handshake connects, which makes the server get a certificate if it has none.
func (s *server) handshake(t *testing.T, host string, roots *x509.CertPool) *x509.Certificate {
	t.Helper()
	c, err := s.dial(host, roots)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}

func build(t *testing.T) string {
	t.Helper()
	if binary := os.Getenv("ARMATURE_TEST_BINARY"); binary != "" { // which make test builds once for all
		return binary
	}
	binary := filepath.Join(t.TempDir(), "armature")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/armature")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

func run(t *testing.T, binary, data string, args ...string) {
	t.Helper()
	if out, err := exec.Command(binary, append(args, "--data", data)...).CombinedOutput(); err != nil {
		t.Fatalf("armature %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func address(port int) string {
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
}
