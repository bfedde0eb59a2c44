// Sends requests generated from our own OpenAPI document: valid ones, and the same with a parameter, a query
// value or a part of the body spoiled. No response may be a 5xx, every response must match the document, and
// each operation must accept at least one request. The same seed sends the same requests.
// npm run faults:fuzz [-- --each 10000 --minutes 600 --seed 1 --callers 4 --at-once 2 --only getUser]
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { createRandom } from '#test/builders/seeded-random.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import type { Json } from '#test/plumbing/harness.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { type Answer, createJudge } from './breaks/described-answers.ts'
import { createWorlds, type World } from './breaks/fuzz-world.ts'
import { createValues } from './breaks/generated-values.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The requests to each operation. */
    each: { type: 'string', default: '10000' },
    /** The time after which no further round is started. */
    minutes: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    /** The concurrent requests of one operation. */
    callers: { type: 'string', default: '4' },
    /** The concurrent operations. */
    'at-once': { type: 'string', default: '2' },
    /** The operations to test, separated by commas. */
    only: { type: 'string' },
  },
})
const MAX_PRINTED = 20
const MAX_SLOW_PRINTED = 10
const EACH = Number(values.each)
/**
 * The requests to each operation in a round. Each round has its own organisation, so that leftovers do not
 * pile up.
 */
const ROUND = Math.min(EACH, 500)
const only = values.only?.split(',') ?? []
/** The operations that ask a model, which does not exist here. */
const APART = new Set(['runAgent'])
/** The operations whose record is gone afterwards, or cannot be used for the same operation again. */
const USING_UP = new Set(['confirmHeldMembers', 'deleteRows', 'restoreCell', 'resumeRun'])
type Operation = { method: string; path: string; operation: Json; place: number }

