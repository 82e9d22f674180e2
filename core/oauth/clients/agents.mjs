// An agent: a client of the Model Context Protocol, which knows nothing but the address
// of the server. LIBRARY says which generation of the official library it is made with,
// METADATA where it describes itself; without that it registers.
import { approve, assert, bearer, callback, confirm, origin } from './person.mjs'

const { LIBRARY, METADATA, KEY } = process.env
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = LIBRARY === '2'
  ? await import('@modelcontextprotocol/client')
  : {
      ...await import('@modelcontextprotocol/sdk/client/index.js'),
      ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      ...await import('@modelcontextprotocol/sdk/client/auth.js'),
    }

const address = new URL('/mcp', origin)
let transport

// connected is a client over a new connection.
async function connected(options) {
  const client = new Client({ name: 'test', version: '1' })
  transport = new StreamableHTTPClientTransport(address, options)
  await client.connect(transport)
  return client
}

// refused is the error of work that asks for another token.
async function refused(work) {
  try {
    await work()
  } catch (error) {
    assert(error instanceof UnauthorizedError, `another error: ${error.stack}`)
    return
  }
  assert(false, 'it was let through')
}

async function call(client, name, args) {
  const res = await client.callTool({ name, arguments: args })
  const said = JSON.parse(res.content[0].text)
  assert(JSON.stringify(said) === JSON.stringify(res.structuredContent), 'text and structure differ')
  return { ...said, failed: !!res.isError }
}

// An API key.
const machine = await connected({ requestInit: { headers: { authorization: KEY } } })
const { tools } = await machine.listTools()
for (const name of ['describe', 'list', 'read', 'create', 'update', 'delete']) assert(tools.some((t) => t.name === name), `there is no tool ${name}`)
const made = await call(machine, 'create', { doctype: 'ToDo', values: { description: 'by a machine' } })
const read = await call(machine, 'read', { doctype: 'ToDo', name: made.name })
assert(read.description === 'by a machine', `read ${JSON.stringify(read)}`)
const missing = await call(machine, 'read', { doctype: 'ToDo', name: 'nothing' })
assert(missing.failed && missing.exc_type === 'DoesNotExistError' && missing.next, `nothing is ${JSON.stringify(missing)}`)
const { contents } = await machine.readResource({ uri: `armature://document/ToDo/${made.name}/description` })
assert(contents[0].text === 'by a machine', 'the resource')
await machine.close()

// A person's agent.
const kept = {}
const authProvider = {
  redirectUrl: callback,
  clientMetadataUrl: METADATA || undefined,
  clientMetadata: {
    client_name: 'Agent', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'], token_endpoint_auth_method: 'none',
  },
  clientInformation: () => kept.client,
  saveClientInformation: (c) => { kept.client = c },
  tokens: () => kept.tokens,
  // Generation 1 refreshes its token where it is told to ask for more, and gives up: what it
  // shall write has to have no refresh token.
  saveTokens: ({ refresh_token, ...rest }) => { kept.tokens = LIBRARY === '2' ? { refresh_token, ...rest } : rest },
  redirectToAuthorization: (url) => { kept.url = url },
  saveCodeVerifier: (v) => { kept.verifier = v },
  codeVerifier: () => kept.verifier,
}
// allowed is the person pressing Allow.
async function allowed(scope) {
  const asked = kept.url.searchParams
  assert(asked.get('resource') === address.href, `for ${asked.get('resource')}`)
  assert(asked.get('scope').split(' ').includes(scope), `${scope} is not asked for: ${asked.get('scope')}`)
  const back = await approve(kept.url)
  await transport.finishAuth(LIBRARY === '2' ? back.searchParams : back.searchParams.get('code'))
}

await refused(() => connected({ authProvider }))
assert(!METADATA || kept.client?.client_id === METADATA, `the client is ${JSON.stringify(kept.client)}`)
await allowed('resource:*:read')
let agent = await connected({ authProvider })
assert((await call(agent, 'read', { doctype: 'ToDo', name: made.name })).description === 'by a machine', 'the agent cannot read')
assert(await bearer(kept.tokens.access_token) === 401, 'its token is taken by REST')
const change = { doctype: 'ToDo', name: made.name, values: { priority: 'High' } }
await refused(() => call(agent, 'update', change))
await allowed('resource:ToDo:write')
agent = await connected({ authProvider })
const waits = await call(agent, 'update', change)
assert(waits.exc_type === 'ConfirmationRequiredError', `nobody has to confirm: ${JSON.stringify(waits)}`)
assert((await call(agent, 'read', { doctype: 'ToDo', name: made.name })).priority !== 'High', 'it has been changed before')
await confirm(waits.url)
const changed = await call(agent, 'update', change)
assert(changed.priority === 'High', `changed to ${JSON.stringify(changed)}`)
await agent.close()
