// R21: worst cases for everything that reads what strangers send or serve: pages, robots.txt, feeds,
// sitemaps, PDFs, JSON, texts that are searched, values that are masked, formulas. Each is a row of a real
// run. At the same time another organisation runs its own rows. The time that the server's main thread works
// without a pause is measured inside it (thread-watch.mjs).
// npm run faults:r21 [-- --held-ms 200 --mixtures 120 --each 1 --only pages --seconds 900 --list --profile]
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type ChatBody, printTurn } from '#server/catalog/testing/chat-turn.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { setEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createRandom } from '#test/builders/seeded-random.ts'
import { callOver, type Step } from '#test/builders/sheets.ts'
import { openInstallation, SECRET } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { worstPages } from './breaks/worst-pages.ts'
import {
  worstFormulas,
  worstJson,
  worstPdfs,
  worstRobots,
  worstSearches,
  worstXml,
} from './breaks/worst-shapes.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { type Family, runNeighbour, runShapes, watchedBy } from './load/shape-runs.ts'

const { values } = parseArgs({
  options: {
    'held-ms': { type: 'string', default: '200' },
    'memory-mb': { type: 'string', default: '1024' },
    /** The pages of three constructs each, in addition to those of one. */
    mixtures: { type: 'string', default: '120' },
    /** Tries one of this many shapes. */
    each: { type: 'string', default: '1' },
    /** Selects the families with this text in their name. */
    only: { type: 'string', default: '' },
    /** The longest time of a family. */
    seconds: { type: 'string', default: '1200' },
    seed: { type: 'string', default: '43' },
    /** Prints how every shape ended. */
    list: { type: 'boolean', default: false },
    /** Prints the functions that took most of the longest periods. V8's profiler makes them a little longer. */
    profile: { type: 'boolean', default: false },
  },
})
const random = createRandom(Number(values.seed))
const CANARY = 'canary-of-the-neighbour'

type Served = { body: string; type?: string; robots?: string; feeds?: string }

/** The pages by host. Each shape has its own host, so that no cached page of another is used. */
const hosts = new Map<string, Served>()
const site = createServer((request, response) => {
  const served = hosts.get((request.headers.host ?? '').split(':')[0] ?? '')
  const origin = `http://${request.headers.host}`
  const [body, type] =
    served === undefined
      ? ['', 'text/html']
      : request.url === '/robots.txt'
        ? [served.robots ?? '', 'text/plain']
        : request.url === '/' || served.feeds === undefined
          ? [served.body, served.type ?? 'text/html']
          : [served.feeds, 'application/xml']
  response.writeHead(body === '' && request.url === '/robots.txt' ? 404 : 200, { 'content-type': type })
  response.end(body.includes('ORIGIN') ? body.replaceAll('ORIGIN', origin) : Buffer.from(body, 'latin1'))
})
await new Promise<void>((resolve) => {
  site.listen(0, '0.0.0.0', resolve)
})
const { port } = site.address() as AddressInfo

/** A model that reads the page that the task names, uses the whole page as the text to find, and gives up. */
const model = createServer((request, response) => {
  const think = async () => {
    const { messages } = JSON.parse(await text(request)) as ChatBody
    const url = /http:\/\/127\.21\.[\d.:]+\//.exec(JSON.stringify(messages))?.[0]
    const isRead = messages.some(({ role }) => role === 'tool')
    const input = { url, looking_for: 'x '.repeat(500) }
    const turn =
      isRead || url === undefined ? { says: '{"result": null}' } : { calls: [{ name: 'read_page', input }] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(printTurn(turn)))
  }
  void think()
})
model.listen(0, '127.0.0.1')

/** Returns the address of a host that serves this page. */
function serve(served: Served): string {
  const number = hosts.size + 1
  const host = `127.21.${Math.floor(number / 250)}.${(number % 250) + 1}`
  hosts.set(host, served)
  return `http://${host}:${port}/`
}

const PLAIN = '<html><title>Acme</title><p>Mail us: info@acme.example. <a href="/about">About</a></html>'
const onSites = (name: string, shapes: Iterable<[string, string]>, serving: (shape: string) => Served) => ({
  name,
  inputs: ['url'],
  rows: [...shapes].map(([what, shape]): [string, Record<string, string>] => [
    what,
    { url: serve(serving(shape)) },
  ]),
})
const scrape: Step[] = [{ action_id: 'scrape_website', inputs: { url: '{{input.url}}' } }]
const profile: Step[] = [{ action_id: 'company_profile_from_website', inputs: { domain: '{{input.url}}' } }]

