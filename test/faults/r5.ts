// R5: a provider that misbehaves in every way we know of, through an HTTP call, a waterfall and a source.
// Each must end in the documented status, with bounded memory, and nothing else may fail.
// npm run faults:r5 [-- --rows 50 --memory-mb 512 --brief]
import { parseArgs } from 'node:util'
import { findymail } from '#server/catalog/providers/findymail/provider.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { addRows, callOver, makeSheet, runAll, type Step } from '#test/builders/sheets.ts'
import { openInstallation, SECRET } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { until } from '#test/plumbing/until.ts'
import { BEHAVIOURS, type Fault, serveBadProvider } from './breaks/bad-provider.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The concurrent HTTP calls for each fault. */
    rows: { type: 'string', default: '50' },
    'memory-mb': { type: 'string', default: '512' },
    /** Skips waits for the full timeout of waterfalls and sources, which cannot be set. */
    brief: { type: 'boolean', default: false },
  },
})
const ROWS = Number(values.rows)
const MEMORY_MB = Number(values['memory-mb'])

/**
 * The expected end of an HTTP call, a waterfall of one provider or a source: the status and its error
 * message.
 */
type Ending = [status: string, words: RegExp]
const ANY = /^$/
const TRIED = (what: string) => new RegExp(`${what}.*\\(after 4 attempts\\)$`)
const LARGE = /larger than \d+ bytes|too many large answers/
const ENDINGS: Record<Fault, { call: Ending; waterfall: Ending; source: Ending }> = {
  '429 with Retry-After': {
    call: ['complete', ANY],
    waterfall: ['complete', ANY],
    source: ['completed', ANY],
  },
  '429 without Retry-After': {
    call: ['failed', TRIED('HTTP 429')],
    waterfall: ['failed', /its rate limit is reached \(HTTP 429\)/],
    source: ['active', /its rate limit is reached \(HTTP 429\)/],
  },
  '500': {
    call: ['failed', TRIED('HTTP 500')],
    waterfall: ['failed', /HTTP 500/],
    source: ['active', /HTTP 500/],
  },
  reset: { call: ['failed', TRIED('')], waterfall: ['failed', /127/], source: ['active', /127/] },
  hang: {
    call: ['failed', TRIED('no complete answer')],
    waterfall: ['failed', /no complete answer/],
    source: ['active', /no complete answer/],
  },
  'a byte a second': {
    call: ['failed', TRIED('no complete answer')],
    waterfall: ['failed', /no complete answer/],
    source: ['active', /no complete answer/],
  },
  'a body of 1 GB': { call: ['failed', LARGE], waterfall: ['failed', LARGE], source: ['active', LARGE] },
  'a declared 1 GB': { call: ['failed', LARGE], waterfall: ['failed', LARGE], source: ['active', LARGE] },
  'a gzip bomb': { call: ['failed', LARGE], waterfall: ['failed', LARGE], source: ['active', LARGE] },
  'a wrong type': { call: ['complete', ANY], waterfall: ['failed', /JSON/], source: ['active', /JSON/] },
  'bad UTF-8': { call: ['complete', ANY], waterfall: ['complete', ANY], source: ['paused', /no list/] },
  NUL: { call: ['complete', ANY], waterfall: ['complete', ANY], source: ['paused', /no list/] },
  'deep JSON': { call: ['complete', ANY], waterfall: ['failed', /JSON/], source: ['active', /JSON/] },
  'a redirect loop': {
    call: ['failed', /redirect/],
    waterfall: ['failed', /redirect/],
    source: ['active', /redirect/],
  },
}
/** The faults that last until the caller's timeout. */
const SLOW: ReadonlySet<Fault> = new Set(['hang', 'a byte a second'])
const FAULTS = Object.keys(BEHAVIOURS) as Fault[]
const PATIENCE_SECONDS = 400

