// Measures P8: small reads with key, scope and limit through the real server, against bare Fastify routes
// that do the same SQL on the same PostgreSQL. They are measured in turns, so that a noisy moment affects
// both.
// npm run bench:reads [-- --seconds 2 --rounds 7]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import type { ServerProcess } from '#test/plumbing/server-process.ts'
import { bar, median, print } from './parts/report.ts'
import { createServerGroup } from './parts/server-group.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '2' }, rounds: { type: 'string', default: '7' } },
})
const CONNECTIONS = 32
const PATHS = ['/api/v1/user/knowledge', '/api/v1/user/']

const dataDir = mkdtempSync(join(tmpdir(), 'loam-bench-'))
const servers = createServerGroup()
try {
  // Requests are logged as they are by default.
  const loam = await servers.start({
    LOAM_DATA_DIR: dataDir,
    LOAM_RATE_LIMIT_PER_MINUTE: '100000000',
    LOAM_RATE_LIMIT_PER_DAY: '100000000',
  })
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8')
  const { url: database }: { url: string } = JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8'))
  const bare = await servers.start({}, 'bench/peers/bare-reads.ts', database)
  const batched = await servers.start({}, 'bench/peers/bare-reads.ts', database, 'batched')
  await writeKnowledge(loam, key)

  const ratios: number[] = []
  for (const path of PATHS) {
    const [ours, plain, strict] = await compare(path, key, [loam, bare, batched])
    print(`GET ${path}, ${CONNECTIONS} connections`, [
      { server: 'loam', ...ours.figures, 'loam / this': '' },
      { server: 'bare Fastify, same SQL', ...plain.figures, 'loam / this': plain.ratio.toFixed(2) },
      {
        server: 'bare Fastify, admissions batched too',
        ...strict.figures,
        'loam / this': strict.ratio.toFixed(2),
      },
    ])
    ratios.push(plain.ratio, strict.ratio)
  }
  bar('P8', Math.min(...ratios), 0.5)
} finally {
  await servers.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

async function writeKnowledge(server: ServerProcess, key: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/user/knowledge`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'We sell enrichment to people who sell. '.repeat(25) }),
  })
  if (response.status !== 200) throw new Error(await response.text())
}

type Figures = { 'requests/s': number; 'p50 ms': number; 'p99 ms': number }
type Compared = { figures: Figures; ratio: number }

/**
 * Returns the median of all rounds. Ratios are computed within a round. The first round warms up and is not
 * counted.
 */
async function compare(path: string, key: string, all: [ServerProcess, ServerProcess, ServerProcess]) {
  const rounds: Figures[][] = []
  for (let round = 0; round <= Number(values.rounds); round++) {
    const figures: Figures[] = []
    for (const server of all) figures.push(await measure(server.url + path, key, Number(values.seconds)))
    if (round > 0) rounds.push(figures)
  }
  return all.map((_, n): Compared => {
    const of = (name: keyof Figures) => median(rounds.map((round) => round[n]?.[name] ?? Number.NaN))
    const ratio = (round: Figures[]) => (round[0]?.['requests/s'] ?? 0) / (round[n]?.['requests/s'] ?? 0)
    return {
      figures: { 'requests/s': of('requests/s'), 'p50 ms': of('p50 ms'), 'p99 ms': of('p99 ms') },
      ratio: median(rounds.map(ratio)),
    }
  }) as [Compared, Compared, Compared]
}

async function measure(url: string, key: string, duration: number): Promise<Figures> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration,
    headers: { authorization: `Bearer ${key}` },
  })
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} requests of ${url} failed`)
  return {
    'requests/s': Math.round(result.requests.average),
    'p50 ms': result.latency.p50,
    'p99 ms': result.latency.p99,
  }
}
