import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from '#test/plumbing/installation.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median, note } from '../parts/report.ts'
import { count, held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, runToTheEnd, startLoam } from './engine-load.ts'

const PAGE = 20
const MAX_OPEN = 50
const IDLE_MS = 3000
/**
 * Reads before the measurement, by this many readers at a time, until all code is compiled. A server in use
 * has been read before.
 */
const WARM_UP = { reads: 4000, readers: 4 }

/**
 * Measures P19: the share of its rate that P1 keeps beside readers of another sheet, and the time that the
 * readers wait.
 */
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
  await warmUp(reader)
  const waited: { idle: number[]; busy: number[] } = { idle: [], busy: [] }
  const rates = await takeTurns('P19', rounds, {
    alone: async () => (rows * ACTIONS) / (await run(rows)),
    beside: async () => {
      const base = await makeLoad(call, rows)
      const idle = startReaders(reader, reads)
      await sleep(IDLE_MS)
      const idleMs = await idle.stop()
      const busy = startReaders(reader, reads)
      const seconds = await runToTheEnd(call, base)
      const busyMs = await busy.stop()
      waited.idle.push(...idleMs)
      waited.busy.push(...busyMs)
      note(`P19, p99 of reads ${p99(busyMs).toFixed(1)} ms, idle ${p99(idleMs).toFixed(1)} ms`)
      return (rows * ACTIONS) / seconds
    },
  })
  reader.close()
  await stop()
  const kept = shareOf(rates.beside, rates.alone)
  const [idleP99, busyP99] = [p99(waited.idle), p99(waited.busy)]
  const waits = busyP99 / idleP99
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
      `p99 of ${waited.busy.length} such reads / of ${waited.idle.length} idle, in turns`,
      `${waits.toFixed(2)} x (${busyP99.toFixed(1)} ms / ${idleP99.toFixed(1)} ms)`,
      {
        ...held(waits, 3, ' x', 'at most'),
      },
    ),
  ]
}

type Reader = ReturnType<typeof openReader>

/**
 * Opens a cheap client. On its own machine a client would take none of the server's time, but here a client
 * based on undici takes half as much as the server's process. This one sends the same bytes again and again,
 * and reads only the status and the length of responses.
 */
export function openReader(origin: string, key: string, base: string) {
  const { hostname, port } = new URL(origin)
  const body = JSON.stringify({ page_size: PAGE })
  const request = Buffer.from(
    `POST /api/v1${base}/rows/list HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const idle: ReadingSocket[] = []
  const all: ReadingSocket[] = []
  const open = () => {
    const socket = new ReadingSocket(Number(port), hostname)
    all.push(socket)
    return socket
  }
  return {
    async ask(): Promise<void> {
      // The server closes connections that were idle for a while.
      while (idle.at(-1)?.isClosed === true) idle.pop()
      const socket = idle.pop() ?? open()
      await socket.ask(request)
      idle.push(socket)
    },
    close(): void {
      for (const socket of all) socket.close()
    },
  }
}

const HEAD_END = '\r\n\r\n'

/** A socket that sends one request at a time. */
class ReadingSocket {
  readonly #socket: Socket
  #asked: PromiseWithResolvers<void> | null = null
  #head = ''
  /** The bytes of the body that are still to come, or null while the head is read. */
  #left: number | null = null

  constructor(port: number, host: string) {
    this.#socket = connect(port, host)
    this.#socket.setNoDelay()
    this.#socket.on('data', (chunk) => this.#take(chunk))
    this.#socket.on('error', (cause) => this.#asked?.reject(cause))
    this.#socket.on('close', () =>
      this.#asked?.reject(new Error('the server closed the connection of a reader')),
    )
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || !this.#socket.writable
  }

  ask(request: Buffer): Promise<void> {
    this.#asked = Promise.withResolvers()
    this.#socket.write(request)
    return this.#asked.promise
  }

  #take(chunk: Buffer): void {
    if (this.#left === null) this.#takeHead(chunk)
    else this.#left -= chunk.length
    if (this.#left !== 0) return
    const asked = this.#asked
    this.#asked = null
    this.#left = null
    asked?.resolve()
  }

  #takeHead(chunk: Buffer): void {
    const before = this.#head.length
    this.#head += chunk.toString('latin1')
    const end = this.#head.indexOf(HEAD_END)
    if (end === -1) return
    const head = this.#head.slice(0, end)
    this.#head = ''
    if (!head.startsWith('HTTP/1.1 200 ')) {
      this.#asked?.reject(new Error(`a read was answered with ${head.slice(0, head.indexOf('\r\n'))}`))
      return
    }
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    if (length === undefined) throw new Error(`an answer of unknown length: ${head}`)
    this.#left = Number(length) - (before + chunk.length - end - HEAD_END.length)
  }

  close(): void {
    this.#socket.destroy()
  }
}

export async function warmUp(reader: Reader, reads = WARM_UP.reads): Promise<void> {
  const read = async () => {
    for (let n = 0; n < reads / WARM_UP.readers; n += 1) await reader.ask()
  }
  await Promise.all(Array.from({ length: WARM_UP.readers }, read))
}

/**
 * Reads at a steady rate, even while earlier reads have not finished. A late start counts as waiting time.
 */
export function startReaders(reader: Reader, perSecond: number) {
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
    /** Stops and returns the milliseconds of each read. */
    async stop(): Promise<number[]> {
      end.abort()
      await beating
      await Promise.all(open)
      return ms
    },
  }
}

export function p99(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN
}
