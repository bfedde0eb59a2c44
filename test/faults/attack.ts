// Attack: shapes that the other fault programs leave out, through every way in. Texts of one repeated part and
// large answers go through chains of actions, pages and feeds of random parts are read, a model and a server of
// sources answer badly, files are imported, and hostile texts stand in every field of every request. Meanwhile
// another organisation works, and the time that the server's main thread works without a pause is measured.
// npm run faults:attack [-- --held-ms 200 --pages 150 --text-kb 256 --only texts --seconds 300 --list --profile]
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { printTurn } from '#server/catalog/testing/chat-turn.ts'
import { createRandom } from '#test/builders/seeded-random.ts'
import { callOver, makeSheet, type Step } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { attackLines, attackPages } from './breaks/attack-pages.ts'
import { attackAnswers, attackFormulas, attackTexts } from './breaks/attack-texts.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { sendRequests, type Target, targetOf } from './load/hostile-requests.ts'
import {
  checkHeld,
  type Family,
  type FamilyResult,
  runNeighbour,
  runShapes,
  watchedBy,
} from './load/shape-runs.ts'

const { values } = parseArgs({
  options: {
    'held-ms': { type: 'string', default: '200' },
    'memory-mb': { type: 'string', default: '1024' },
    pages: { type: 'string', default: '150' },
    'text-kb': { type: 'string', default: '256' },
    /** The number of values in the answers that later actions read. */
    values: { type: 'string', default: '200000' },
    each: { type: 'string', default: '1' },
    /** Selects the families with this text in their name. */
    only: { type: 'string', default: '' },
    /** The longest time of a family. */
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '43' },
    list: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
})
const random = createRandom(Number(values.seed))
const CANARY = 'canary-of-the-neighbour'
const KB = 1024
const PLAIN = '<html><title>Acme</title><p>Mail us: info@acme.example. <a href="/about">About</a></html>'

type Served = {
  body: string
  type?: string
  robots?: string
  feeds?: string
  headers?: Record<string, string>
}

/** The answers by host. Each shape has its own host, so that no cached page of another is used. */
const hosts = new Map<string, Served>()
const site = createServer((request, response) => {
  const served = hosts.get((request.headers.host ?? '').split(':')[0] ?? '')
  const isRobots = request.url === '/robots.txt'
  const feed = request.url !== '/' && served?.feeds !== undefined
  const body = isRobots ? (served?.robots ?? '') : feed ? (served.feeds ?? '') : (served?.body ?? '')
  const type = isRobots ? 'text/plain' : feed ? 'application/xml' : (served?.type ?? 'text/html')
  response.writeHead(isRobots && body === '' ? 404 : 200, { 'content-type': type, ...served?.headers })
  response.end(body.replaceAll('ORIGIN', `http://${request.headers.host}`))
  request.resume()
})
await new Promise<void>((resolve) => site.listen(0, '0.0.0.0', resolve))
const { port } = site.address() as AddressInfo

function serve(served: Served): string {
  const number = hosts.size + 1
  const host = `127.22.${Math.floor(number / 250)}.${(number % 250) + 1}`
  hosts.set(host, served)
  return `http://${host}:${port}/`
}

/** The texts with which the model answers. The prompt names one by its number. */
const answers: string[] = []
const model = createServer((request, response) => {
  let asked = ''
  request.setEncoding('utf8').on('data', (part: string) => (asked += part))
  request.on('end', () => {
    const says = answers[Number(/answer number (\d+)/.exec(asked)?.[1] ?? 0)] ?? ''
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(printTurn({ says })))
  })
})
await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))

const step = (action_id: string, inputs: Record<string, unknown>): Step => ({ action_id, inputs })
const conditions = (operators: string[], variable: string, value: string) => [
  { conditions: operators.map((operator) => ({ variable, operator, values: [value], combinator: 'OR' })) },
]
const texts = [...attackTexts(Number(values['text-kb']) * KB)]
const bad = [...attackTexts(60 * KB)]

