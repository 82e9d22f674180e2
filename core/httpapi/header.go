package httpapi

// renameHeaders gives headers that come under another name the one that they stand for
// on the site. What comes under its own name counts before that; the other name is gone
// either way, so that a CSRF token is a secret under both.
func (x *exchange) renameHeaders() {
	for name, stands := range x.site.HeaderAliases {
		values := x.r.Header[name]
		if len(values) == 0 || name == stands {
			continue
		}
		delete(x.r.Header, name)
		if len(x.r.Header[stands]) == 0 {
			x.r.Header[stands] = values
		}
	}
}
