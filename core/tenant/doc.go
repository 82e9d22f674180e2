// Package tenant opens one site: its database, brought to the format of this
// binary, and the services on it, wired to each other. A Tenant is that site from
// Open to Close; who holds it meanwhile, and when it is closed, is core/sites'.
package tenant
