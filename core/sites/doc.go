// Package sites opens the services of a site and closes them, and holds the set
// of open sites.
//
// Tenant is one open site: its database, DocTypes, documents, authentication
// and methods, wired to each other. Set is the tenants of a process; the edge
// asks it which of them a request is for and keeps that one open while it
// works. A poller keeps them up to date with what other processes have changed:
// DocTypes, configuration, sites that came and went.
package sites
