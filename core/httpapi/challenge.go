package httpapi

import (
	"strings"
)

// challenge is the WWW-Authenticate of a 401 (RFC 6750 section 3). It never
// names Basic: browsers would open a password dialog over the page.
func (x *exchange) challenge() string {
	var parts []string
	if scheme, _, _ := strings.Cut(x.r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		parts = append(parts, `error="invalid_token"`)
	}
	if x.site != nil && x.site.ResourceScope != nil {
		if scope := x.site.ResourceScope(x.r); scope != "" {
			parts = append(parts, `scope="`+quotable.Replace(scope)+`"`)
		}
	}
	if x.site != nil && x.site.ResourceMetadata != nil {
		if address := x.site.ResourceMetadata(x.r); address != "" {
			parts = append(parts, `resource_metadata="`+quotable.Replace(address)+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
}

// quotable drops what may not stand in a quoted parameter of a header.
var quotable = strings.NewReplacer(`"`, "", `\`, "")

func insufficientScope(scope string) string {
	return `Bearer error="insufficient_scope", scope="` + quotable.Replace(scope) + `"`
}

// clearSession makes the browser forget a session that is not accepted. Wrong
// credentials in the header say nothing of the session beside them.
func (x *exchange) clearSession() {
	if x.site != nil && x.site.ClearSession != nil && len(x.r.Header["Authorization"]) == 0 && len(x.r.Header["Cookie"]) > 0 {
		x.site.ClearSession(x.w.Header(), x.r)
	}
}
