import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from '#server/database/connection/db.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { addRows, type Call, makeSheet, type Step } from '#test/builders/sheets.ts'
import { startCallersApart } from './caller-thread.ts'
import { startCallers } from './load.ts'

export type Caller = { orgId: string; key: string; call: Call }

export type Flood = {
  /** Performs the operation of the other organisation to its end. Throws if the operation fails. */
  operate(): Promise<void>
  /** Starts the flood. `left` returns how much of it is still to be done. */
  start(): Promise<{ left: () => Promise<number>; stop: () => Promise<void> }>
}

type Parts = {
  store: Store
  origin: string
  dataDir: string
  share: number
  /** The milliseconds between two looks whether an operation has ended. */
  pollMs: number
}
export type OpenFlood = (flooder: Caller, other: Caller) => Promise<Flood>

const STREAMS = 200
const CALLERS = 2
const PAUSE_MS = 20

/** Returns a flood of each resource that organisations share. */
export function createFloods(parts: Parts): Record<string, OpenFlood> {
  const { share, pollMs } = parts
  const formula = (expression: string): Step => ({
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: expression },
  })
  const prompt = { action_id: 'ai_generate', inputs: { model: 'local', prompt: 'About {{input.text}}' } }
  const mail = {
    action_id: 'send_email',
    inputs: { to: 'somebody@example.com', subject: 'Hello', body: '{{input.text}}' },
  }
  /** Returns a number of rows that is large enough to outlast the start of the other organisation. */
  const rows = (count: number) => Math.max(count / 10, Math.ceil(count * share))
  return {
    sandbox: (flooder, other) =>
      rowFlood(
        [flooder, formula('(() => { for (;;) {} })() + {{input.text}}'), rows(2000)],
        [other, formula('{{input.text}}.toUpperCase()')],
        pollMs,
      ),
    exports: (flooder, other) => exportFlood(parts, flooder, other),
    imports: (flooder, other) => importFlood(parts, flooder, other),
    streams: (flooder, other) => streamFlood(parts, flooder, other),
    reads: (flooder, other) => readFlood(parts, flooder, other),
    mail: (flooder, other) => rowFlood([flooder, mail, rows(6000)], [other, mail], pollMs),
    gates: (flooder, other) => rowFlood([flooder, prompt, rows(4000)], [other, prompt], pollMs),
  }
}

/** Floods with thousands of rows of one step. The other organisation runs one row at a time. */
async function rowFlood(
  [flooder, step, count]: [Caller, Step, number],
  [other, calm]: [Caller, Step],
  pollMs: number,
): Promise<Flood> {
  const flooded = await makeSheet(flooder.call, ['text'], [step])
  await addRows(flooder.call, flooded, count, (n) => ({ text: `text ${n}` }))
  const base = await makeSheet(other.call, ['text'], [calm])
  let operations = 0
  return {
    async operate() {
      operations += 1
      const rows = [{ text: `operation ${operations}` }]
      const { row_ids } = (await other.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })).data
      for (;;) {
        const [row] = (await other.call('POST', `${base}/rows/list`, { row_ids })).data.rows
        const { row_status, cells } = row
        if (row_status === 'complete') return
        if (row_status !== 'running')
          throw new Error(`a row ended as ${row_status}: ${JSON.stringify(cells)}`)
        await sleep(pollMs)
      }
    },
    async start() {
      await flooder.call('POST', `${flooded}/run-all`)
      const left = async () => {
        const [run] = (await flooder.call('GET', `${flooded}/runs`)).data
        return run.rows_queued - run.rows_done
      }
      return { left, stop: async () => void (await flooder.call('POST', `${flooded}/stop`)) }
    },
  }
}

const EXPORTED_ROWS = 5000
const JOBS = 200
/** The minimum number of jobs at any share, so that some are left when the other organisation is served. */
const MIN_JOBS = 60
const jobsOf = (share: number) => Math.max(MIN_JOBS, JOBS * share)
const GROUP = 20
const COLUMNS = ['a', 'b', 'c', 'd', 'e']
const rowOf = (n: number) => Object.fromEntries(COLUMNS.map((name) => [name, `value ${name} of ${n}`]))

async function exportFlood({ store, share, pollMs }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  const count = Math.ceil(EXPORTED_ROWS * share)
  const sheetOf = async ({ call }: Caller) => {
    const base = await makeSheet(call, COLUMNS)
    await addRows(call, base, count, rowOf)
    return base
  }
  const [flooded, base] = [await sheetOf(flooder), await sheetOf(other)]
  return {
    async operate() {
      const { data } = await other.call('POST', `${base}/export`, { format: 'csv' })
      for (;;) {
        const { status, error } = (await other.call('GET', `${base}/export/${data.export_id}`)).data
        if (status === 'completed') return
        if (status === 'failed') throw new Error(`an export failed: ${error}`)
        await sleep(pollMs)
      }
    },
    async start() {
      await inGroups(Array.from({ length: jobsOf(share) }), () =>
        flooder.call('POST', `${flooded}/export`, { format: 'csv' }),
      )
      return leftOver(store, 'exports', 'running', flooder)
    },
  }
}

