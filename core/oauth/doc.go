// Package oauth is the site's OAuth 2.0 authorization server and OpenID provider,
// on fosite.
//
// A client is an application (DocType OAuth Client). A grant is one user's consent
// to one client: it begins when its authorization code is redeemed, and everything
// issued under it counts until the grant ends. Access tokens are a Scheme of
// core/auth: Bearer makes the user's Caller, narrowed to the token's scopes, and the
// data layer asks those scopes of everybody.
//
// fosite decides about codes, tokens and PKCE; the border around it is ours, because
// it is lenient where the specification is not: exact redirect URIs, repeated
// parameters, scopes on refresh, names of errors. README.md says which rule of which
// RFC is kept where.
package oauth
