// R13: the worst single requests that anybody may send, to every class of route, one after the other: wrong
// arrays, unknown keys, deep and wide JSON, long texts, repeated keys, endless numbers. /healthz is polled
// all the time.
// npm run faults:r13 [-- --share 1 --health-ms 1000 --memory-mb 256 --only /run/batch]
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createSealer } from '#server/lib/security/secrets.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { openInstallation, SECRET } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { createWorlds } from './breaks/fuzz-world.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The share of the largest body that a route accepts. */
    share: { type: 'string', default: '1' },
    'health-ms': { type: 'string', default: '1000' },
    'memory-mb': { type: 'string', default: '256' },
    /** Selects the routes with this text in their path. */
    only: { type: 'string', default: '' },
  },
})
const KB = 1024
const MB = 1024 * KB
const MAX_SENT = 32 * MB
const TOO_LARGE = 'more than any route takes'
/** The status that stands for a missing response. */
const CUT_OFF = 599
const sized = (bytes: number) => Math.floor(bytes * Number(values.share))

/** Repeats a part, separated by commas, up to this many bytes. */
const fill = (bytes: number, part: string) =>
  Array.from({ length: Math.floor(bytes / (part.length + 1)) }, () => part).join(',')
const keys = (bytes: number) =>
  Array.from({ length: Math.floor(bytes / 14) }, (_, n) => `"k${String(n).padStart(7, '0')}":${n % 10}`).join(
    ',',
  )

/** Returns bodies of about this many bytes, for a route whose array is in `field`. */
function worstBodies(bytes: number, field: string): Record<string, string> {
  const room = sized(bytes) - 100
  return {
    'wrong numbers': `{"${field}":[${fill(room, '0')}]}`,
    'wrong objects': `{"${field}":[${fill(room, '{"a":1}')}]}`,
    'wrong texts': `{"${field}":[${fill(room, '"not an id"')}]}`,
    'a thousand wide items': `{"${field}":[${fill(room, `{${keys(room / 1000)}}`)}]}`,
    'unknown keys': `{${keys(room)}}`,
    'repeated keys': `{${fill(room, `"${field}":1`)}}`,
    'deep nesting': `{"${field}":${'['.repeat(room / 2)}${']'.repeat(room / 2)}}`,
    'permitted nesting': `{"${field}":[${fill(room, `${'['.repeat(60)}${']'.repeat(60)}`)}]}`,
    'a long text': `{"${field}":"${'x'.repeat(room)}"}`,
    'a long escaped text': `{"${field}":["${'\\u0000'.repeat(room / 6)}"]}`,
    'a long number': `{"${field}":[${'9'.repeat(room)}]}`,
    'a long key': `{"${'k'.repeat(room)}":1}`,
    'open quotes': `{"${field}":["${'\\"'.repeat(room / 2)}`,
    blanks: `${' '.repeat(room)}{`,
    'ids of nobody': `{"${field}":[${Array.from({ length: Math.floor(room / 39) }, () => `"${randomUUID()}"`).join(',')}]}`,
    'names of prototypes': `{"__proto__":{"${field}":[]},"constructor":{"prototype":{${keys(room / 2)}}},"${field}":[${fill(room / 2, '{"__proto__":[]}')}]}`,
    'names with NUL': `{"${field}":{${Array.from({ length: Math.floor(room / 22) }, (_, n) => `"\\u0000${n}":"\\u0000"`).join(',')}}}`,
    [TOO_LARGE]: `{"${field}":"${'x'.repeat(sized(MAX_SENT))}"}`,
  }
}

/**
 * Returns the processor time of the main thread of a process, in steps of 10 ms. A busy machine does not
 * change it.
 */
function mainThreadMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  const [user = '0', system = '0'] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