const OF_TEXTS: Step[] = [
  step('normalize_domain', { value: '{{input.text}}' }),
  step('split_full_name', { value: '{{input.text}}' }),
  step('parse_phone_number', { value: '{{input.text}}' }),
  step('verify_email', { email: '{{input.text}}' }),
  step('raw_to_structured_array', { array: '{{input.text}}' }),
  step('merge_lists', { lists: ['{{input.text}}', '{{input.text}}'], key_column: 'a' }),
  step('company_job_openings', { board: '{{input.text}}' }),
  step('records_ingest', {
    source: 'attack',
    entity_kind: 'company',
    identifiers: [{ name: 'domain', value: '{{input.text}}' }],
    fields: [{ name: 'text', value: '{{input.text}}' }],
  }),
  step('format_data_using_js_expression', { data_formatter: '{{input.text}}.length' }),
  step('filter', {
    path_conditions: conditions(
      ['contains', 'is', 'starts with', 'ends with', 'is after'],
      '{{input.text}}',
      '{{input.find}}',
    ),
  }),
]
const ITEMS = '{{http_api_call_1.items}}'
const OF_ANSWERS: Step[] = [
  step('http_api_call', { method: 'GET', endpoint: '{{input.url}}' }),
  step('raw_to_structured_array', { array: ITEMS }),
  step('merge_lists', { lists: [ITEMS, ITEMS], key_column: 'a' }),
  step('format_data_using_js_expression', { data_formatter: `${ITEMS}.length` }),
  step('send_webhook', { url: '{{input.sink}}', payload: `{"items": ${ITEMS}}` }),
  step('normalize_domain', { value: `a ${ITEMS}` }),
  step('ai_generate', {
    model: 'scripted',
    prompt: `answer number 0 ${ITEMS}`,
    output_format: { fields: [{ name: 'answer', type: 'string' }] },
  }),
  step('records_ingest', {
    source: 'attack',
    entity_kind: 'company',
    identifiers: [{ name: 'domain', value: '{{input.url}}' }],
    fields: [{ name: 'items', value: ITEMS }],
  }),
  step('filter', {
    path_conditions: conditions(
      ['contains', 'does not contain', 'contains', 'is', 'is not'],
      ITEMS,
      '123456789123456789.5',
    ),
  }),
]
const scrape = step('scrape_website', { url: '{{input.url}}', max_pages: '2' })
const sink = serve({ body: '{}', type: 'application/json' })
const onSites = (shapes: Iterable<[string, string]>, serving: (shape: string) => Served): Family['rows'] =>
  [...shapes].map(([what, shape]) => [what, { url: serve(serving(shape)), sink }])

function modelRows(): Family['rows'] {
  return bad.flatMap(([what, text], n): Family['rows'] => {
    if (n % 3 !== 0) return []
    const said =
      n % 2 === 0
        ? `</think>${text}`
        : JSON.stringify({ email: { value: text, sources: [{ page: text, quote: text }] } })
    return [[what, { prompt: `answer number ${answers.push(said) - 1}` }]]
  })
}

const families: Family[] = [
  {
    name: 'texts in rows',
    inputs: ['text', 'find'],
    chain: OF_TEXTS,
    rows: texts.map(([what, text]) => [what, { text, find: text.slice(0, 900) }]),
  },
  {
    name: 'large answers in a chain',
    inputs: ['url', 'sink'],
    chain: OF_ANSWERS,
    rows: onSites(attackAnswers(Number(values.values)), (body) => ({ body, type: 'application/json' })),
  },
  {
    name: 'formulas',
    mayThrow: true,
    inputs: ['code'],
    chain: [step('format_data_using_js_expression', { data_formatter: '(0, eval)({{input.code}})' })],
    rows: [...attackFormulas()].map(([what, code]) => [what, { code }]),
  },
  {
    name: 'random pages',
    inputs: ['url', 'sink'],
    chain: [
      scrape,
      step('company_profile_from_website', { domain: '{{input.url}}' }),
      step('detect_technologies', { domain: '{{input.url}}' }),
    ],
    rows: onSites(attackPages(Number(values.pages), random), (body) => ({ body })),
  },
  {
    name: 'random robots.txt, feeds and sitemaps',
    inputs: ['url', 'sink'],
    chain: [scrape, step('company_news', { domain: '{{input.url}}' })],
    rows: onSites(attackLines(Number(values.pages) / 3, random), (text) => ({
      body: `<link rel="alternate" type="application/rss+xml" href="/feed">${PLAIN}`,
      robots: text,
      feeds: text,
    })),
  },
  {
    name: 'answers of a model',
    inputs: ['prompt'],
    chain: [
      step('ai_generate', {
        model: 'scripted',
        prompt: '{{input.prompt}}',
        output_format: { fields: [{ name: 'answer', type: 'string' }] },
      }),
      step('ai_generate', {
        model: 'scripted',
        prompt: '{{input.prompt}}',
        output_format: {
          json: { type: 'object', properties: { email: { type: 'string', format: 'email' } } },
        },
      }),
    ],
    rows: modelRows(),
  },
]

