// Package guide is the handbook of the platform: Markdown files in pages, which a code
// hosting page shows as they are, a site at /app/docs as pages of its own, and programs
// read as they were written, at /app/docs/start.md for one and listed by /llms.txt.
//
// A page is a file. The index, pages/README.md, says which there are and in which order:
// what it does not name is refused when the guide is read. Links between pages are
// relative, so that they lead to the same place on a site and in the repository.
//
// The guide is the same for all sites and all readers, who need not log in: it says what
// the program can do and nothing of what a site has.
package guide