const families: Family[] = [
  {
    ...onSites('pages, scraped', worstPages(Number(values.mixtures), random), (body) => ({ body })),
    chain: scrape,
  },
  { ...onSites('pages, profiled', worstPages(0, random), (body) => ({ body })), chain: profile },
  { ...onSites('robots.txt', worstRobots(), (robots) => ({ body: PLAIN, robots })), chain: scrape },
  {
    ...onSites('feeds and sitemaps', worstXml(), (feeds) => ({
      body: `<link rel="alternate" type="application/rss+xml" href="/feed">${PLAIN}`,
      feeds,
    })),
    chain: [
      { action_id: 'scrape_website', inputs: { url: '{{input.url}}', max_pages: '3' } },
      { action_id: 'company_news', inputs: { domain: '{{input.url}}' } },
    ],
  },
  {
    ...onSites('PDF files', worstPdfs(random), (body) => ({ body, type: 'application/pdf' })),
    chain: [
      {
        action_id: 'llm_web_agents',
        inputs: { select_a_model: 'scripted', mission: 'What does {{input.url}} say?' },
      },
    ],
  },
  {
    ...onSites('JSON', worstJson(), (body) => ({ body, type: 'application/json' })),
    chain: [{ action_id: 'http_api_call', inputs: { method: 'GET', endpoint: '{{input.url}}' } }],
  },
  {
    ...onSites(
      'masks',
      [...worstSearches()].map(([what, { text }]): [string, string] => [what, text]),
      (body) => ({ body, type: 'text/plain' }),
    ),
    name: 'masked answers',
    chain: [
      {
        action_id: 'http_api_call',
        inputs: {
          method: 'POST',
          endpoint: '{{input.url}}',
          raw_body: '{{env.A}}{{env.B}}',
        },
      },
    ],
  },
  {
    name: 'searches',
    inputs: ['text', 'find'],
    chain: ['contains', 'starts with', 'does not contain', 'ends with'].map((operator) => ({
      action_id: 'filter',
      inputs: {
        path_conditions: [
          { conditions: [{ variable: '{{input.text}}', operator, values: ['{{input.find}}'] }] },
        ],
      },
    })),
    rows: [...worstSearches()],
  },
  {
    name: 'formulas',
    mayThrow: true,
    inputs: ['code'],
    chain: [
      {
        action_id: 'format_data_using_js_expression',
        inputs: { data_formatter: '(0, eval)({{input.code}})' },
      },
    ],
    rows: [...worstFormulas()].map(([what, code]): [string, Record<string, string>] => [what, { code }]),
  },
]

const folder = mkdtempSync(join(tmpdir(), 'loam-r21-'))
const watchFile = join(folder, 'held')
const options = {
  watchFile,
  heldMs: Number(values['held-ms']),
  each: Number(values.each),
  seconds: Number(values.seconds),
  list: values.list,
  profile: values.profile,
  canary: CANARY,
}
const installation = await openInstallation()
try {
  const server = await installation.startServer({
    ...watchedBy(watchFile, values.profile),
    LOAM_EGRESS_ALLOW: '127.0.0.0/8',
    LOAM_MODEL_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
    LOAM_MODELS: 'scripted',
  })
  const attacker = await installation.makeOrg('Attacker', 1_000_000)
  const neighbour = await installation.makeOrg('Neighbour', 1_000_000)
  const scope = { orgId: attacker.orgId, workflowId: null }
  for (const [key, letter] of [
    ['A', 'a'],
    ['B', 'b'],
  ] as const) {
    const value = letter === 'a' ? `${'a'.repeat(24_000)}b` : `${'ab'.repeat(12_000)}aa`
    await setEnv(installation.store.system, createSealer(SECRET), OPERATOR, { scope, key, value })
  }

  const idle = residentMb(server.child.pid ?? 0)
  const memory = watchMemory(() => [server.child.pid ?? 0])
  const neighbours = runNeighbour(callOver(server.url, neighbour.key), serve({ body: PLAIN }), CANARY)
  // Code that is loaded and compiled at its first use does not count as the work of an attack.
  while (neighbours.runs() < 2) await sleep(100)
  let shapes = 0
  for (const family of families) {
    if (!family.name.includes(values.only)) continue
    shapes += (await runShapes(callOver(server.url, attacker.key), family, options)).shapes
  }
  const { runs, failures } = await neighbours.stop()
  say(`${shapes} shapes; the neighbour ran ${runs} times`)
  say(`${Math.round(memory.stop() - idle)} MB above ${Math.round(idle)} MB at most`)
  check('shapes tried', shapes > 0, true)
  check('rows of the neighbour that failed', failures, 0)
  check('the server is the same process', server.child.exitCode, null)
  check(`at most ${values['memory-mb']} MB more`, memory.stop() - idle <= Number(values['memory-mb']), true)
} finally {
  site.close()
  site.closeAllConnections()
  model.close()
  model.closeAllConnections()
  await installation.close()
  rmSync(folder, { recursive: true, force: true })
}
sayVerdict('R21')
