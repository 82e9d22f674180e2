// openid-client: discovery, registration, code flow with PKCE, state and nonce,
// userinfo, refresh, introspection, revocation.
import { approve, assert, bearer, callback, origin } from './person.mjs'
import * as client from 'openid-client'

const insecure = { execute: [client.allowInsecureRequests] }
const algorithm = process.env.ALGORITHM

const config = await client.dynamicClientRegistration(
  new URL(origin),
  { client_name: 'openid-client', redirect_uris: [callback], scope: 'openid all', id_token_signed_response_alg: algorithm },
  undefined, insecure,
)
if (algorithm === 'RS256') client.enableNonRepudiationChecks(config)

const verifier = client.randomPKCECodeVerifier()
const state = client.randomState()
const nonce = client.randomNonce()
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: callback, scope: 'openid all', state, nonce, max_age: '3600',
  code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
})
const back = await approve(url)
const tokens = await client.authorizationCodeGrant(config, back, {
  pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, maxAge: 3600, idTokenExpected: true,
})
const claims = tokens.claims()
assert(claims.sub && claims.email, 'no claims')
assert(await bearer(tokens.access_token) === 200, 'the access token does not work')

const user = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
assert(user.email === claims.email, 'userinfo differs')

const seen = await client.tokenIntrospection(config, tokens.access_token)
assert(seen.active === true && seen.sub === claims.sub, 'introspection differs')

const renewed = await client.refreshTokenGrant(config, tokens.refresh_token)
assert(renewed.claims().sub === claims.sub, 'the refreshed ID token differs')
assert(await bearer(tokens.access_token) === 401, 'the old access token works')

await client.tokenRevocation(config, renewed.refresh_token)
assert(await bearer(renewed.access_token) === 401, 'a revoked token works')
