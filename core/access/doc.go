// Package access answers every question of the kind "may this caller see or
// change this", from one set of rules.
//
// Rights are what one caller may do, as one transaction sees the documents. The
// rules about documents of one DocType and one right come to a Guard, which has
// three forms: Where, a condition for the store; Admit, a check of a document in
// memory; Explain, the same in words. A Visibility is what of a DocType shows in lists,
// its fields and its documents, and Resolve turns what a client asks of a list
// into a Select in which every path has been asked for what the caller may see.
//
// The package reads documents through a Reader and writes nothing. It knows no
// store, no life cycle and no HTTP.
package access
