import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/** The moment, during a call that creates a record, at which the caller is interrupted. */
export type Moment = 'before it is stored' | 'before it is answered' | 'after it is answered'
type RecordKept = { id: string; email: string; createdAt: string }

const HubspotCreate = z.object({ properties: z.object({ email: z.string() }) })
const Filter = z.object({ propertyName: z.literal('email'), operator: z.literal('EQ'), value: z.string() })
const HubspotSearch = z.object({ filterGroups: z.tuple([z.object({ filters: z.tuple([Filter]) })]) })
const AttioUpsert = z.object({ data: z.object({ values: z.object({ email_addresses: z.string() }) }) })

/**
 * Serves the contacts of HubSpot and Attio on loopback. HubSpot creates a record at every request, Attio
 * upserts by the address.
 */
export async function serveCrm(onCreate: (moment: Moment) => void) {
  const hubspot: RecordKept[] = []
  const attio: RecordKept[] = []
  const asked: string[] = []
  const keep = (records: RecordKept[], email: string): RecordKept => {
    const record = { id: `${1000 + records.length}`, email, createdAt: new Date().toISOString() }
    records.push(record)
    return record
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', 'http://crm')
    const send = (body: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const create = (store: () => unknown) => {
      onCreate('before it is stored')
      const body = store()
      onCreate('before it is answered')
      response.once('close', () => onCreate('after it is answered'))
      send(body)
    }
    asked.push(`${request.method} ${pathname}`)
    switch (`${request.method} ${pathname}`) {
      case 'POST /crm/v3/objects/contacts': {
        const { properties } = HubspotCreate.parse(await readJson(request))
        return create(() => keep(hubspot, properties.email))
      }
      case 'POST /crm/v3/objects/contacts/search': {
        const { filterGroups } = HubspotSearch.parse(await readJson(request))
        const { value } = filterGroups[0].filters[0]
        const results = hubspot.filter(({ email }) => email === value)
        return send({ total: results.length, results })
      }
      case 'PUT /v2/objects/people/records': {
        const { data } = AttioUpsert.parse(await readJson(request))
        const { email_addresses: email } = data.values
        return create(() => {
          const { id, createdAt } = attio.find((known) => known.email === email) ?? keep(attio, email)
          return { data: { id: { record_id: id }, created_at: createdAt } }
        })
      }
      default:
        // The request that tests a connection, and the account for links to records.
        return send({ portalId: 42, uiDomain: 'app.hubspot.com' })
    }
  }

  const server = createServer((request, response) => {
    // A request that does not follow the documentation is reported to the caller as a failure.
    answer(request, response).catch((cause: unknown) => response.writeHead(400).end(String(cause)))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hubspot,
    attio,
    asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}
