// Package social has people log in at a site with an account that they have at another
// provider.
//
// A key (Social Login Key) is what the site knows of a provider: where it is, as which
// client the site comes, and by which rules its people are let in. A tie is one account at
// a provider that is a user's here: the key, who issues the account and the subject that it
// has there. A flow is one way to a provider and back; its ticket lies sealed in the
// browser that began it. A person is what a provider says of whoever came back.
package social
