import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Installation } from '#test/installation.ts'
import { count, held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, runToTheEnd, startLoam } from './engine-load.ts'
import { median, note } from './report.ts'

const PAGE = 20
const MAX_OPEN = 50
const IDLE_MS = 3000

/** P19: what P1 keeps of its rate beside readers of another sheet, and what the readers wait. */
export async function measureReaders(
  installation: Installation,
  { rows, rounds, reads }: { rows: number; rounds: number; reads: number },
): Promise<Line[]> {
  const { server, key, call, stop } = await startLoam(installation)
  const shown = await makeLoad(call, 1000)
  await runToTheEnd(call, shown)
  const run = async (size: number) => runToTheEnd(call, await makeLoad(call, size))
  await run(rows)
  const reader = openReader(server.url, key, shown)
  const idle = startReaders(reader, reads)
  await sleep(IDLE_MS)
  const idleP99 = p99(await idle.stop())
  const rates: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
  const busy: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    rates.alone.push((rows * ACTIONS) / (await run(rows)))
    const base = await makeLoad(call, rows)
    const readers = startReaders(reader, reads)
    rates.beside.push((rows * ACTIONS) / (await runToTheEnd(call, base)))
    busy.push(...(await readers.stop()))
    note(
      `P19, round ${round}: alone ${rate(rates.alone.at(-1) ?? 0)}, beside readers ${rate(rates.beside.at(-1) ?? 0)}`,
    )
  }
  await reader.close()
  await stop()
  const kept = median(rates.beside) / median(rates.alone)
  const waits = p99(busy) / idleP99
  const what = `${count(rows)} rows x ${ACTIONS} pure actions beside ${reads} reads of ${PAGE} rows a second`
  return [
    line(
      'P19',
      `${what} / alone`,
      `${kept.toFixed(2)} (${rate(median(rates.beside))} / ${rate(median(rates.alone))})`,
      {
        ...held(kept, 0.8, ''),
      },
    ),
    line(
      'P19',
      `p99 of ${busy.length} such reads / idle`,
      `${waits.toFixed(2)} x (${p99(busy).toFixed(0)} ms / ${idleP99.toFixed(0)} ms)`,
      {
        ...held(waits, 3, ' x', 'at most'),
      },
    ),
  ]
}

type Reader = ReturnType<typeof openReader>

/** A client that costs little: on a machine of its own it would take nothing of the server's time. */
function openReader(origin: string, key: string, base: string) {
  const pool = new Pool(origin, { connections: MAX_OPEN })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ page_size: PAGE })
  return {
    async ask(): Promise<void> {
      const answer = await pool.request({ method: 'POST', path: `/api/v1${base}/rows/list`, headers, body })
      if (answer.statusCode !== 200) throw new Error(`a read was answered with ${answer.statusCode}`)
      await answer.body.dump()
    },
    close: () => pool.close(),
  }
}

/** Reads at a steady rate, also while some are not answered yet; a late start counts as waiting. */
function startReaders(reader: Reader, perSecond: number) {
  const end = new AbortController()
  const ms: number[] = []
  const open = new Set<Promise<void>>()
  const readOnce = async (due: number) => {
    await reader.ask()
    ms.push(performance.now() - due)
  }
  const beat = async () => {
    for (let due = performance.now(); !end.signal.aborted; due += 1000 / perSecond) {
      await sleep(Math.max(0, due - performance.now()))
      while (open.size >= MAX_OPEN) await Promise.race(open)
      const asked = readOnce(due).finally(() => open.delete(asked))
      open.add(asked)
    }
  }
  const beating = beat()
  return {
    /** Answers the milliseconds of each read. */
    async stop(): Promise<number[]> {
      end.abort()
      await beating
      await Promise.all(open)
      return ms
    },
  }
}

function p99(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN
}
