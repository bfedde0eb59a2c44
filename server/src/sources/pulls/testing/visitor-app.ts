import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OPEN_GATE, type Reply } from '#server/catalog/testing/provider-double.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { openNameServer, type Zone } from '#test/doubles/name-answers.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp, type TestApp, type TestOrg } from '#test/plumbing/harness.ts'
import { deliverRecords } from '../delivery-job.ts'
import { runPull } from '../pull-job.ts'
import type { PullParts } from '../pull-parts.ts'

/** Public internet addresses of visitors, with what name servers and IPinfo know about them. */
export const ACME = '93.184.216.34'
export const ACME_SIX = '2606:2800:220:1:248:1893:25c8:1946'
export const LIAR = '93.184.216.35'
export const HOME = '93.184.216.36'
export const GLOBEX = '93.184.216.40'
export const NOBODY = '93.184.216.99'

const ZONE: Zone = {
  '34.216.184.93.in-addr.arpa': { ptr: ['gateway.acme.com'] },
  '6.4.9.1.8.c.5.2.3.9.8.1.8.4.2.0.1.0.0.0.0.2.2.0.0.0.8.2.6.0.6.2.ip6.arpa': { ptr: ['six.acme.com'] },
  'gateway.acme.com': { a: [ACME] },
  'six.acme.com': { aaaa: [ACME_SIX] },
  // This address claims a name that does not resolve back to it.
  '35.216.184.93.in-addr.arpa': { ptr: ['www.acme.com'] },
  'www.acme.com': { a: ['192.0.2.1'] },
  '36.216.184.93.in-addr.arpa': { ptr: ['c-36.hsd1.comcast.net'] },
  'c-36.hsd1.comcast.net': { a: [HOME] },
}

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36'
const NEVER = new AbortController().signal

export type Beacon = {
  url?: string
  title?: string
  referrer?: string
  from?: string
  agent?: string
  origin?: string | null
  type?: string
  body?: string
}

/** Serves an IPinfo. `known` holds its replies by address, `asked` the addresses that it was asked for. */
async function serveIpinfo() {
  const known = new Map<string, Reply>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const address = decodeURIComponent(
      new URL(request.url ?? '', 'http://ipinfo').pathname.split('/')[1] ?? '',
    )
    asked.push(address)
    const reply = known.get(address) ?? {
      json: { ip: address, company: { name: 'Home', domain: 'home.net', type: 'isp' } },
    }
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(JSON.stringify(reply.json ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, known, asked }
}

/** Starts the real application with a name server and an IPinfo on loopback. */
export async function makeVisitorApp(settings: Record<string, string> = {}) {
  const names = await openNameServer(ZONE)
  atEnd(names.close)
  const { origin, known, asked } = await serveIpinfo()
  const app = await makeApp({
    settings: {
      LOAM_EGRESS_ALLOW: '127.0.0.1',
      LOAM_DNS_SERVERS: names.server,
      LOAM_PROVIDER_URL_IPINFO: origin,
      ...settings,
    },
  })
  const { store, sealer, config, egress, models, log, sources } = app.services
  const parts: PullParts = {
    store,
    sources,
    keysOf: (member) => createRunEnvironment(store, sealer, config.providerKeys).keysOfMember(member),
    services: { egress, gates: { of: () => OPEN_GATE }, models, now: () => new Date() },
    log,
    sealer,
  }
  const visitors = {
    app,
    parts,
    names,
    known,
    asked,
    ...createVisitorCalls(app, parts),
    /** Creates a source with its pixel, and helpers that process its visits. */
    async track(org: TestOrg, body: object = {}) {
      const { source_instance_id: id, pixel_id: pixel } = await visitors.create(org, body)
      return {
        id,
        pixel,
        work: () => visitors.work(org, id),
        rows: () => visitors.rows(org, id),
        show: () => visitors.show(org, id),
      }
    },
  }
  return visitors
}

function createVisitorCalls(app: TestApp, parts: PullParts) {
  const { store } = app.services
  return {
    async create(org: TestOrg, body: object = {}, slug = 'track_website_visitors') {
      const made = await org.call('POST', `/sources/${slug}`, { active_domain: 'shop.example.com', ...body })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.data as {
        source_instance_id: string
        pixel_id: string
        pixel_script: string
        webhook_url?: string
      }
    },
    /** Sends a beacon as a browser does. */
    async visit(pixelId: string, beacon: Beacon = {}) {
      const {
        url = 'https://shop.example.com/',
        from = ACME,
        agent = AGENT,
        type = 'text/plain;charset=UTF-8',
      } = beacon
      const origin = beacon.origin === undefined ? 'https://shop.example.com' : beacon.origin
      return app.api.inject({
        method: 'POST',
        url: `/pixel/${pixelId}`,
        remoteAddress: from,
        headers: { 'content-type': type, 'user-agent': agent, ...(origin === null ? {} : { origin }) },
        payload:
          beacon.body ??
          JSON.stringify({ url, title: beacon.title ?? 'Shop', referrer: beacon.referrer ?? '' }),
      })
    },
    /** Runs the job of a source once, as a worker does. */
    work: (org: TestOrg, id: string, more: Partial<PullParts> = {}) =>
      runPull({ ...parts, ...more }, { org_id: org.orgId, instance_id: id }, NEVER),
    deliver: (org: TestOrg, id: string, workflowId: string) =>
      deliverRecords(
        store.org(org.orgId),
        { org_id: org.orgId, instance_id: id, workflow_id: workflowId },
        NEVER,
      ),
    show: async (org: TestOrg, id: string) => (await org.call('GET', `/sources/${id}`)).body.data,
    rows: async (org: TestOrg, id: string): Promise<Record<string, unknown>[]> =>
      (await org.call('GET', `/sources/${id}/data?page_size=200`)).body.data.rows,
    set: (id: string, change: string) =>
      store.query({ text: `update sources set ${change} where instance_id = $1`, values: [id] }),
    count: async (table: string, id: string) => {
      const [found] = await store.query<{ count: number }>({
        text: `select count(*)::int as count from ${table} where instance_id = $1`,
        values: [id],
      })
      return found?.count
    },
  }
}
