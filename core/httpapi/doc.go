// Package httpapi is the server's HTTP edge: it finds the site, admits the
// caller, routes, reads arguments, runs handlers inside a transaction and maps
// every error to an answer.
//
// A request passes, in this order: recover and request id, the site by host,
// the site's budget, credentials, the caller's budget, the route. An exchange
// is one request on its way through. A raw method is one that writes its answer
// itself (login, upload, the OAuth endpoints); a page is what a person sees
// outside /api.
//
// The transaction of a document's route is opened here, that of a method in
// core/method, and by no handler: what a handler changed is committed before the
// first byte of the answer is written.
package httpapi