const folder = mkdtempSync(join(tmpdir(), 'loam-attack-'))
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
let neighbours: ReturnType<typeof runNeighbour> | undefined
const installation = await openInstallation()
try {
  const server = await installation.startServer({
    ...watchedBy(watchFile, values.profile),
    LOAM_EGRESS_ALLOW: '127.0.0.0/8',
    LOAM_MODEL_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
    LOAM_MODELS: 'scripted',
    LOAM_PREVIEWS_PER_HOUR: '1000000',
  })
  const attacker = await installation.makeOrg('Attacker', 1_000_000)
  const neighbour = await installation.makeOrg('Neighbour', 1_000_000)
  const pid = server.child.pid ?? 0
  const idle = residentMb(pid)
  const memory = watchMemory(() => [pid])
  neighbours = runNeighbour(callOver(server.url, neighbour.key), serve({ body: PLAIN }), CANARY)
  await fetch(`${server.url}/api/v1/openapi.json`).then((answer) => answer.text())
  // Code that is loaded and compiled at its first use does not count as the work of an attack.
  while (neighbours.runs() < 2) await sleep(100)
  const results: FamilyResult[] = []
  const call = callOver(server.url, attacker.key)
  for (const family of families) {
    if (family.name.includes(values.only)) results.push(await runShapes(call, family, options))
  }
  const target = targetOf(server.url, attacker.key, options)
  const others: [string, (target: Target) => Promise<number>][] = [
    ['answers to previews', sendPreviews],
    ['files', sendFiles],
    ['texts in requests', (of) => sendRequests(of, bad, serve({ body: '[{"a":1}]' }))],
  ]
  for (const [name, send] of others) {
    if (!name.includes(values.only)) continue
    const began = Date.now()
    const shapes = await send(target)
    results.push({
      name,
      shapes,
      seconds: (Date.now() - began) / 1000,
      longestMs: checkHeld(name, began, options),
    })
  }
  const { runs, failures } = await neighbours.stop()
  const peak = memory.stop()
  say(`the neighbour ran ${runs} times; ${Math.round(peak - idle)} MB above ${Math.round(idle)} MB at most`)
  for (const { name, shapes, seconds, longestMs } of results)
    say(`| ${name} | ${shapes} | ${seconds.toFixed(0)} s | ${longestMs} ms |`)
  check('shapes tried', results.reduce((sum, { shapes }) => sum + shapes, 0) > 0, true)
  check('rows of the neighbour that failed', failures, 0)
  check('the server is the same process', server.child.exitCode, null)
  check(`at most ${values['memory-mb']} MB more`, peak - idle <= Number(values['memory-mb']), true)
} finally {
  await neighbours?.stop()
  site.close()
  site.closeAllConnections()
  model.close()
  model.closeAllConnections()
  await installation.close()
  rmSync(folder, { recursive: true, force: true })
}
sayVerdict('attack')

/** Previews sources whose server answers with lists, pages, files and headers of every kind. */
async function sendPreviews({ send }: Target): Promise<number> {
  let shapes = 0
  const preview = async (source: string, what: string, body: object) => {
    shapes += 1
    const path = `/api/v1/sources/${source}/preview`
    await send(`${source}, ${what}`, { method: 'POST', path, body: JSON.stringify(body) })
  }
  for (const [what, body] of attackAnswers(Number(values.values))) {
    const url = serve({ body, type: 'application/json' })
    await preview('import_from_api', what, { url })
    await preview('import_from_csv_url', what, { url: serve({ body, type: 'text/csv' }) })
  }
  for (const [what, text] of bad.filter((_, n) => n % 5 === 0)) {
    const cursor = { next: text, items: [{ id: 1, a: text }] }
    const url = serve({ body: JSON.stringify(cursor), type: 'application/json' })
    await preview('import_from_api', `cursor of ${what}`, {
      url,
      items: 'items',
      paging: { type: 'cursor', parameter: 'c', path: 'next' },
    })
    await preview('import_from_csv_url', what, {
      url: serve({ body: `a,b\n${text}\n1,2`, type: 'text/csv' }),
    })
  }
  for (const part of ['<', ';', 'next ', '<a>;rel="next', ', ', '"', '<>;', ' ;rel=next']) {
    const headers = { link: part.repeat(15_000 / part.length) }
    const url = serve({ body: '[{"a":1}]', type: 'application/json', headers })
    await preview('import_from_api', `links of ${part}`, { url, paging: { type: 'link' } })
  }
  for (const [what, body] of attackPages(Number(values.pages) / 5, random))
    await preview('extract_from_website', what, { url: serve({ body }), item: 'products', fields: ['name'] })
  return shapes
}

/** Uploads files and asks for their preview by an import into a sheet. */
async function sendFiles({ origin, key, send }: Target): Promise<number> {
  const call = callOver(origin, key)
  const sheet = await makeSheet(call, ['text'])
  let shapes = 0
  for (const [what, text] of texts.filter((_, n) => n % 5 < 2)) {
    for (const body of [`text,b\n${text}\n`, `${text}\n${text}\n`]) {
      shapes += 1
      const sent = await send(`CSV of ${what}`, {
        method: 'POST',
        path: '/api/v1/files?name=rows.csv',
        body,
        type: 'text/csv',
      })
      const file = JSON.parse(sent.text).data?.file_id
      if (file === undefined) continue
      await send(`import of ${what}`, {
        method: 'POST',
        path: `/api/v1${sheet}/csv`,
        body: JSON.stringify({ file_id: file, mapping: { text: 'text' }, run_after_import: 'none' }),
      })
    }
  }
  return shapes
}
