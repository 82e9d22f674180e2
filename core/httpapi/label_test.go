package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/trace"
)

// Whose request it is stands in the contexts of all that works on it, where that is
// wanted, and in none where it is not.
func TestLabel(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		s := newSite(t)
		var said trace.Request
		var ok bool
		s.site.Authenticate = func(ctx context.Context, r *http.Request, arg func(string) any) (*identity.Caller, error) {
			said, ok = trace.RequestOf(ctx)
			return authenticate(ctx, r, arg)
		}
		handler := httpapi.New(httpapi.Config{Sites: s, Label: wanted})
		for path, action := range map[string]string{"/api/method/framework.ping": "framework.ping", "/api/resource/ToDo": "list", "/api/resource/ToDo/x": "document"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if ok != wanted || wanted && (said.Action != action || said.ID == "" || said.ID != w.Header().Get("X-Request-Id")) {
				t.Errorf("%s, wanted %v: %v %+v", path, wanted, ok, said)
			}
		}
	}
}
