package auth

import (
	"encoding/json"
	"strings"
	"time"

	"armature/core/document"
	"armature/core/site"
)

// The settings of a site, each of which may change while the site is open. One
// that cannot be read counts as absent.

func (s *Service) text(key string) string {
	var text string
	if raw := s.setting(key); json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// number reads a whole number above 0.
func (s *Service) number(key string, otherwise int64) int64 {
	var n int64
	if raw := s.setting(key); json.Unmarshal(raw, &n) != nil || n <= 0 {
		return otherwise
	}
	return n
}

func (s *Service) flag(key string) bool {
	switch strings.TrimSpace(string(s.setting(key))) {
	case "true", "1":
		return true
	}
	return false
}

// writable refuses a change of what users log in with while the site is read only.
func (s *Service) writable() error {
	if s.flag("read_only") {
		return document.ErrReadOnlySite
	}
	return nil
}

// list reads a list of texts, in lower case; one text is a list of one.
func (s *Service) list(key string) []string {
	raw := s.setting(key)
	if len(raw) == 0 {
		return nil
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		list = nil
		if one := s.text(key); one != "" {
			list = []string{one}
		}
	}
	for i := range list {
		list[i] = strings.ToLower(list[i])
	}
	return list
}

// idle is how long a session lives without being used.
func (s *Service) idle() time.Duration {
	if d, ok := site.ParseLifetime(s.text("session_expiry")); ok {
		return d
	}
	return sessionIdle
}
