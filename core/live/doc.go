// Package live tells clients what changes, as it changes: documents, lists with
// filters, and messages of methods, over one connection that stays open (Server-Sent
// Events, WHATWG HTML section 9.2).
//
// A stream is such a connection, and a subscription what it asks for. Those of equal
// rights that ask for the same form a group: what it sees is asked of the one door to
// documents, once for all of them, when something may have changed. A group remembers
// which rows it was shown, and so tells what has come, changed and gone. Service is
// the streams of one site, and Process those of all.
package live
