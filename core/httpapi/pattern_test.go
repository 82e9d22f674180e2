package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestPatterns: how long one text is matched with a pattern is bounded, since
// nothing can interrupt it.
func TestPatterns(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Admin.Post("/api/resource/ToDo", obj{"description": "milk"}).OK(t)
		for _, test := range []struct {
			name, pattern string
			status, rows  int
		}{
			{"one that matches", "%ilk", http.StatusOK, 1},
			{"the longest", "%" + strings.Repeat("a", 255), http.StatusOK, 0},
			{"too long", "%" + strings.Repeat("a", 256), http.StatusExpectationFailed, 0},
			{"the most wildcards", strings.Repeat("%", 31) + "ilk_", http.StatusOK, 0},
			{"too many wildcards", strings.Repeat("%i", 33), http.StatusExpectationFailed, 0},
			{"too many of the other", strings.Repeat("_", 33), http.StatusExpectationFailed, 0},
		} {
			for _, op := range []string{"like", "not like"} {
				filters, err := json.Marshal([]any{[]any{"description", op, test.pattern}})
				if err != nil {
					t.Fatal(err)
				}
				got := s.Admin.Get("/api/resource/ToDo", "filters", string(filters))
				if got.Status != test.status {
					t.Errorf("%s, %s: %d %s", test.name, op, got.Status, got.Body)
				}
				if op == "like" && got.Status == http.StatusOK && len(got.List(t)) != test.rows {
					t.Errorf("%s: %s", test.name, got.Body)
				}
			}
		}
	})
}
