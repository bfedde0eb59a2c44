import { setTimeout as sleep } from 'node:timers/promises'
import { callOver } from '#test/builders/sheets.ts'
import { type Flood, createFloods } from '#test/faults/load/floods.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { median, note } from '../parts/report.ts'
import { held, type Line, line } from './engine-line.ts'

const ROUNDS = 5
/** The resources that P16 names. `npm run faults:r16` also floods mail and models. */
const RESOURCES: ReadonlySet<string> = new Set(['sandbox', 'exports', 'imports', 'streams'])
const SETTINGS = {
  LOAM_CONCURRENCY: '50',
  LOAM_EXPORTS_PER_ORG: '100000',
  LOAM_STREAMS_PER_KEY: '1000',
  LOAM_STREAMS_PER_ORG: '1000',
}

/**
 * Measures P16: one operation of an organisation while another organisation floods the resource that it
 * needs, against the same operation on an idle system.
 */
export async function measureFloods(
  installation: Installation,
  { share }: { share: number },
): Promise<Line[]> {
  const server = await installation.startServer(SETTINGS)
  const makeOrg = async (name: string) => {
    const { orgId, key } = await installation.makeOrg(name)
    return { orgId, key, call: callOver(server.url, key) }
  }
  const { store, folder } = installation
  const dataDir = `${folder}/server`
  const floods = createFloods({ store, origin: server.url, dataDir, share, pollMs: 5 })
  const lines: Line[] = []
  for (const [name, open] of Object.entries(floods)) {
    if (!RESOURCES.has(name)) continue
    lines.push(await measure(name, await open(await makeOrg(`Flood of ${name}`), await makeOrg(name))))
  }
  await server.stop()
  return lines
}

async function measure(name: string, flood: Flood): Promise<Line> {
  await flood.operate()
  const idle = await timeOperations(flood)
  const { left, stop } = await flood.start()
  try {
    while ((await left()) === 0) await sleep(5)
    const busy = await timeOperations(flood)
    const times = busy / idle
    note(`P16, ${name}: ${busy.toFixed(0)} ms beside the flood, ${idle.toFixed(0)} ms idle`)
    const result = `${times.toFixed(2)} x (${busy.toFixed(0)} ms / ${idle.toFixed(0)} ms)`
    const what = `one operation while another organisation floods: ${name}, median of ${ROUNDS}`
    return line('P16', what, result, held(times, 3, ' x', 'at most'))
  } finally {
    await stop()
  }
}

async function timeOperations(flood: Flood): Promise<number> {
  const ms: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    await flood.operate()
    ms.push(performance.now() - started)
  }
  return median(ms)
}
