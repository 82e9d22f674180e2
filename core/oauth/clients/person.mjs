// What a person does in a browser: log in, read the consent page, press Allow.
import { webcrypto } from 'node:crypto'

globalThis.crypto ??= webcrypto // Node 18 has it, and not under this name

const { ORIGIN, USER, PASSWORD } = process.env
export const origin = ORIGIN
export const callback = 'http://127.0.0.1:8765/callback'

export function assert(ok, what) {
  if (!ok) throw new Error(what)
}

const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#34;': '"', '&#39;': "'", '&#43;': '+' }
const unescape = (text) => text.replace(/&(amp|lt|gt|#34|#39|#43);/g, (e) => entities[e])

// browser keeps a session's cookie.
function browser() {
  let cookie = ''
  const go = async (to, init = {}) => {
    const answer = await fetch(new URL(to, ORIGIN), {
      redirect: 'manual', ...init, headers: { accept: 'text/html', cookie, ...init.headers },
    })
    for (const line of answer.headers.getSetCookie()) {
      if (line.startsWith('sid=')) cookie = line.split(';')[0]
    }
    return answer
  }
  const post = (to, form) => go(to, {
    method: 'POST', body: new URLSearchParams(form), headers: { origin: ORIGIN },
  })
  return { go, post }
}

// loggedIn opens an address of the server that wants a login.
async function loggedIn(url) {
  const { go, post } = browser()
  let answer = await go(url)
  assert([302, 303].includes(answer.status) && answer.headers.get('location').startsWith('/login'), `${url} answered ${answer.status}`)
  const login = new URL(answer.headers.get('location'), ORIGIN)
  answer = await post('/login', { usr: USER, pwd: PASSWORD, 'redirect-to': login.searchParams.get('redirect-to') })
  assert(answer.status === 303, `the login answered ${answer.status}`)
  return { answer: await go(answer.headers.get('location')), post }
}

// allow presses the button that allows what the page asks.
async function allow({ answer, post }) {
  const page = await answer.text()
  const form = { decision: 'allow' }
  for (const [, name, value] of page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) form[unescape(name)] = unescape(value)
  return post(unescape(page.match(/<form[^>]* action="([^"]*)"/)[1]), form)
}

// approve follows an authorization URL to the client's callback and returns the
// whole address, as the client's own server would see it.
export async function approve(url) {
  const page = await loggedIn(url)
  const answer = page.answer.status === 200 ? await allow(page) : page.answer
  const back = answer.headers.get('location')
  assert(back?.startsWith(callback + '?'), `the answer went to ${back}`)
  return new URL(back)
}

// confirm opens the address at which a call of an agent waits, and confirms it.
export async function confirm(url) {
  assert(url.startsWith(ORIGIN + '/app/confirm/'), `confirm at ${url}`)
  const page = await loggedIn(url)
  assert(page.answer.status === 200, `the page answered ${page.answer.status}`)
  const answer = await allow(page)
  assert(answer.status === 303, `confirming answered ${answer.status}`)
}

// bearer reads a protected resource.
export async function bearer(token, path = '/api/resource/User') {
  const answer = await fetch(new URL(path, ORIGIN), { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } })
  return answer.status
}
