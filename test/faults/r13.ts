// R13: the worst single requests that anybody may send, to every class of route, one after the other: wrong arrays, unknown
// keys, deep and wide JSON, long texts, repeated keys, numbers without end. Meanwhile /healthz is asked all the time.
// npm run faults:r13 [-- --share 1 --health-ms 1000 --memory-mb 256]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { createSealer } from '#server/lib/security/secrets.ts'
import { switchWebhookOn } from '#server/org/webhooks.ts'
import { OPERATOR } from '#server/store/organisation/audit.ts'
import { openInstallation, SECRET } from '#test/installation.ts'
import { residentMb, watchMemory } from '#test/resident-memory.ts'
import { callOver, makeSheet } from '#test/sheets.ts'
import { check, say, sayVerdict } from './installation.ts'

const { values } = parseArgs({
  options: {
    /** Of the largest body that a route takes. */
    share: { type: 'string', default: '1' },
    'health-ms': { type: 'string', default: '1000' },
    'memory-mb': { type: 'string', default: '256' },
  },
})
const KB = 1024
const MB = 1024 * KB
const sized = (bytes: number) => Math.floor(bytes * Number(values.share))

/** Repeats a part, separated by commas, up to so many bytes. */
const fill = (bytes: number, part: string) =>
  Array.from({ length: Math.floor(bytes / (part.length + 1)) }, () => part).join(',')
const keys = (bytes: number) =>
  Array.from({ length: Math.floor(bytes / 14) }, (_, n) => `"k${String(n).padStart(7, '0')}":${n % 10}`).join(
    ',',
  )

/** Bodies of about so many bytes, for a route whose array is in `field`. */
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
  }
}

const installation = await openInstallation()
const { store } = installation
try {
  const { orgId, key } = await installation.makeOrg('Worst requests')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const step = { action_id: 'normalize_domain', inputs: { value: '{{input.a}}' } }
  const base = await makeSheet(call, ['a'], [step])
  const sheet = { org_id: orgId, sheet_id: base.slice(-36) }
  const hook = await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), sheet)
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

  const pids = () => [server.child.pid ?? 0]
  const idle = residentMb(server.child.pid ?? 0)
  const memory = watchMemory(pids)
  let slowest = { ms: 0, during: 'nothing' }
  let during = 'nothing'
  const watcher = fork(new URL('health-watch.ts', import.meta.url), [server.url])
  const watched = once(watcher, 'exit')
  installation.track({ child: watcher, ended: watched })
  const heard = once(watcher, 'message')
  watcher.on('message', (ms: number) => (slowest = { ms, during }))
  await heard

  const failures: string[] = []
  let sent = 0
  for (const [method, path, bytes, field] of routes) {
    for (const [what, body] of Object.entries(worstBodies(bytes, field))) {
      during = `${what} to ${method} ${path.replace(hook, '<token>')}`
      const started = performance.now()
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const { status } = await fetch(`${server.url}${path}`, { method, headers, body }).then(
        async (answer) => {
          await answer.arrayBuffer()
          return answer
        },
        () => ({ status: 599 }),
      )
      const ms = Math.round(performance.now() - started)
      if (ms > 1000) say(`${during}: ${status} after ${ms} ms`)
      // Without a model the agent fails in its own words, and that is no failure of the request.
      if (status >= 500 && !path.endsWith('/agent/run')) failures.push(`${during}: ${status}`)
      sent += 1
    }
  }
  watcher.send('end')
  const [code] = (await watched) as [number | null]
  const peak = memory.stop()
  say(`${sent} requests; /healthz took ${Math.round(slowest.ms)} ms at most, during ${slowest.during}`)
  say(`${Math.round(peak - idle)} MB above ${Math.round(idle)} MB`)
  check('/healthz answered always', code, 0)
  check('answers of 5xx', failures.join('; '), '')
  check(`/healthz answers within ${values['health-ms']} ms`, slowest.ms <= Number(values['health-ms']), true)
  check(`at most ${values['memory-mb']} MB more`, peak - idle <= Number(values['memory-mb']), true)
} finally {
  await installation.close()
}
sayVerdict('R13')
