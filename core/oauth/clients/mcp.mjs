// The OAuth client of the Model Context Protocol SDK: from the address of a
// protected resource alone to tokens, by RFC 9728, RFC 8414 and RFC 7591.
import { approve, assert, bearer, callback, origin } from './person.mjs'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'

const kept = {}
const provider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: 'MCP', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'], token_endpoint_auth_method: 'none', scope: 'openid all',
  },
  clientInformation: () => kept.client,
  saveClientInformation: (c) => { kept.client = c },
  tokens: () => kept.tokens,
  saveTokens: (t) => { kept.tokens = t },
  redirectToAuthorization: (url) => { kept.url = url },
  saveCodeVerifier: (v) => { kept.verifier = v },
  codeVerifier: () => kept.verifier,
}

const serverUrl = new URL('/', origin)
assert(await auth(provider, { serverUrl }) === 'REDIRECT', 'no redirect')
assert(kept.client.client_id, 'not registered')
assert(kept.url.searchParams.get('resource')?.startsWith(origin), 'no resource is named')
const back = await approve(kept.url)
assert(await auth(provider, { serverUrl, authorizationCode: back.searchParams.get('code') }) === 'AUTHORIZED', 'not authorized')
const first = kept.tokens
assert(await bearer(first.access_token) === 200, 'the access token does not work')
assert(await auth(provider, { serverUrl }) === 'AUTHORIZED', 'not refreshed')
assert(kept.tokens.access_token !== first.access_token, 'no new token')
assert(await bearer(kept.tokens.access_token) === 200, 'the refreshed token does not work')
