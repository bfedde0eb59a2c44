import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import type { Reply } from '#server/catalog/testing/provider-double.ts'
import { addConnection, pickProvider } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp, type TestApp, type TestOrg } from '#test/plumbing/harness.ts'

export type Asked = { at: string; authorization: string | undefined; body: string }

/** Creates an app whose CRMs are one server on loopback, which answers as `rules.answer` decides. */
export async function makeCrmApp() {
  const rules = { answer: (_asked: Asked): Reply => ({ status: 404 }) }
  const asked: Asked[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { authorization } = request.headers
    const one = { at: `${request.method} ${request.url}`, authorization, body: await text(request) }
    asked.push(one)
    const reply = rules.answer(one)
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.text ?? JSON.stringify(reply.json ?? {}))
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const app = await makeApp({
    settings: {
      LOAM_EGRESS_ALLOW: '127.0.0.1',
      LOAM_PROVIDER_URL_HUBSPOT: origin,
      LOAM_PROVIDER_URL_SALESFORCE: origin,
    },
  })
  return { app, asked, rules, origin }
}

export async function connect(
  { services: { store, sealer } }: TestApp,
  { orgId }: TestOrg,
  [provider, name]: [string, string],
  fields: Record<string, string>,
): Promise<void> {
  await addConnection(store.system, sealer, OPERATOR, {
    orgId,
    provider: pickProvider(await loadProviders(), provider),
    name,
    ownerId: null,
    shared: true,
    fields,
  })
}
