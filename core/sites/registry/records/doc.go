// Package records is the registry in a PostgreSQL database: a row for each site, whose
// documents are in a schema of their own.
package records
