import { expect, it } from 'vitest'
import { z } from 'zod'
import type { EgressRequest } from '../../lib/egress/request.ts'
import { pipedrive } from '../providers/pipedrive/provider.ts'
import { salesforce } from '../providers/salesforce/provider.ts'
import { tomba } from '../providers/tomba/provider.ts'
import { type Double, makeAskContext, serveDouble } from '../testing/provider-double.ts'
import { createKey } from './access.ts'
import type { Provider } from './provider.ts'

const CLIENT = { client_id: 'id-1', client_secret: 'secret-0123456789', refresh_token: 'refresh-0123' }
const Reply = z.object({ ok: z.boolean() })

/** Asks a provider whose hosts are replaced by a double, and returns the hosts that it would have called. */
async function askAt(provider: Provider, fields: Record<string, string>, tokenFields: object) {
  const double: Double = await serveDouble(({ path }) =>
    path.endsWith('/token')
      ? { json: { access_token: 'access-0123456789', expires_in: 3600, ...tokenFields } }
      : { json: { ok: true } },
  )
  const context = makeAskContext({})
  const hosts: string[] = []
  const fetch = (request: EgressRequest) => {
    const { host } = new URL(request.url)
    hosts.push(host)
    return context.egress.fetch({ ...request, url: request.url.replace(`https://${host}`, double.origin) })
  }
  const key = createKey('own', fields)
  const egress = { ...context.egress, fetch }
  const reply = await provider.request({ ...context, egress }, key, { path: '/x' }, Reply)
  expect(reply).toEqual({ ok: true, body: { ok: true } })
  return { hosts, seen: double.seen, key }
}

it('Salesforce: where a connection names its instance, as sandboxes must, tokens are made there', async () => {
  const instance_url = 'https://acme--dev.sandbox.my.salesforce.com'
  const { hosts, seen } = await askAt(salesforce, { ...CLIENT, instance_url: `${instance_url}/` }, {})
  expect(hosts).toEqual(['acme--dev.sandbox.my.salesforce.com', 'acme--dev.sandbox.my.salesforce.com'])
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/services/oauth2/token' })
  expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual({
    grant_type: 'refresh_token',
    ...CLIENT,
  })
})

it('Salesforce: without one they are made at the common login, and their reply names the instance', async () => {
  const { hosts } = await askAt(salesforce, CLIENT, { instance_url: 'https://acme.my.salesforce.com' })
  expect(hosts).toEqual(['login.salesforce.com', 'acme.my.salesforce.com'])
})

it('Pipedrive: the client identifies itself by HTTP Basic, and the account is at the address in its token', async () => {
  const { hosts, seen, key } = await askAt(pipedrive, CLIENT, { api_domain: 'https://acme.pipedrive.com' })
  expect(hosts).toEqual(['oauth.pipedrive.com', 'acme.pipedrive.com'])
  const basic = Buffer.from('id-1:secret-0123456789').toString('base64')
  expect(seen[0]?.headers).toMatchObject({ authorization: `Basic ${basic}` })
  expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'refresh-0123',
  })
  expect(seen[1]?.headers).toMatchObject({ authorization: 'Bearer access-0123456789' })
  expect(key.fields).toMatchObject({ api_domain: 'https://acme.pipedrive.com' })
})

it('Pipedrive: a token alone is for the address of all accounts', async () => {
  const { hosts } = await askAt(pipedrive, { secret: 'a-token' }, {})
  expect(hosts).toEqual(['api.pipedrive.com'])
})

it('Salesforce: an instance that is not an address is reported, not thrown', async () => {
  const key = createKey('own', { ...CLIENT, instance_url: 'acme' })
  expect(await salesforce.request(makeAskContext({}), key, { path: '/x' }, Reply)).toMatchObject({
    ok: false,
    refusal: { kind: 'unconfigured', message: 'the base URL in its connection is not a URL' },
  })
})

it('Tomba: a key of the installation is key:secret in one text', async () => {
  const { seen } = await askAt(tomba, { secret: 'ta_1:ts_2' }, {})
  expect(seen[0]?.headers).toMatchObject({ 'x-tomba-key': 'ta_1', 'x-tomba-secret': 'ts_2' })
  const alone = createKey('platform', { secret: 'ta_1' })
  expect(await tomba.request(makeAskContext({}), alone, { path: '/x' }, Reply)).toMatchObject({
    refusal: { kind: 'unconfigured', message: 'the key is not of the form key:secret' },
  })
})
