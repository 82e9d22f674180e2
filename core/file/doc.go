// Package file is the file service of a site: uploads, downloads, and the
// documents of DocType File that say what is stored and for whom.
//
// A File is a document: a name, a URL, who may see it, what it is attached to.
// The bytes are a blob, kept in a Storage under a key that is used once. Several
// Files of the same content and privacy share one URL and one blob. A Draft is a
// content on its way in: spooled to a local file, hashed, not yet anybody's. A
// part is a piece of an upload in chunks.
//
// The database is the truth and the Storage follows it: bytes are there before
// the document that names them is committed, and go after the last such document
// is. Whatever a rolled back request or a crash leaves behind is named by no
// document, so nobody sees it, and Sweep removes it.
package file
