// oauth4webapi: RFC 8414 discovery, the checks of RFC 9207, a client with a secret
// in the header and one in the form, protected resource requests with their
// challenges.
import { approve, assert, callback, origin } from './person.mjs'
import * as oauth from 'oauth4webapi'

const insecure = { [oauth.allowInsecureRequests]: true }
const issuer = new URL(origin)
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }))
assert(as.authorization_response_iss_parameter_supported === true, 'iss is not announced')

const resource = await oauth.processResourceDiscoveryResponse(issuer, await oauth.resourceDiscoveryRequest(issuer, insecure))
assert(resource.authorization_servers[0] === as.issuer, 'the resource names another server')

const client = { client_id: process.env.CLIENT_ID, id_token_signed_response_alg: 'HS256' }
for (const authenticate of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
  const auth = authenticate(process.env.CLIENT_SECRET)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const url = new URL(as.authorization_endpoint)
  for (const [name, value] of Object.entries({
    client_id: client.client_id, redirect_uri: callback, response_type: 'code', scope: 'openid all', state, nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', resource: origin,
  })) url.searchParams.set(name, value)

  const params = oauth.validateAuthResponse(as, client, await approve(url), state)
  const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, params, callback, verifier, insecure)
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce, requireIdToken: true })
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)

  const user = await oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, tokens.access_token, insecure))
  assert(user.sub === sub, 'userinfo differs')

  const data = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL('/api/resource/User', origin), undefined, undefined, insecure)
  assert(data.status === 200, `the resource answered ${data.status}`)

  const renewed = await oauth.processRefreshTokenResponse(as, client,
    await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, insecure))
  const seen = await oauth.processIntrospectionResponse(as, client,
    await oauth.introspectionRequest(as, client, auth, renewed.access_token, insecure))
  assert(seen.active, 'the refreshed token is not active')

  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, auth, renewed.refresh_token, insecure))
  let challenge
  try {
    await oauth.protectedResourceRequest(renewed.access_token, 'GET', new URL('/api/resource/User', origin), undefined, undefined, insecure)
  } catch (e) {
    challenge = e.cause
  }
  assert(challenge?.[0]?.scheme === 'bearer' && challenge[0].parameters.error === 'invalid_token', 'no challenge')
}
