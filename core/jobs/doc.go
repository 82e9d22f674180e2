// Package jobs is what a site has to do after the requests that ask for it: calls of
// methods, which are kept in the site's database in the transaction of the request, and
// are made one by one as the user who asked.
//
// A Queue is that of one open site. When and in which order its jobs run is decided for
// all sites of a process by core/jobs/pump.
package jobs