const provider = await serveBadProvider()
const installation = await openInstallation()
try {
  const server = await installation.startServer({ LOAM_PROVIDER_URL_FINDYMAIL: provider.url })
  const at = (fault: Fault) => `${provider.url}/${encodeURIComponent(fault)}/`

  /** Returns the ways in which cells of a sheet ended. */
  async function listEndings(base: string): Promise<string[]> {
    const found = await installation.store.query<{ status: string; error: string | null }>({
      text: 'select distinct status, error from cells where sheet_id = $1',
      values: [base.slice(-36)],
    })
    return found.map(({ status, error }) => `${status} ${error ?? ''}`.trim())
  }
  const compare = (what: string, found: string[], [status, words]: Ending) => {
    const wrong = found.filter((one) => {
      const [, told = '', error = ''] = /^(\S+) ?(.*)$/s.exec(one) ?? []
      return told !== status || !words.test(error)
    })
    const holds = found.length > 0 && wrong.length === 0
    check(what, holds ? status : found.slice(0, 3).join('; '), status)
  }

  async function runSheet(key: string, step: Step, rows: number) {
    const call = callOver(server.url, key)
    const base = await makeSheet(call, ['n'], [step])
    await addRows(call, base, rows, (n) => ({ n: String(n) }))
    await runAll(call, base, 100, PATIENCE_SECONDS)
    return base
  }

  async function tryFault(fault: Fault): Promise<void> {
    const { orgId, key } = await installation.makeOrg(fault, 1000)
    const fields = { secret: fault }
    const connection = { orgId, provider: findymail, name: 'Main', ownerId: null, shared: true, fields }
    await addConnection(installation.store.system, createSealer(SECRET), OPERATOR, connection)
    const inputs = {
      method: 'GET',
      endpoint: `${at(fault)}{{input.n}}`,
      timeout_seconds: SLOW.has(fault) ? '2' : '120',
    }
    const calls = async () => {
      const base = await runSheet(key, { action_id: 'http_api_call', inputs }, ROWS)
      compare(`HTTP call, ${fault}`, await listEndings(base), ENDINGS[fault].call)
    }
    const waterfall = async () => {
      const asked = { full_name: 'Jane Lee', company_domain: 'acme.example', email_validation: ['None'] }
      const email_providers = [{ name: 'Findymail', use_own_key: true }]
      const step = { action_id: 'person_work_email_waterfall', inputs: { ...asked, email_providers } }
      compare(
        `waterfall, ${fault}`,
        await listEndings(await runSheet(key, step, 1)),
        ENDINGS[fault].waterfall,
      )
    }
    const source = async () => {
      const call = callOver(server.url, key)
      const body = { name: fault, url: `${at(fault)}list`, items_path: 'items' }
      const { source_instance_id: id } = (await call('POST', '/sources/import_from_api', body)).data
      const look = async () => (await call('GET', `/sources/${id}`)).data
      const ends = ENDINGS[fault].source[0] === 'completed' ? 'completed' : 'an error is told'
      const isOver = async () =>
        ends === 'completed' ? (await look()).status === ends : (await look()).last_error !== null
      await until(`source, ${fault}: ${ends}`, isOver, PATIENCE_SECONDS)
      const { status, last_error } = await look()
      compare(`source, ${fault}`, [`${status} ${last_error?.message ?? ''}`.trim()], ENDINGS[fault].source)
    }
    await Promise.all([calls(), ...(values.brief && SLOW.has(fault) ? [] : [waterfall(), source()])])
  }

  const { key } = await installation.makeOrg('Bystander')
  const plain = { action_id: 'normalize_domain', inputs: { value: 'acme.example' } }
  await runSheet(key, plain, 10)
  const pid = server.child.pid ?? 0
  const idle = residentMb(pid)
  const memory = watchMemory(() => [pid])
  await Promise.all(FAULTS.map(tryFault))
  const peak = memory.stop()
  const [first = 0, second = 0] = provider.callsAt(
    '429 with Retry-After',
    `/${encodeURIComponent('429 with Retry-After')}/0`,
  )
  check('Retry-After is waited for', second - first >= 1000, true)
  say(`${Math.round(peak - idle)} MB above ${Math.round(idle)} MB`)
  check(`at most ${MEMORY_MB} MB more`, peak - idle <= MEMORY_MB, true)
  compare('a bystander', await listEndings(await runSheet(key, plain, 10)), ['complete', ANY])
  check('the server runs', server.child.exitCode, null)
} finally {
  provider.close()
  await installation.close()
}
sayVerdict('R5')
