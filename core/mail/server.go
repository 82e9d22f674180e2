package mail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"
)

// How the connection to the server is encrypted.
const (
	StartTLS = "starttls" // begins in clear and must be encrypted before anything is said
	TLS      = "tls"      // encrypted from the first byte
	None     = "none"     // in clear: for a server on the same machine
)

// Purpose is what a password in the configuration is sealed for.
const Purpose = "mail password"

// sealed is how a sealed password begins.
const sealed = "v1."

// Server is a mail server and how to speak to it. It never shows its password.
type Server struct {
	Host string
	Port int
	User string // empty: no login
	TLS  string
	From *mail.Address

	password string
}

// Settings is a Server as the site's configuration holds it, under the key mail.
type Settings struct {
	Host     string `json:"host"`
	Port     int    `json:"port,omitempty"` // 0: 465 for tls, 25 for none, 587 else
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"` // sealed, or as it is
	TLS      string `json:"tls,omitempty"`      // starttls, tls or none; empty: starttls
	From     string `json:"from"`               // an address, with or without a name
}

// Parse reads the settings; nil where there are none. open undoes a sealed
// password (site.Secret).
func Parse(raw json.RawMessage, open func(purpose, sealed string) ([]byte, error)) (*Server, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var c Settings
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return c.server(open)
}

func (c Settings) server(open func(purpose, sealed string) ([]byte, error)) (*Server, error) {
	v := &Server{Host: c.Host, Port: c.Port, User: c.User, TLS: c.TLS, password: c.Password}
	if c.Host == "" || strings.ContainsAny(c.Host, "/ \r\n") {
		return nil, fmt.Errorf("mail: host must be the name of a mail server")
	}
	switch v.TLS {
	case "":
		v.TLS = StartTLS
	case StartTLS, TLS, None:
	default:
		return nil, fmt.Errorf("mail: tls must be %s, %s or %s", StartTLS, TLS, None)
	}
	if v.Port == 0 {
		v.Port = map[string]int{StartTLS: 587, TLS: 465, None: 25}[v.TLS]
	}
	if v.Port < 1 || v.Port > 65535 {
		return nil, fmt.Errorf("mail: port must be between 1 and 65535")
	}
	var err error
	if v.From, err = mail.ParseAddress(c.From); err != nil {
		return nil, fmt.Errorf("mail: from must be an address")
	}
	if v.User != "" && v.TLS == None && !loopback(v.Host) {
		return nil, fmt.Errorf("mail: a password goes to another machine with tls only")
	}
	if strings.HasPrefix(v.password, sealed) {
		text, err := open(Purpose, v.password)
		if err != nil {
			return nil, fmt.Errorf("mail: password: %w", err)
		}
		v.password = string(text)
	}
	return v, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (v *Server) address() string { return net.JoinHostPort(v.Host, strconv.Itoa(v.Port)) }
