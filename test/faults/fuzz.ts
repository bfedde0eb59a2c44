// Requests generated from our own OpenAPI document: valid ones, and the same with a parameter, a query value or a place of the
// body spoiled. No answer may be a 5xx, and every one must be what the document says of it. The same seed sends the same.
// npm run faults:fuzz [-- --each 10000 --seed 1 --callers 4 --only getUser]
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { Json } from '#test/harness.ts'
import { openInstallation } from '#test/installation.ts'
import { serveProvider } from '#test/provider.ts'
import { createRandom } from '#test/seeded-random.ts'
import { callOver } from '#test/sheets.ts'
import { createWorlds, type World } from './fuzz-world.ts'
import { createValues } from './generated-values.ts'
import { check, say, sayVerdict } from './installation.ts'

const { values } = parseArgs({
  options: {
    /** Requests to each operation. */
    each: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    callers: { type: 'string', default: '4' },
    /** Operations, separated by commas. */
    only: { type: 'string' },
  },
})
const MAX_TOLD = 20
const REFERENCE = '#/components/schemas/'
const only = values.only?.split(',') ?? []
/** Asks a model, of which there is none here. */
const APART = new Set(['runAgent'])

const installation = await openInstallation()
const list = await serveProvider(0, { items: [{ id: 1, name: 'Acme' }] })
try {
  const { orgId, key } = await installation.makeOrg('Generated', 1_000_000)
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const document: Json = await fetch(`${server.url}/api/v1/openapi.json`).then((answer) => answer.json())
  const schemas: Record<string, Json> = document.components.schemas
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item)
      .filter(([, { operationId }]) => !APART.has(operationId))
      .filter(([, { operationId }]) => only.length === 0 || only.includes(operationId))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

  /** What a schema refers to, and what that refers to: the whole document would be read for each answer. */
  function schemasOf(schema: Json, found: Record<string, Json> = {}): Record<string, Json> {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found[name] !== undefined) continue
      found[name] = schemas[name]
      schemasOf(schemas[name], found)
    }
    return found
  }

  const validators = new Map<Json, z.ZodType>()
  function validatorOf(schema: Json): z.ZodType {
    const known = validators.get(schema)
    if (known !== undefined) return known
    const whole = JSON.stringify({ ...schema, $defs: schemasOf(schema) })
    const made = z.fromJSONSchema(JSON.parse(whole.replaceAll(REFERENCE, '#/$defs/')))
    validators.set(schema, made)
    return made
  }

  const org = { orgId, adminEmail: 'admin@example.com' }
  const makeWorld = await createWorlds(installation, call, org, list.url)
  const faults: string[] = []
  const statuses = new Map<number, number>()

  async function send(
    { method, path, operation }: (typeof operations)[number],
    world: World,
    random: () => number,
  ): Promise<number> {
    const generate = createValues(schemas, random)
    const kind = generate.pick(['valid', 'valid', 'parameter', 'query', 'body', 'body', 'body', 'text'])
    const parameters: Json[] = operation.parameters ?? []
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (kind === 'parameter' && generate.chance(0.7)) return encode(generate.hostileText())
      const known = generate.chance(0.95) ? world.ids[name] : undefined
      return encode(known ?? String(generate.make({ type: 'string', format: 'uuid' })))
    })
    const query = new URLSearchParams()
    for (const { name, schema, required, in: place } of parameters) {
      if (place !== 'query' || !(required || generate.chance(0.4))) continue
      const known = generate.chance(0.8) ? world.query[name] : undefined
      query.set(name, kind === 'query' ? generate.hostileText() : (known ?? String(generate.make(schema))))
    }
    if (kind === 'query' && generate.chance(0.3)) query.set(generate.hostileText(), generate.hostileText())
    const content = operation.requestBody?.content['application/json']
    let body: string | undefined
    if (content !== undefined) {
      const made = path.startsWith('/hooks/')
        ? { a: generate.hostileText(), b: generate.make({ type: 'string' }) }
        : world.body !== undefined && generate.chance(0.5)
          ? world.body
          : content.example !== undefined && generate.chance(0.4)
            ? content.example
            : generate.make(content.schema)
      body = JSON.stringify(kind === 'body' ? generate.spoil(made) : made) ?? 'null'
      if (kind === 'text') body = spoilText(body, generate)
    }
    const headers = {
      ...(path.startsWith('/hooks/') ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const search = query.size === 0 ? '' : `?${query.toString().slice(0, 8000)}`
    const url = `${server.url}${filled}${search}`
    const answer = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const wrong = await judge(answer, operation)
    if (wrong !== null && faults.length < MAX_TOLD) {
      faults.push(`${method} ${(filled + search).slice(0, 300)} ${(body ?? '').slice(0, 400)}: ${wrong}`)
    } else if (wrong !== null) faults.push('')
    return answer.status
  }

  /** What is wrong with an answer, or null. */
  async function judge(answer: Response, operation: Json): Promise<string | null> {
    const { status } = answer
    if (/event-stream/.test(answer.headers.get('content-type') ?? '')) {
      await answer.body?.cancel()
      return operation.responses[status]?.content?.['text/event-stream'] === undefined
        ? 'a stream, undescribed'
        : null
    }
    const said = await answer.text()
    if (status >= 500) return `${status} ${said.slice(0, 300)}`
    const described = operation.responses[status]
    if (described === undefined) return `${status} is not described: ${said.slice(0, 300)}`
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
    if (described.content !== undefined && described.content[type] === undefined)
      return `${status} is not described as ${type}: ${said.slice(0, 300)}`
    if (type === 'text/csv') return null
    const schema = described.content?.['application/json']?.schema
    if (schema === undefined) return null
    let read: unknown
    try {
      read = JSON.parse(said)
    } catch {
      return `${status} is no JSON: ${said.slice(0, 200)}`
    }
    const { error } = validatorOf(schema).safeParse(read)
    return error === undefined
      ? null
      : `${status} off its schema: ${error.issues
          .map((issue) => `${issue.path.join('.')} ${issue.message}`)
          .slice(0, 3)
          .join('; ')} in ${said.slice(0, 300)}`
  }

  const each = Number(values.each)
  const callers = Number(values.callers)
  const started = Date.now()
  const untaken: string[] = []
  for (const [place, operation] of operations.entries()) {
    const before = faults.length
    let taken = false
    const work = async (caller: number) => {
      const random = createRandom(Number(values.seed) * 7919 + place * 101 + caller)
      const { operationId } = operation.operation
      let world = await makeWorld(operation.path, operationId)
      for (let sent = caller; sent < each; sent += callers) {
        const status = await send(operation, world, random)
        if (status < 300) taken = true
        if (status < 300 && isUsedUp(operation)) world = await makeWorld(operation.path, operationId)
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)))
    if (!taken) untaken.push(operation.operation.operationId)
    if (faults.length > before) say(`${operation.operation.operationId}: ${faults.length - before} faults`)
  }
  const told = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  say(`${operations.length} operations x ${each} in ${Math.round((Date.now() - started) / 1000)} s`)
  say(told.join(', '))
  if (untaken.length > 0) say(`never taken: ${untaken.join(', ')}`)
  for (const fault of faults.filter((one) => one !== '')) say(`  ${fault}`)
  check('answers of 5xx or off their schema', faults.length, 0)
  check('some requests are taken', (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > 0, true)
  check('the server runs', server.child.exitCode, null)
} finally {
  list.close()
  await installation.close()
}
sayVerdict('fuzz')

/** What it was about is not there any more, or not so that it can be done again. */
function isUsedUp({ method, operation }: { method: string; operation: Json }): boolean {
  return method === 'DELETE' || operation.operationId === 'confirmHeldMembers'
}

/** A part of a path; a half of a surrogate pair has no encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || '%20'
}

/** No JSON any more, or JSON that says something else. */
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
