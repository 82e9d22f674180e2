package store_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/store"
	"armature/core/store/pgbouncer"
	"armature/core/trace"
)

// with is a URL with parameters more.
func with(t testing.TB, address string, params ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // as libpq has it
	return u.String()
}

// TestPostgresPassword: a password is what a file holds, or a command prints, when a
// connection is made.
func TestPostgresPassword(t *testing.T) {
	server := postgresURL(t)
	guarded := pgbouncer.Start(t, server, pgbouncer.Options{Password: "open 'sesame'"})
	schema := newSchema(t, server)
	file := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(params ...string) error {
		t.Helper()
		s, err := store.OpenPostgres(t.Context(), with(t, guarded, params...), schema, store.Options{})
		if err != nil {
			return err
		}
		return s.Close()
	}
	write("another one\n")
	if err := open("password_file", file); err == nil || strings.Contains(err.Error(), "another one") {
		t.Errorf("with a wrong password: %v", err)
	}
	write("open 'sesame'\n")
	for name, params := range map[string][]string{
		"of a file":    {"password_file", file},
		"of a command": {"password_command", "cat '" + file + "'"},
	} {
		if err := open(params...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, params := range map[string][]string{
		"no such file":    {"password_file", file + ".none"},
		"exit status 3":   {"password_command", "exit 3"},
		"printed nothing": {"password_command", "true"},
		"one of them":     {"password_command", "true", "password_file", file},
		"on or off":       {"statement_comments", "yes"},
	} {
		if err := open(params...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want that it says %s", params, err, says)
		}
	}
}

// TestPostgresComments: the server sees whose connection it is, and for whom a statement
// runs; what a client has said cannot end the comment.
func TestPostgresComments(t *testing.T) {
	server := postgresURL(t)
	for name, address := range map[string]string{"direct": server, "pooled": pgbouncer.Start(t, server, pgbouncer.Options{})} {
		t.Run(name, func(t *testing.T) {
			schema := newSchema(t, server)
			s := openSchema(t, with(t, address, "statement_comments", "on"), schema)
			migrateNotes(t, s)
			ctx := trace.WithRequest(t.Context(), trace.Request{ID: "r1*/'", Action: "acme.todo.close"})
			for i := range 3 {
				if err := s.Write(ctx, document.OneWrite, func(tx document.Tx) error { return tx.Insert(ctx, newNote(fmt.Sprint(i), "text")) }); err != nil {
					t.Fatal(err)
				}
			}
			watch := connect(t, server, schema)
			const said = "/*action='acme.todo.close',application='armature',request_id='r1%2A%2F%27'*/"
			err := s.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
				if absent, err := tx.Absent(ctx, note, []string{"0", "9"}); err != nil || len(absent) != 1 {
					t.Errorf("absent: %v, %v", absent, err)
				}
				var query, application string
				err := watch.QueryRow(ctx, "SELECT query, application_name FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name LIKE 'armature %' AND query LIKE '%tabNote%' AND datname = current_database()").Scan(&query, &application)
				if err != nil || !strings.HasSuffix(query, said) || application != ("armature "+schema) {
					t.Errorf("the server sees %q of %q, %v", query, application, err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPostgresClientCertificate: the certificate that a URL names is shown, and the one
// that has taken its place is shown by the next connection.
func TestPostgresClientCertificate(t *testing.T) {
	dir := t.TempDir()
	roots := x509.NewCertPool()
	issue := func(name, file string) tls.Certificate {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		roots.AppendCertsFromPEM(certificate)
		for path, text := range map[string][]byte{file + ".crt": certificate, file + ".key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
			if err := os.WriteFile(filepath.Join(dir, path), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, file+".crt"), filepath.Join(dir, file+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := &tls.Config{Certificates: []tls.Certificate{issue("server", "server")}, ClientAuth: tls.RequireAnyClientCert}
	shown := make(chan string, 64)
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			shown <- whoShows(c, server)
		}
	}()
	address := with(t, "postgres://armature@"+l.Addr().String()+"/armature", "sslmode", "verify-full",
		"sslrootcert", filepath.Join(dir, "server.crt"), "sslcert", filepath.Join(dir, "client.crt"), "sslkey", filepath.Join(dir, "client.key"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, name := range []string{"first", "second"} {
		issue(name, "client")
		if s, err := store.OpenPostgres(ctx, address, "public", store.Options{}); err == nil {
			t.Error("a server that says nothing was opened", s.Close())
		}
		for got := ""; got != name; { // what came before may be answered late
			select {
			case got = <-shown:
			case <-ctx.Done():
				t.Fatalf("the certificate of %q is not shown", name)
			}
		}
	}
}

// whoShows is the name in the certificate that a client of PostgreSQL shows.
func whoShows(c net.Conn, server *tls.Config) string {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, 8)); err != nil { // it asks for TLS
		return err.Error()
	}
	if _, err := c.Write([]byte("S")); err != nil {
		return err.Error()
	}
	secure := tls.Server(c, server)
	if err := secure.Handshake(); err != nil {
		return err.Error()
	}
	return secure.ConnectionState().PeerCertificates[0].Subject.CommonName
}
