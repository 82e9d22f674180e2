// Package webhook tells other servers of what happens to documents.
//
// A Webhook is a document: of which DocType and event it tells, under which condition,
// which fields, whom. What it tells is made in the transaction of the write, as its owner
// may read the document then, and is kept there as a Webhook Delivery with the job that
// sends it; so nothing is told of what was rolled back. Deliveries of one document are
// sent one after the other. They are signed as Standard Webhooks says
// (https://www.standardwebhooks.com).
package webhook