const installation = await openInstallation()
const list = await serveProvider(0, { items: [{ id: 1, name: 'Acme' }] })
const { store } = installation
try {
  const { orgId, key } = await installation.makeOrg('Worst requests')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const step = { action_id: 'normalize_domain', inputs: { value: '{{input.a}}' } }
  const base = await makeSheet(call, ['a'], [step])
  const sheet = { org_id: orgId, sheet_id: base.slice(-36) }
  const hook = await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), { sheet })
  const api = `/api/v1${base}`
  const routes: [string, string, number, string][] = [
    ['POST', '/api/v1/workflows', 64 * KB, 'name'],
    ['POST', `${api}/rows/delete`, 64 * KB, 'row_ids'],
    ['POST', `${api}/rows/list`, MB, 'row_ids'],
    ['POST', `${api}/run`, MB, 'row_ids'],
    ['POST', `${api}/export`, MB, 'row_ids'],
    ['POST', `${api}/inputs`, MB, 'inputs'],
    ['POST', `${api}/actions/add`, MB, 'inputs'],
    ['PATCH', `${api}/actions/normalize_domain_1`, MB, 'inputs'],
    ['POST', '/api/v1/sources/find_people/preview', MB, 'job_titles'],
    ['POST', '/api/v1/agent/run', MB, 'output_schema'],
    ['PUT', '/api/v1/user/knowledge', 1600 * KB, 'content'],
    ['POST', `${api}/rows`, 16 * MB, 'rows'],
    ['POST', `/hooks/${hook}`, 16 * MB, 'a'],
  ]

  // Newer routes have their own organisation, with one record of each kind that they use.
  const makeWorld = await (
    await createWorlds(installation, server.url, list.url)
  )('{id}{source_instance_id}{sync_id}', 'getBudget')
  const { ids, key: laterKey } = await makeWorld()
  const source = `/api/v1/sources/${ids['source_instance_id']}`
  const sync = `/api/v1/records/syncs/${ids['sync_id']}`
  const segment = `/api/v1/records/segments/${ids['segment_id']}`
  const sheetLater = `/api/v1/workflows/${ids['workflow_id']}/sheets/${ids['sheet_id']}`
  const later: typeof routes = [
    ['POST', '/api/v1/credits/budgets', 64 * KB, 'emails'],
    ['PATCH', `/api/v1/credits/budgets/${ids['budget_id']}`, 64 * KB, 'thresholds'],
    ['POST', '/api/v1/sources/import_from_api', MB, 'headers'],
    ['POST', '/api/v1/sources/import_from_api/preview', MB, 'headers'],
    ['POST', '/api/v1/sources/import_from_slack/options/channels', 64 * KB, 'context'],
    ['PATCH', source, 64 * KB, 'headers'],
    ['PATCH', `${source}/status`, 64 * KB, 'status'],
    ['POST', `${source}/sync`, 64 * KB, 'field_mapping'],
    ['POST', `${segment}/sync`, 64 * KB, 'field_mapping'],
    ['POST', `/api/v1/records/observe/segments/${ids['segment_id']}/changes`, 64 * KB, 'since'],
    ['POST', `${sync}/confirm`, 64 * KB, 'choice'],
    ['POST', `${sync}/destinations/${ids['connection_id']}/pause`, 64 * KB, 'choice'],
    ['POST', `${sheetLater}/estimate`, MB, 'row_ids'],
    ['POST', `${sheetLater}/run-all`, MB, 'only'],
    ['POST', `${sheetLater}/csv`, 64 * KB, 'mapping'],
    ['POST', `/api/v1/shortcuts/${ids['id']}/run`, 16 * MB, 'input_data'],
    ['POST', `/api/v1/shortcuts/${ids['id']}/run/batch`, 16 * MB, 'rows'],
    ['POST', '/api/v1/files?name=rows.csv', 16 * MB, 'a'],
  ]

  const pids = () => [server.child.pid ?? 0]
  const idle = residentMb(server.child.pid ?? 0)
  const memory = watchMemory(pids)
  let slowest = { ms: 0, during: 'nothing' }
  let during = 'nothing'
  const watcher = fork(new URL('load/health-watch.ts', import.meta.url), [server.url])
  const watched = once(watcher, 'exit')
  installation.track({ child: watcher, ended: watched })
  const heard = once(watcher, 'message')
  watcher.on('message', (ms: number) => (slowest = { ms, during }))
  await heard

  const failures: string[] = []
  let sent = 0
  let busiest = { ms: 0, during: 'nothing' }
  let largest = { mb: 0, during: 'nothing' }
  const chosen = [...routes, ...later].filter(([, path]) => path.includes(values.only))
  for (const [method, path, bytes, field] of chosen) {
    for (const [what, body] of Object.entries(worstBodies(bytes, field))) {
      during = `${what} to ${method} ${path.replace(hook, '<token>')}`
      const started = performance.now()
      const usedBefore = mainThreadMs(server.child.pid ?? 0)
      const isLater = later.some((one) => one[1] === path)
      const headers = {
        authorization: `Bearer ${isLater ? laterKey : key}`,
        'content-type': 'application/json',
      }
      const { status } = await fetch(`${server.url}${path}`, { method, headers, body }).then(
        async (answer) => {
          await answer.arrayBuffer()
          return answer
        },
        () => ({ status: CUT_OFF }),
      )
      const ms = Math.round(performance.now() - started)
      if (ms > 1000) say(`${during}: ${status} after ${ms} ms`)
      const used = mainThreadMs(server.child.pid ?? 0) - usedBefore
      if (used > busiest.ms) busiest = { ms: used, during }
      const resident = residentMb(server.child.pid ?? 0)
      if (resident > largest.mb) largest = { mb: resident, during }
      // Without a model the agent fails with its own message, which is not a failure of the request. A caller
      // that is refused while it still sends may be cut off before it reads the response.
      const isCutOff = status === CUT_OFF && what === TOO_LARGE
      if (status >= 500 && !isCutOff && !path.endsWith('/agent/run')) failures.push(`${during}: ${status}`)
      sent += 1
    }
  }
  watcher.send('end')
  const [code] = (await watched) as [number | null]
  const peak = memory.stop()
  say(`${sent} requests; /healthz took ${Math.round(slowest.ms)} ms at most, during ${slowest.during}`)
  say(`the main thread worked ${busiest.ms} ms at most for one request, ${busiest.during}`)
  say(`the most was resident after ${largest.during}`)
  say(`${Math.round(peak - idle)} MB above ${Math.round(idle)} MB`)
  check('/healthz answered always', code, 0)
  check('answers of 5xx', failures.join('; '), '')
  check(`/healthz answers within ${values['health-ms']} ms`, slowest.ms <= Number(values['health-ms']), true)
  check(`at most ${values['memory-mb']} MB more`, peak - idle <= Number(values['memory-mb']), true)
} finally {
  list.close()
  await installation.close()
}
sayVerdict('R13')
