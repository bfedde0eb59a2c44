import { addRows, type Call, makeSheet, runAll } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { watchProcess } from '../parts/process-metrics.ts'
import { median, note } from '../parts/report.ts'
import { count, held, type Line, line } from './engine-line.ts'
import { NO_OP, startLoam } from './engine-load.ts'

const TIMES = 21
const PAGE = 100
const CALLERS = 4
const SMALL_ROWS = 10
const PATIENCE_SECONDS = 3600

/**
 * Measures P17: the memory of a process whose database has this many rows queued. With `huge`, also the costs
 * of a sheet with this many rows.
 */
export async function measureSize(
  installation: Installation,
  { queued, huge }: { queued: number; huge: number },
): Promise<Line[]> {
  const { server, call, stop } = await startLoam(installation)
  const base = await makeSheet(call, ['name'], [NO_OP])
  await grow(call, base, queued)
  note(`P17: ${count(queued)} rows are there`)
  const watched = watchProcess(server.url)
  const seconds = await runAll(call, base, 250, PATIENCE_SECONDS)
  const { resident } = await watched.stop()
  const what = `the most resident memory while a run of ${count(queued)} rows was queued and done (${seconds.toFixed(0)} s)`
  const lines = [line('P17', what, `${resident} MB`, held(resident, 350, ' MB', 'at most'))]
  if (huge > queued) {
    const before = await timeAll(call, base, queued)
    await grow(call, base, huge - queued)
    note(`P17: ${count(huge)} rows are there`)
    const after = await timeAll(call, base, huge)
    for (const [name, ms] of Object.entries(before))
      lines.push(compare(name, { ms, rows: queued }, { ms: after[name] ?? Number.NaN, rows: huge }))
  } else lines.push(line('P17', 'a sheet of 10,000,000 rows', 'not measured: --huge 10000000'))
  await stop()
  return lines
}

type Measured = { ms: number; rows: number }

function compare(name: string, small: Measured, large: Measured): Line {
  const times = large.ms / small.ms
  const what = `${name} among ${count(large.rows)} rows / ${count(small.rows)}, medians of ${TIMES}`
  const result = `${times.toFixed(2)} x (${large.ms.toFixed(1)} ms / ${small.ms.toFixed(1)} ms)`
  return line('P17', what, result, held(times, 1.5, ' x', 'at most'))
}

const grow = (call: Call, base: string, rows: number) =>
  addRows(call, base, rows, (n) => ({ name: `Ada Lovelace ${n}` }), CALLERS)

async function timeAll(call: Call, base: string, rows: number): Promise<Record<string, number>> {
  const list = (body: object) => call('POST', `${base}/rows/list`, { page_size: PAGE, ...body })
  const { data } = await list({ page_size: SMALL_ROWS })
  const first = data.rows as { row_id: string; created_at: string }[]
  const until = new Date(Date.parse(first[0]?.created_at ?? '') + 1).toISOString()
  const operations: Record<string, () => Promise<unknown>> = {
    'the first page': () => list({ page_no: 1 }),
    'the last page': () => list({ page_no: Math.ceil(rows / PAGE) }),
    'a filter by time': () => list({ created_at: { operator: 'less than', values: [until] } }),
    'a run of 10 rows': () =>
      runSmall(
        call,
        base,
        first.map(({ row_id }) => row_id),
      ),
  }
  const medians: Record<string, number> = {}
  for (const [name, operate] of Object.entries(operations)) {
    const ms: number[] = []
    for (let n = 0; n < TIMES; n += 1) {
      const started = performance.now()
      await operate()
      ms.push(performance.now() - started)
    }
    medians[name] = median(ms)
  }
  return medians
}

async function runSmall(call: Call, base: string, row_ids: string[]): Promise<void> {
  await call('POST', `${base}/run`, { row_ids })
  for (;;) {
    const { data } = await call('POST', `${base}/rows/list`, { row_ids })
    if ((data.rows as { row_status: string }[]).every(({ row_status }) => row_status === 'complete')) return
  }
}
