// Measures an import of many records by a source, from a provider on loopback that responds at once, through
// a real server: from the request that creates it to its last record, against Add Rows on the same server in
// the same run; the memory that it takes; and the same records synced into a workflow.
// npm run bench:sources [-- --records 100000 --rounds 3]
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { readProcessMetrics, watchProcess } from './parts/process-metrics.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: { records: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '3' } },
})
const RECORDS = Number(values.records)
const ROUNDS = Number(values.rounds)
const PAGE = 100
const MEMORY_BAR_MB = 256
const SHARE_BAR = 0.25

/** Pages in the format of X, created before they are requested. */
const pages = Array.from({ length: Math.ceil(RECORDS / PAGE) }, (_, page) => {
  const from = page * PAGE
  const data = Array.from({ length: Math.min(PAGE, RECORDS - from) }, (_one, n) => postOf(from + n))
  const isLast = from + PAGE >= RECORDS
  return JSON.stringify({
    data,
    includes: { users: [{ id: '7', username: 'acme' }] },
    meta: { newest_id: String(RECORDS), ...(isLast ? {} : { next_token: String(page + 1) }) },
  })
})

function postOf(n: number) {
  return {
    id: String(n + 1),
    author_id: '7',
    text: `Post ${n}: we are looking for a data engineer in Berlin, remote is fine`,
    created_at: '2026-01-01T00:00:00.000Z',
    public_metrics: { like_count: n % 100, retweet_count: n % 7 },
  }
}

const provider = createServer((request, response) => {
  const token = new URL(request.url ?? '', 'http://x').searchParams.get('next_token')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(pages[Number(token ?? 0)])
})
await new Promise<void>((resolve) => {
  provider.listen(0, '127.0.0.1', resolve)
})
const installation = await openInstallation()
try {
  const { key } = await installation.makeOrg('Bench', 1_000_000)
  // Rows are added on a separate server, so that the other server's memory is that of the import.
  const adding = callOver((await installation.startServer({ LOAM_ROLES: 'api' })).url, key)
  const server = await installation.startServer({
    LOAM_PROVIDER_URL_X: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    LOAM_PROVIDER_KEY_X: 'a-key',
  })
  const call = callOver(server.url, key)
  const pid = server.child.pid ?? 0
  await sleep(2000)
  const base = residentMb(pid)
  const idle = await readProcessMetrics(server.url)
  const memory = watchMemory(() => [pid])
  const watching = watchProcess(server.url)
  const rounds: { added: number; imported: number; synced: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const added = await timeAddRows()
    const { rate, id } = await timeImport()
    rounds.push({ added, imported: rate, synced: await timeSync(id) })
  }
  const peak = memory.stop()
  const full = await watching.stop()
  const { cpuSeconds, gcSeconds } = await readProcessMetrics(server.url)
  const added = median(rounds.map((one) => one.added))
  const imported = median(rounds.map((one) => one.imported))
  print(`${RECORDS} records, pages of ${PAGE}; the idle server has ${Math.round(base)} MB`, [
    { what: 'Add Rows, 1,000 a call, 4 callers', 'per second': Math.round(added) },
    { what: 'import by a source, paid', 'per second': Math.round(imported) },
    { what: 'sync into a workflow', 'per second': Math.round(median(rounds.map((one) => one.synced))) },
  ])
  const memoryOf = ({ cpuSeconds: _cpu, gcSeconds: _gc, ...megabytes }: typeof idle) => megabytes
  const spent = (cpuSeconds - idle.cpuSeconds).toFixed(1)
  const cleaning = (gcSeconds - idle.gcSeconds).toFixed(1)
  print(`Memory of the server, MB; it worked ${spent} s, of which ${cleaning} s on garbage`, [
    { when: 'idle', ...memoryOf(idle) },
    { when: 'at its most', ...memoryOf(full) },
  ])
  bar('import (share of Add Rows)', imported / added, SHARE_BAR)
  bar('most memory above the idle server, MB', peak - base, MEMORY_BAR_MB, 'at most')

  async function timeAddRows(): Promise<number> {
    const sheet = await makeSheet(adding, ['author', 'text', 'url', 'posted_at', 'likes', 'reposts'])
    const started = performance.now()
    await addRows(
      adding,
      sheet,
      RECORDS,
      (n) => {
        const { text, created_at } = postOf(n)
        const url = `https://x.com/acme/status/${n}`
        return { author: 'acme', text, url, posted_at: created_at, likes: n % 100, reposts: n % 7 }
      },
      4,
    )
    const rate = RECORDS / ((performance.now() - started) / 1000)
    note(`Add Rows: ${Math.round(rate)} a second`)
    return rate
  }

  async function timeImport(): Promise<{ rate: number; id: string }> {
    const started = performance.now()
    const made = await call('POST', '/sources/search_x_tweets', { query: 'data engineer' })
    const id: string = made.data.source_instance_id
    for (;;) {
      const { data } = await call('GET', `/sources/${id}`)
      if (data.status === 'completed' && data.lead_count === RECORDS) break
      if (data.status !== 'active') throw new Error(`the import went wrong: ${JSON.stringify(data)}`)
      await sleep(20)
    }
    const rate = RECORDS / ((performance.now() - started) / 1000)
    note(`import: ${Math.round(rate)} a second; the server has ${Math.round(residentMb(pid))} MB`)
    return { rate, id }
  }

  async function timeSync(id: string): Promise<number> {
    const sheet = await makeSheet(call, ['author', 'text', 'url'])
    const workflow_id = sheet.slice(-36)
    const field_mapping = { 'input.author': 'author', 'input.text': 'text', 'input.url': 'url' }
    const started = performance.now()
    await call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping })
    for (;;) {
      const { data } = await call('GET', `/sources/${id}`)
      if (data.syncs.every((sync: { waiting: number }) => sync.waiting === 0)) break
      await sleep(20)
    }
    return RECORDS / ((performance.now() - started) / 1000)
  }
} finally {
  await installation.close()
  provider.close()
}
