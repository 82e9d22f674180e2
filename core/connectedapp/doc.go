// Package connectedapp is the site as an OAuth 2.0 client: it connects users of
// the site to services of others and keeps what they give it.
//
// A Connected App is a document that an administrator makes for one provider. A
// connection is a user's tokens for one app, kept as a document of Token Cache,
// or the app's own (client credentials), which belongs to no user. A flow is one
// way to the provider's consent page and back; its state is good once, for the
// user and the app it was made for.
//
// A token never leaves the package: Do makes a request with the token attached,
// and no API shows one. Tokens and client secrets are sealed under a purpose of
// their own, so that not even framework.client.get_password opens them.
//
// Every change here commits on its own, whatever becomes of the request it was
// made in: a provider that has rotated a token does not take that back. So
// nothing here may be called by who holds the site's writer.
package connectedapp
