// Package pump runs the jobs of all sites of a process, on riverqueue/river.
//
// A site keeps its jobs itself. The pump hands those that are due over as tickets of
// river's, at most a few of each site at a time, one site after the other; river fetches
// and runs them. A ticket is worth nothing once something has become of its job, so
// tickets may be lost, and handed over twice.
//
// What is durable of the pump's own are marks: which sites have something to do, and
// when.
package pump
