// Package confirm keeps what an agent wants to do until its user has confirmed it in the
// browser, or refused to. A confirmation is of one call: of a user, an application, a tool
// and its arguments. It is a row of the site's database, so that any process shows,
// takes and spends it.
package confirm
