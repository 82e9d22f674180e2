// Package schedule has methods called by the clock.
//
// A schedule is a line of cron in a time zone, the method that it calls, and as whom.
// It comes from the manifest of a plugin that was granted it, or from a document of
// DocType Scheduled Job. Its row says when it is due next; when it is, a job of the
// site's queue is made of it (core/jobs), which runs and fails as all jobs do.
package schedule
