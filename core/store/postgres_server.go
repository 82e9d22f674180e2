package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// What a URL may say beside what PostgreSQL's own clients know.
const (
	passwordFile    = "password_file"      // the password is what is in a file
	passwordCommand = "password_command"   // the password is what a command prints
	comments        = "statement_comments" // on: statements say for whom they run
)

// postgresServer is how a server is reached.
type postgresServer struct {
	dsn      string
	schema   string // for which connections are, and whose share of a budget they take
	config   *pgx.ConnConfig
	password func(context.Context) (string, error) // asked for each connection; nil: what the URL says
	comments bool
}

// parsePostgres reads a URL, or a list of key=value, for connections that work in a
// schema.
func parsePostgres(dsn, schema string) (*postgresServer, error) {
	config, err := postgresConfig(dsn, schema)
	if err != nil {
		return nil, err
	}
	s := &postgresServer{dsn: dsn, schema: schema, config: config}
	take := func(name string) string {
		value := config.RuntimeParams[name]
		delete(config.RuntimeParams, name)
		return value
	}
	file, command, commented := take(passwordFile), take(passwordCommand), take(comments)
	switch {
	case file != "" && command != "":
		return nil, fmt.Errorf("open PostgreSQL: %s and %s: one of them", passwordFile, passwordCommand)
	case file != "":
		s.password = func(context.Context) (string, error) { return readPassword(file) }
	case command != "":
		s.password = (&commandPassword{command: command}).ask
	}
	switch commented {
	case "on":
		s.comments = true
	case "", "off":
	default:
		return nil, fmt.Errorf("open PostgreSQL: %s is on or off", comments)
	}
	return s, nil
}

// HasComments reports whether a URL asks for statements to say for whom they run: then
// their contexts should (trace.WithRequest).
func HasComments(url string) bool {
	if !isPostgres(url) {
		return false
	}
	s, err := parsePostgres(url, defaultSchema)
	return err == nil && s.comments
}

// with is the same server with other parameters of connections.
func (s *postgresServer) with(params map[string]string) *postgresServer {
	other := *s
	other.config = s.config.Copy()
	for name, value := range params {
		other.config.RuntimeParams[name] = value
	}
	return &other
}

// pool makes a pool of connections.
func (s *postgresServer) pool(conns int, o Options, more ...stdlib.OptionOpenDB) *sql.DB {
	more = append(more, stdlib.OptionResetSession(stillThere), stdlib.OptionBeforeConnect(s.renew))
	connector := stdlib.GetConnector(*s.config, more...)
	var db *sql.DB
	if o.Budget != nil {
		db = o.Budget.openPool(connector, s.schema, conns, o.WriteWait)
	} else {
		db = sql.OpenDB(connector)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(time.Minute)
	db.SetConnMaxLifetime(30 * time.Minute)
	return db
}

// renew brings a new connection's credentials up to date: passwords and certificates
// are replaced while a server runs.
func (s *postgresServer) renew(ctx context.Context, config *pgx.ConnConfig) error {
	if strings.Contains(s.dsn, "sslcert") || strings.Contains(s.dsn, "passfile") {
		now, err := pgx.ParseConfig(s.dsn)
		if err != nil {
			return fmt.Errorf("read the credentials for PostgreSQL again: %w", err)
		}
		config.TLSConfig, config.Fallbacks, config.Password = now.TLSConfig, now.Fallbacks, now.Password
	}
	if s.password == nil {
		return nil
	}
	password, err := s.password(ctx)
	if err != nil {
		return fmt.Errorf("ask for the password of PostgreSQL: %w", err)
	}
	config.Password = password
	return nil
}

func readPassword(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimRight(string(text), "\r\n"), err
}

// commandPassword is a password that a command prints, such as a token that is good for
// some minutes.
type commandPassword struct {
	command string

	mu    sync.Mutex // one runs at a time
	last  string
	until time.Time
}

const (
	// commandFor is how long what a command has printed is used: a pool may open many
	// connections at once.
	commandFor = 5 * time.Second
	// commandTime is how long it may take.
	commandTime = 20 * time.Second
)

func (p *commandPassword) ask(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.until) {
		return p.last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", p.command)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, os.Stderr // what it has to complain of is the operator's
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", passwordCommand, err)
	}
	password := strings.TrimRight(printed.String(), "\r\n")
	if password == "" {
		return "", errors.New(passwordCommand + " has printed nothing")
	}
	p.last, p.until = password, time.Now().Add(commandFor)
	return password, nil
}

// maxApplicationName is what PostgreSQL keeps of one, in bytes.
const maxApplicationName = 63

// applicationName is how a site's connections are called in pg_stat_activity and in the
// log of the server.
func applicationName(schema string) string {
	name := "armature"
	if schema != defaultSchema {
		name += " " + schema
	}
	return name[:min(len(name), maxApplicationName)]
}

func postgresConfig(dsn, schema string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err) // pgx leaves the password out
	}
	config.StatementCacheCapacity = 128 // a prepared statement costs the server some 40 kB
	// A peer that is gone is noticed after half a minute, not after two hours.
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	config.DialFunc = dialer.DialContext
	limits := map[string]string{
		"application_name":                    applicationName(schema),
		"statement_timeout":                   "30s",
		"idle_in_transaction_session_timeout": "10s",
		"lock_timeout":                        "5s",
		// Compiling a statement takes longer than any that the platform sends.
		"jit": "off",
	}
	for name, value := range limits {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	config.RuntimeParams[searchPath] = pgx.Identifier{schema}.Sanitize()
	config.RuntimeParams["DateStyle"] = "ISO"
	return config, nil
}