const installation = await openInstallation()
const list = await serveProvider(0, {
  items: [{ id: 1, name: 'Acme' }],
  ok: true,
  channels: [{ id: 'C1', name: 'general' }],
})
const dispatcher = new Agent({ connections: Number(values.callers) * Number(values['at-once']) })
try {
  const server = await installation.startServer({ LOAM_PROVIDER_URL_SLACK: list.url })
  const document: Json = await fetch(`${server.url}/api/v1/openapi.json`).then((answer) => answer.json())
  const schemas: Record<string, Json> = document.components.schemas
  const operations = Object.entries<Json>(document.paths)
    .flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, operation]) => ({ method, path, operation })),
    )
    .map((one, place): Operation => ({ ...one, method: one.method.toUpperCase(), place }))
    .filter(({ operation: { operationId } }) => !APART.has(operationId))
    .filter(({ operation: { operationId } }) => only.length === 0 || only.includes(operationId))
  const judge = createJudge(schemas)
  const openOrg = await createWorlds(installation, server.url, list.url)
  const faults: string[] = []
  const statuses = new Map<number, number>()
  const untaken = new Set<string>()
  const spent = new Map<string, number>()

  async function send(
    { method, path, operation }: Operation,
    world: World,
    random: () => number,
    isPlain: boolean,
  ): Promise<number> {
    const generate = createValues(schemas, random)
    const chance = (share: number) => isPlain || generate.chance(share)
    const kinds = ['valid', 'valid', 'parameter', 'query', 'body', 'body', 'body', 'text']
    const kind = isPlain ? 'valid' : generate.pick(kinds)
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (kind === 'parameter' && generate.chance(0.7)) return encode(generate.hostileText())
      const known = chance(0.95) ? world.ids[name] : undefined
      return encode(known ?? String(generate.make({ type: 'string', format: 'uuid' })))
    })
    const query = new URLSearchParams()
    for (const { name, schema, required, in: place } of (operation.parameters ?? []) as Json[]) {
      if (place !== 'query' || !(required || (!isPlain && generate.chance(0.4)))) continue
      const known = chance(0.8) ? world.query[name] : undefined
      query.set(name, kind === 'query' ? generate.hostileText() : (known ?? String(generate.make(schema))))
    }
    if (kind === 'query' && generate.chance(0.3)) query.set(generate.hostileText(), generate.hostileText())
    const body = makeBody(operation, path, world, generate, kind, chance)
    const search = query.size === 0 ? '' : `?${query.toString().slice(0, 8000)}`
    const answer = await ask(`${server.url}${filled}${search}`, {
      dispatcher,
      method,
      headers: {
        ...(path.startsWith('/hooks/') ? {} : { authorization: `Bearer ${world.key}` }),
        ...(body !== undefined && { 'content-type': body.type }),
      },
      ...(body !== undefined && { body: body.text }),
    })
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const wrong = judge(answer, operation)
    if (wrong !== null && faults.length < MAX_PRINTED) {
      const sent = `${method} ${(filled + search).slice(0, 300)} ${(body?.text ?? '').slice(0, 400)}`
      faults.push(`${sent}: ${wrong}`)
    } else if (wrong !== null) faults.push('')
    return answer.status
  }

  async function tryOperation(operation: Operation, round: number): Promise<void> {
    const { operationId } = operation.operation
    const before = faults.length
    const started = performance.now()
    const makeWorld = await openOrg(operation.path, operationId)
    const isUsedUp = operation.method === 'DELETE' || USING_UP.has(operationId)
    const callers = Math.min(Number(values.callers), Math.ceil(ROUND / 10))
    let isTaken = false
    const work = async (caller: number) => {
      const random = createRandom(
        Number(values.seed) * 7919 + operation.place * 101 + caller + round * 1_000_003,
      )
      const world = await makeWorld()
      for (let sent = caller; sent < ROUND; sent += callers) {
        const status = await send(operation, world, random, sent === caller)
        if (status >= 300) continue
        isTaken = true
        if (isUsedUp) await world.renew()
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)))
    const ms = (performance.now() - started) / ROUND
    if (ms > (spent.get(operationId) ?? 0)) spent.set(operationId, ms)
    if (!isTaken) untaken.add(operationId)
    if (faults.length > before) say(`${operationId}: ${faults.length - before} faults`)
  }

  const started = performance.now()
  const minutes = () => (performance.now() - started) / 60_000
  let each = 0
  for (let round = 0; each < EACH && (round === 0 || minutes() < Number(values.minutes)); round += 1) {
    const queue = [...operations]
    const takeTurns = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await tryOperation(next, round)
    }
    await Promise.all(Array.from({ length: Number(values['at-once']) }, takeTurns))
    each += ROUND
    const statusCounts = [...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${status}: ${count}`)
    say(
      `${operations.length} operations x ${each} in ${minutes().toFixed(1)} minutes; ${statusCounts.join(', ')}`,
    )
  }
  const slowest = [...spent].toSorted(([, one], [, other]) => other - one).slice(0, MAX_SLOW_PRINTED)
  say(
    `ms a request, with what it used up: ${slowest.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(', ')}`,
  )
  for (const fault of faults.filter((one) => one !== '')) say(`  ${fault}`)
  check('answers of 5xx or off their schema', faults.length, 0)
  check('operations that took no request', [...untaken].join(', '), '')
  check('requests to each operation', each, EACH)
  check('the server runs', server.child.exitCode, null)
} finally {
  list.close()
  await dispatcher.close()
  await installation.close()
}
sayVerdict('fuzz')

async function ask(url: string, options: Parameters<typeof request>[1]): Promise<Answer> {
  const { statusCode: status, headers, body } = await request(url, options)
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  if (type !== 'text/event-stream') return { status, type, text: await body.text() }
  // A stream ends when its reader closes it.
  body.on('error', () => {}).destroy()
  return { status, type, text: '' }
}

function makeBody(
  operation: Json,
  path: string,
  world: World,
  generate: ReturnType<typeof createValues>,
  kind: string,
  chance: (share: number) => boolean,
): { type: string; text: string } | undefined {
  if (operation.requestBody?.content['application/octet-stream'] !== undefined) {
    const text = kind === 'body' ? generate.hostileText() : 'a,b\n1,2\n'
    return { type: kind === 'text' ? 'text/html; charset=x' : 'application/octet-stream', text }
  }
  const content = operation.requestBody?.content['application/json']
  if (content === undefined) return undefined
  const made = path.startsWith('/hooks/')
    ? { a: generate.hostileText(), b: generate.make({ type: 'string' }) }
    : world.body !== undefined && chance(0.5)
      ? world.body
      : content.example !== undefined && chance(0.4)
        ? content.example
        : generate.make(content.schema)
  const text = JSON.stringify(kind === 'body' ? generate.spoil(made) : made) ?? 'null'
  return { type: 'application/json', text: kind === 'text' ? spoilText(text, generate) : text }
}

/** Encodes a part of a path. A half of a surrogate pair has no encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || '%20'
}

/** Returns text that is no longer JSON, or JSON with another content. */
function spoilText(text: string, generate: ReturnType<typeof createValues>): string {
  const at = Math.floor(text.length / 2)
  return generate.pick([
    '',
    text.slice(0, at),
    `${text}${text}`,
    `${text.slice(0, at)}\u0000${text.slice(at)}`,
    text.replace(/"/, "'"),
    `[${text}`,
    '[1e999,-0,1E-999]',
    `{"a":1,"a":2}`,
    '['.repeat(5000),
    '\ufeff{}',
  ])
}
