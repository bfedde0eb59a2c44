import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Call, makeSheet, type Step } from '#test/builders/sheets.ts'
import { check, say } from '../checks/installation.ts'

/** Shapes of input that a chain runs on: each is a row, with a name. */
export type Family = {
  name: string
  inputs: string[]
  chain: Step[]
  rows: [string, Record<string, string>][]
  /** Set if the rows may end with any error, such as those that a formula throws. */
  mayThrow?: true
}

export type ShapeOptions = {
  /** The file in which thread-watch.mjs notes long periods of work. */
  watchFile: string
  /** The longest time that the thread may work without a pause. */
  heldMs: number
  /** Tries one of this many shapes. */
  each: number
  /** The longest time of a family. */
  seconds: number
  /** Prints how every shape ended. */
  list: boolean
  /** Prints the functions that took most of the longest periods. */
  profile: boolean
  /** A text that only another organisation has. */
  canary: string
}

/** The outcome of a family: the number of its shapes, and the longest period without a pause. */
export type FamilyResult = { name: string; shapes: number; seconds: number; longestMs: number }

/** Errors that show a bug of the server. */
const OWN_ERRORS =
  /internal|TypeError|ReferenceError|RangeError|undefined|is not a function|crashed|ended its worker/i

/** Returns the settings with which a server notes its long periods of work in this file. */
export function watchedBy(watchFile: string, profile: boolean): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('thread-watch.mjs', import.meta.url))}`,
    LOAM_THREAD_WATCH: watchFile,
    ...(profile ? { LOAM_THREAD_PROFILE: '1' } : {}),
  }
}

type Ended = { status: string; error: string; text: string }

/** Runs all shapes of a family and checks how they end. */
export async function runShapes(call: Call, family: Family, options: ShapeOptions): Promise<FamilyResult> {
  const rows = family.rows.filter((_, n) => n % options.each === 0)
  const sheet = await makeSheet(call, family.inputs, family.chain)
  const ids: string[] = []
  for (let n = 0; n < rows.length; n += 8) {
    const { data } = await call('POST', `${sheet}/rows`, { rows: rows.slice(n, n + 8).map(([, row]) => row) })
    ids.push(...data.row_ids)
  }
  const began = Date.now()
  await call('POST', `${sheet}/run-all`)
  const ended = await awaitEnds(call, sheet, ids, began + options.seconds * 1000)
  const seconds = (Date.now() - began) / 1000
  if (options.list) {
    for (const [n, [what]] of rows.entries()) {
      const end = ended.get(ids[n] ?? '')
      say(`  ${what}: ${end === undefined ? 'not ended' : `${end.status} ${end.error.slice(0, 150)}`}`)
    }
  }
  const longestMs = checkHeld(family.name, began, options)
  const ends = [...ended.values()]
  say(
    `${family.name}: ${rows.length} shapes in ${seconds.toFixed(0)} s; the thread worked ${longestMs} ms at most without a pause; ` +
      `${ends.filter(({ error }) => error === '').length} without an error`,
  )
  check(`${family.name}: shapes that ended`, ended.size, rows.length)
  const ownErrors = family.mayThrow === true ? [] : ends.filter(({ error }) => OWN_ERRORS.test(error))
  check(`${family.name}: errors of our own`, ownErrors.map(({ error }) => error.slice(0, 200)).join('; '), '')
  check(
    `${family.name}: what others hold`,
    ends.filter(({ text }) => text.includes(options.canary)).length,
    0,
  )
  return { name: family.name, shapes: rows.length, seconds, longestMs }
}

/** Waits until the rows have ended. Returns how each that did has ended. */
async function awaitEnds(
  call: Call,
  sheet: string,
  ids: string[],
  deadline: number,
): Promise<Map<string, Ended>> {
  const ended = new Map<string, Ended>()
  while (ended.size < ids.length && Date.now() < deadline) {
    await sleep(500)
    for (let n = 0; n < ids.length; n += 4) {
      const waiting = ids.slice(n, n + 4).filter((id) => !ended.has(id))
      if (waiting.length === 0) continue
      const { data } = await call('POST', `${sheet}/rows/list`, { row_ids: waiting })
      for (const row of data.rows) {
        if (row.row_status === 'running' || row.row_status === 'pending') continue
        const cells = Object.values(row.cells) as { status: string; error?: string }[]
        const failed = cells.find(({ error }) => error !== undefined)
        ended.set(row.row_id, {
          status: cells.map(({ status }) => status).join(', '),
          error: failed?.error ?? '',
          text: JSON.stringify(cells),
        })
      }
    }
  }
  return ended
}

/** Checks how long the thread has worked without a pause since then. Returns the longest time. */
export function checkHeld(
  name: string,
  since: number,
  { watchFile, heldMs, profile }: Pick<ShapeOptions, 'watchFile' | 'heldMs' | 'profile'>,
): number {
  const held = readHeld(watchFile, since)
  for (const { ms, parts } of profile ? held.slice(0, 5) : []) say(`  ${ms} ms: ${parts}`)
  const longest = held[0]?.ms ?? 0
  check(`${name}: held for at most ${heldMs} ms`, longest <= heldMs, true)
  return longest
}

type Held = { at: number; ms: number; parts: string }

/** Returns the periods since then in which the main thread worked without a pause, the longest first. */
function readHeld(watchFile: string, since: number): Held[] {
  const found = readFileSync(watchFile, 'utf8').matchAll(/^(\d+) (\d+) (.*)$/gm)
  const held = [...found].map(([, at, ms, parts = '']): Held => ({ at: Number(at), ms: Number(ms), parts }))
  return held.filter(({ at }) => at >= since).toSorted((a, b) => b.ms - a.ms)
}

/** Lets another organisation run formulas on texts with the canary and read a page, again and again. */
export function runNeighbour(call: Call, url: string, canary: string) {
  const state = { isOver: false, runs: 0, failures: 0 }
  const work = (async () => {
    const formula = {
      action_id: 'format_data_using_js_expression',
      inputs: { data_formatter: `{{input.name}} + "${canary}".toUpperCase()` },
    }
    const scrape = { action_id: 'scrape_website', inputs: { url: '{{input.url}}' } }
    const sheet = await makeSheet(call, ['name', 'url'], [formula, scrape])
    while (!state.isOver) {
      // A call that fails while the server is blocked counts as a failed run, and the next run shows whether
      // the server has recovered.
      state.failures += await runRows(sheet).catch(async (error: Error) => {
        await sleep(1000)
        say(`the neighbour's call failed: ${error.message.slice(0, 200)}`)
        return 1
      })
      state.runs += 1
    }
  })()
  /** Runs five rows to their end. Returns the number of rows that did not complete. */
  async function runRows(sheet: string): Promise<number> {
    const rows = Array.from({ length: 5 }, (_, n) => ({ name: `${canary} ${n}`, url }))
    const { data } = await call('POST', `${sheet}/rows`, { rows, run_after_add: 'all' })
    for (;;) {
      await sleep(200)
      const page = await call('POST', `${sheet}/rows/list`, { row_ids: data.row_ids })
      const ended = page.data.rows as { row_status: string }[]
      if (ended.some(({ row_status }) => row_status === 'running')) continue
      return ended.filter(({ row_status }) => row_status !== 'complete').length
    }
  }

  return {
    runs: () => state.runs,
    async stop() {
      state.isOver = true
      await work
      return state
    },
  }
}
