// Measures P10: from `npm start` to the first 200 of /readyz. First start on an empty data folder, and warm
// start on an existing one; with --cold also from a fresh clone without node_modules, which installs
// everything from the registry.
// npm run bench:start [-- --cold]
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startServer } from '#test/plumbing/server-process.ts'
import { bar, median, print } from './parts/report.ts'

const { values } = parseArgs({ options: { cold: { type: 'boolean', default: false } } })
const WARM_STARTS = 5
const ROOT = fileURLToPath(new URL('..', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'loam-bench-'))
chmodSync(folder, 0o755)
try {
  const dataDir = join(folder, 'data')
  const first = await timeStart(ROOT, dataDir)
  const warm: number[] = []
  for (let n = 0; n < WARM_STARTS; n++) warm.push(await timeStart(ROOT, dataDir))
  const rows = [
    { start: 'first, on an empty data folder', seconds: first.toFixed(2) },
    { start: `warm, median of ${WARM_STARTS}`, seconds: median(warm).toFixed(2) },
    { start: 'warm, slowest', seconds: Math.max(...warm).toFixed(2) },
  ]
  const cold = values.cold ? await timeClone() : null
  if (cold !== null) rows.push({ start: 'cold, from a fresh clone', seconds: cold.toFixed(2) })
  print('from npm start to the first 200 of /readyz', rows)
  bar('P10', median(warm), 3, 'at most')
  if (cold !== null) bar('P10 (cold)', cold, 60, 'at most')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function timeStart(cwd: string, dataDir: string): Promise<number> {
  const began = performance.now()
  const server = await startServer({ ...baseEnvironment(), LOAM_DATA_DIR: dataDir }, ['npm', 'start'], cwd)
  try {
    if (server.url === '') throw new Error(`npm start failed:\n${server.stderr()}`)
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    return (performance.now() - began) / 1000
  } finally {
    await server.stop()
  }
}

async function timeClone(): Promise<number> {
  const clone = join(folder, 'clone')
  execFileSync('git', ['clone', '--quiet', ROOT, clone])
  return timeStart(clone, join(folder, 'cold-data'))
}

/**
 * Returns the variables that npm may need to reach its registry (proxies, certificates), without the settings
 * of Loam.
 */
function baseEnvironment(): Record<string, string> {
  const own = /^(LOAM_.*|DATABASE_URL|HOST|PORT)$/
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) => (own.test(name) ? [] : [[name, value]])),
  )
}
