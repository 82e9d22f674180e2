// Package sites is which sites there are, and which of them are open.
//
// A registry lists them: folders of one machine, or rows of a database. Set is the
// sites of a process: the edge asks it which one a request is for, and it opens that
// (core/tenant) and keeps it open while the request works. A poller keeps them up to
// date with what other processes have changed: DocTypes, configuration, sites that
// came and went.
package sites
