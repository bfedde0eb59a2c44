// R16, P16: one organisation floods each shared resource, one after the other, while another organisation
// performs one operation at a time. The operations of the other never fail, finish before the flood does, and
// take at most 3 times as long as on an idle system.
// npm run faults:r16 [-- --share 1 --rounds 5 --ratio 3 --only exports --pause 0 --poll 5]; --ratio 0 checks only the order
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { callOver } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { serveMail, serveModel } from './breaks/outside.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { createFeedFloods, serveItems } from './load/feed-floods.ts'
import { type Flood, createFloods } from './load/floods.ts'

const { values } = parseArgs({
  options: {
    /** The share of the full size of every flood. */
    share: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    ratio: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    /** The milliseconds between operations of the other organisation. */
    pause: { type: 'string', default: '0' },
    /** The milliseconds between two looks whether an operation has ended. */
    poll: { type: 'string', default: '5' },
  },
})
const rounds = Number(values.rounds)
const limit = Number(values.ratio)
const CREDITS = 10_000_000

const installation = await openInstallation()
const outside = [await serveModel(100), await serveMail(300), await serveItems()] as const
try {
  const [model, mail, site] = outside
  const server = await installation.startServer({
    LOAM_MODEL_BASE_URL: `${model.url}/v1`,
    LOAM_MODELS: 'local',
    LOAM_MODEL_CONCURRENCY: '4',
    LOAM_SMTP_URL: mail.url,
    LOAM_MAIL_FROM: 'loam@example.com',
    LOAM_MAIL_PER_HOUR: '1000000',
    LOAM_CONCURRENCY: '50',
    LOAM_EXPORTS_PER_ORG: '100000',
    LOAM_STREAMS_PER_KEY: '1000',
    LOAM_STREAMS_PER_ORG: '1000',
    LOAM_WEBHOOK_PER_MINUTE: '1000000',
    LOAM_AGENT_PER_HOUR: '1000000',
    LOAM_SEGMENT_CYCLE_SECONDS: '1',
  })
  const makeOrg = async (name: string) => {
    const { orgId, key } = await installation.makeOrg(name, CREDITS)
    return { orgId, key, call: callOver(server.url, key) }
  }
  const parts = {
    store: installation.store,
    origin: server.url,
    dataDir: `${installation.folder}/server`,
    share: Number(values.share),
    pollMs: Number(values.poll),
    site,
  }
  for (const [name, open] of Object.entries({ ...createFloods(parts), ...createFeedFloods(parts) })) {
    if (values.only !== '' && values.only !== name) continue
    await measure(name, await open(await makeOrg(`Flood of ${name}`), await makeOrg(`Other of ${name}`)))
  }
} finally {
  for (const server of outside) server.close()
  await installation.close()
}
sayVerdict('R16')

async function measure(name: string, flood: Flood): Promise<void> {
  for (let n = 0; n < rounds; n++) await flood.operate()
  const idle = median(await repeat(flood))
  const { left, stop } = await flood.start()
  try {
    while ((await left()) === 0) await sleep(5)
    let leftAfterFirst = 0
    const times = await repeat(flood, async (round) => {
      if (round === 0) leftAfterFirst = await left()
    })
    const leftAtEnd = await left()
    const ratio = median(times) / idle
    say(
      `${name}: ${idle.toFixed(0)} ms idle, ${median(times).toFixed(0)} ms beside the flood (${ratio.toFixed(2)} x); ${leftAfterFirst} of the flood left after the first, ${leftAtEnd} after the last`,
    )
    check(`${name}: served before the flood was`, leftAfterFirst > 0, true)
    if (limit > 0) check(`${name}: at most ${limit} x its idle time`, ratio <= limit, true)
  } finally {
    await stop()
  }
}

/** Returns the milliseconds of each operation. A failed operation ends the program. */
async function repeat(flood: Flood, after?: (round: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await sleep(Number(values.pause))
    const started = performance.now()
    await flood.operate()
    times.push(performance.now() - started)
    await after?.(round)
  }
  return times
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
