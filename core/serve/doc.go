// Package serve puts a handler on the network and takes it off again: listeners,
// TLS with certificates from files or from an ACME server, the redirect from
// plain HTTP, and draining.
//
// Draining is what a server does between the signal to end and its end: it says
// that it is not ready, goes on serving for a while so that load balancers
// notice, takes no new connections, lets requests end, and cuts those that do
// not end in time.
package serve