async function importFlood(
  { store, dataDir, share, pollMs }: Parts,
  flooder: Caller,
  other: Caller,
): Promise<Flood> {
  const storage = openStorage(readConfig({ LOAM_DATA_DIR: dataDir }))
  const lines = Array.from({ length: Math.ceil(EXPORTED_ROWS * share) }, (_, n) =>
    Object.values(rowOf(n)).join(','),
  )
  const upload = async ({ orgId }: Caller): Promise<string> => {
    const file = { orgId, name: 'rows.csv', createdBy: 'r16' }
    const bytes = [Buffer.from(`${COLUMNS.join(',')}\n${lines.join('\n')}\n`)]
    return (await storeUpload({ db: store.system, storage }, file, iterate(bytes))).file_ref
  }
  const mapping = Object.fromEntries(COLUMNS.map((name) => [name, name]))
  const [theirs, own] = [await upload(flooder), await upload(other)]
  const base = await makeSheet(other.call, COLUMNS)
  const flooded: string[] = []
  await inGroups(Array.from({ length: jobsOf(share) }), async () => {
    flooded.push(await makeSheet(flooder.call, COLUMNS))
  })
  return {
    async operate() {
      await other.call('POST', `${base}/csv`, { file_ref: own, mapping })
      for (;;) {
        const { status, error } = (await other.call('GET', `${base}/csv`)).data
        if (status === 'completed') return
        if (status === 'failed') throw new Error(`an import failed: ${error}`)
        await sleep(pollMs)
      }
    },
    async start() {
      await inGroups(flooded, (each) => flooder.call('POST', `${each}/csv`, { file_ref: theirs, mapping }))
      return leftOver(store, 'imports', 'processing', flooder)
    },
  }
}

const PAGE_SIZE = 200
const READERS = 32

/**
 * Floods with large pages, read by as many readers as there is room for. The other organisation reads one
 * page at a time.
 */
async function readFlood({ origin }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  const sheetOf = async ({ call }: Caller) => {
    const base = await makeSheet(call, COLUMNS)
    await addRows(call, base, PAGE_SIZE, rowOf)
    return base
  }
  const [flooded, base] = [await sheetOf(flooder), await sheetOf(other)]
  const body = { page_size: PAGE_SIZE }
  return {
    async operate() {
      const { data } = await other.call('POST', `${base}/rows/list`, body)
      if (data.rows.length !== PAGE_SIZE) throw new Error(`a page had ${data.rows.length} rows`)
    },
    async start() {
      const wanted = { path: `${flooded}/rows/list`, body }
      const stop = await startCallersApart({ count: READERS, key: flooder.key, origin, wanted })
      return { left: async () => READERS, stop }
    },
  }
}

/** Floods with readers of a sheet that changes all the time. */
async function streamFlood({ origin, share }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  const [flooded, base] = [await makeSheet(flooder.call, COLUMNS), await makeSheet(other.call, COLUMNS)]
  await addRows(flooder.call, flooded, 1000, rowOf)
  await addRows(other.call, base, 10, rowOf)
  return {
    async operate() {
      await other.call('POST', `${base}/rows`, { rows: [rowOf(1)] })
      await other.call('POST', `${base}/rows/list`, { page_size: 10 })
    },
    async start() {
      const ending = new AbortController()
      const headers = { authorization: `Bearer ${flooder.key}` }
      const streams = Array.from({ length: Math.ceil(STREAMS * share) }, async () => {
        const url = `${origin}/api/v1${flooded}/changes`
        const { body } = await fetch(url, { headers, signal: ending.signal })
        for await (const _event of body ?? []);
      }).map((stream) => stream.catch(() => undefined))
      const crowd = startCallers({
        count: CALLERS,
        key: flooder.key,
        origin: () => origin,
        wanted: (n) => ({ path: `${flooded}/rows`, body: { rows: [rowOf(n)] } }),
        pauseMs: PAUSE_MS,
      })
      return {
        left: async () => (crowd.exchanges.length > CALLERS ? CALLERS : 0),
        async stop() {
          await crowd.stop()
          ending.abort()
          await Promise.all(streams)
        },
      }
    },
  }
}

/** Counts the remaining long jobs and cancels those that nobody needs any more. */
function leftOver(store: Store, table: 'exports' | 'imports', under: string, { orgId }: Caller) {
  const name = sql.table(table)
  return {
    async left() {
      const { rows } = await sql<{ left: number }>`select count(*)::int as left from ${name}
        where org_id = ${orgId} and status = ${under}`.execute(store.system)
      return rows[0]?.left ?? 0
    },
    async stop() {
      await sql`update ${name} set status = 'failed' where org_id = ${orgId} and status = ${under}`.execute(
        store.system,
      )
    },
  }
}

async function inGroups<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < items.length; n += GROUP) await Promise.all(items.slice(n, n + GROUP).map(act))
}

async function* iterate<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}
