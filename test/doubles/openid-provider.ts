import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export const CLIENT = { id: 'loam', secret: 'a secret of the client for tests only' }

export type Account = { email?: string; email_verified?: boolean; given_name?: string; family_name?: string }

/**
 * Starts a real OpenID provider on loopback. A user who enters an account in its form is signed in as that
 * account.
 */
export async function startProvider(callback: string, accounts: Record<string, Account>) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [callback] }],
    claims: { email: ['email', 'email_verified'], profile: ['given_name', 'family_name'], openid: ['sub'] },
    cookies: { keys: ['a key for tests only'] },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
  })
  server.on('request', provider.callback())
  return {
    issuer,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Acts as a person in a browser: follows the provider's pages, signs in as `login`, and agrees. Returns the
 * final address.
 */
export async function passProvider(start: string, login: string, callback: string): Promise<URL> {
  const jar = new Map<string, string>()
  let next = new URL(start)
  let form: URLSearchParams | null = null
  for (let step = 0; step < 12; step += 1) {
    const answer: Response = await fetch(next, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { body: form }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const page = await answer.text()
    const location = answer.headers.get('location')
    if (location === null) {
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (prompt === undefined)
        throw new Error(`the provider answered ${answer.status}: ${page.slice(0, 500)}`)
      form = new URLSearchParams({ prompt, login, password: 'any' })
      continue
    }
    form = null
    next = new URL(location, next)
    if (next.href.startsWith(callback)) return next
  }
  throw new Error('the provider never came back')
}
