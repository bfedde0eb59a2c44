import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Store } from '#server/database/connection/db.ts'
import { postCharges } from '#server/money/store/limits/posting.ts'
import { addRows, type Call, makeSheet, runAll } from './sheets.ts'

/**
 * Three providers in the order in which they are asked: the price of a result, and how often they have one.
 */
const PROVIDERS = [
  { id: 'hunter', name: 'Hunter', rate: 0.3, millis: 1000 },
  { id: 'datagma', name: 'Datagma', rate: 0.5, millis: 2000 },
  { id: 'findymail', name: 'Findymail', rate: 0.9, millis: 1000 },
] as const
type Id = (typeof PROVIDERS)[number]['id']

export type Ledger = {
  calls: Record<string, number>
  /**
   * The result by row: the address found, the provider that found it, the price, and the providers that were
   * asked.
   */
  rows: Record<string, { email: string | null; provider: string | null; millis: number; asked: string }>
  millis: number
}

const hasAnswer = (id: Id, rate: number, person: string): boolean =>
  createHash('sha256').update(`${id} ${person}`).digest().readUInt32BE() / 2 ** 32 < rate

const addressOf = (id: Id, person: string): string => `${person}@${id}.example`
const personOf = (n: number): string => `person${n}`

/** Predicts the result of `count` rows without a queue, a database or a network. */
export function predict(count: number): Ledger {
  const ledger: Ledger = { calls: { hunter: 0, datagma: 0, findymail: 0 }, rows: {}, millis: 0 }
  for (let n = 0; n < count; n += 1) {
    const person = personOf(n)
    const asked: string[] = []
    const finder = PROVIDERS.find(({ id, name, rate }) => {
      ledger.calls[id] = (ledger.calls[id] ?? 0) + 1
      asked.push(name)
      return hasAnswer(id, rate, person)
    })
    ledger.millis += finder?.millis ?? 0
    ledger.rows[person] = {
      email: finder === undefined ? null : addressOf(finder.id, person),
      provider: finder?.name ?? null,
      millis: finder?.millis ?? 0,
      asked: asked.join(' '),
    }
  }
  return ledger
}

/**
 * Serves the three providers as HTTP services on one port, distinguished by their paths. `calls` counts the
 * calls. `refuse` may return an error status.
 */
export async function serveProviders(refuse: (id: string, person: string) => number | null = () => null) {
  const calls: Record<string, number> = { hunter: 0, datagma: 0, findymail: 0 }
  const answer = (id: Id, person: string): unknown => {
    calls[id] = (calls[id] ?? 0) + 1
    const email = hasAnswer(id, PROVIDERS.find((one) => one.id === id)?.rate ?? 0, person)
      ? addressOf(id, person)
      : null
    if (id === 'hunter') return { data: { email, score: 90, verification: { status: 'valid' } } }
    return id === 'datagma' ? { email, smtpCheck: true } : { contact: { email } }
  }
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://double')
      const found = PROVIDERS.find(({ id }) => url.pathname.startsWith(`/${id}/`))
      if (found === undefined) throw new Error(`nobody is at ${url.pathname}`)
      const name =
        url.searchParams.get('full_name') ??
        url.searchParams.get('fullName') ??
        (JSON.parse(body) as { name: string }).name
      const person = name.split(' ')[0] ?? ''
      response.statusCode = refuse(found.id, person) ?? 200
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(response.statusCode === 200 ? answer(found.id, person) : {}))
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    calls,
    /** The settings that replace the real providers by these, with keys of the installation. */
    settings: Object.fromEntries(
      PROVIDERS.flatMap(({ id }) => [
        [`LOAM_PROVIDER_URL_${id.toUpperCase()}`, `${origin}/${id}`],
        [`LOAM_PROVIDER_KEY_${id.toUpperCase()}`, `key of ${id}`],
      ]),
    ) as Record<string, string>,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Runs `count` rows through the waterfall. Returns the seconds it took. */
export async function runRows(call: Call, count: number): Promise<{ base: string; seconds: number }> {
  const base = await makeSheet(
    call,
    ['person', 'name'],
    [
      {
        action_id: 'person_work_email_waterfall',
        inputs: {
          full_name: '{{input.name}}',
          company_domain: 'acme.example',
          email_providers: PROVIDERS.map(({ name }) => name),
          email_validation: ['None'],
        },
      },
    ],
  )
  await addRows(call, base, count, (n) => ({ person: personOf(n), name: `${personOf(n)} Lee` }))
  return { base, seconds: await runAll(call, base, 100) }
}

type Cell = {
  person: string
  status: string
  email: string | null
  provider: string | null
  millis: number
  asked: string
}

/** Reads the result from the database: every cell, and the sum of the charges in the ledger. */
export async function readLedger(
  store: Store,
  orgId: string,
  calls: Record<string, number>,
): Promise<Ledger> {
  const cells = await store.query<Cell>({
    text: `select r.data->>'1' as person, c.status, c.outputs->>'work_email' as email, c.outputs->>'provider' as provider,
        c.credits_millis as millis,
        (select string_agg(p->>'provider', ' ' order by n) from jsonb_array_elements(c.provenance) with ordinality x (p, n)) as asked
      from rows r left join cells c on c.org_id = r.org_id and c.row_id = r.row_id where r.org_id = $1`,
    values: [orgId],
  })
  await postCharges(store.system, orgId)
  const [ledger] = await store.query<{ millis: number }>({
    text: `select coalesce(-sum(amount_millis), 0)::bigint as millis from ledger_entries where org_id = $1 and amount_millis < 0`,
    values: [orgId],
  })
  const unfinished = cells.find(({ status }) => status !== 'complete')
  if (unfinished !== undefined) throw new Error(`a cell is not complete: ${JSON.stringify(unfinished)}`)
  return {
    calls: { ...calls },
    rows: Object.fromEntries(
      cells.map(({ person, email, provider, millis, asked }) => [person, { email, provider, millis, asked }]),
    ),
    millis: ledger?.millis ?? 0,
  }
}
