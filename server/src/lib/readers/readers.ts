import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import { isOn } from '../fast-parts.ts'
import { createTurns } from '../timing/owner-turns.ts'
import type { ReaderRequest } from './reader-process.ts'
import { type Reader, type ReaderBounds, type ReaderEnd, startReader } from './reader.ts'

/** A document to read, its owner, and the word for it in error messages. */
export type Reading = {
  owner: string
  signal: AbortSignal
  document: string | Uint8Array
  what: 'page' | 'document'
}
export type ReadingResult<Value> = { ok: true; value: Value } | { ok: false; message: string }

/**
 * Reads documents of strangers in separate processes (I2). A document that uses too much ends only its
 * reader.
 */
export type Readers = {
  read(reading: Reading, module: URL, task: string, input: unknown): Promise<ReadingResult<unknown>>
  close(): Promise<void>
}

type Bounds = ReaderBounds & { processes: number; idleMs: number; rememberMs: number }

const MB = 1_000_000
const BOUNDS: Bounds = {
  processes: Math.max(1, availableParallelism() - 1),
  /** 2 s per MB, at least 2 s and at most 20 s. */
  cpuMs: (bytes) => Math.min(20_000, Math.max(2_000, (bytes / MB) * 2_000)),
  wallMs: 120_000,
  heapMb: 512,
  residentMb: 768,
  idleMs: 60_000,
  rememberMs: 3_600_000,
}
const MAX_REMEMBERED = 1_000
/**
 * The number of documents of one owner that a reader holds at once, including the current one, so that the
 * reader never waits for the next. P20 `scrape_website`: 24% less processor time for a cell, won 5 of 7 rounds in
 * turns (2 x86_64 cores beside others, 2026-11-19).
 */
const MAX_AT_HAND = 8
const MAX_BYTES_AT_HAND = 64 * 1024

/** A waiting document. `read` reads it and returns true if its reader was lost before the document began. */
type Waiting = { bytes: number; read(take: () => Reader): Promise<boolean> }

export function createReaders(overrides: Partial<Bounds> = {}): Readers {
  const bounds = { ...BOUNDS, ...overrides }
  const stock = createStock(bounds)
  const { join, leave } = createLines(bounds.processes, stock)
  /** Documents that killed a reader, by their key, with the error message. */
  const deadly = new LRUCache<string, string>({ max: MAX_REMEMBERED, ttl: bounds.rememberMs })

  return {
    read(reading, module, task, input) {
      const { owner, signal, document } = reading
      let made: string | undefined
      const key = () =>
        (made ??= `${module.href} ${task} ${createHash('sha256').update(document).digest('base64')}`)
      const memory = {
        known: () => (deadly.size === 0 ? undefined : deadly.get(key())),
        remember: (message: string) => void deadly.set(key(), message),
      }
      const known = memory.known()
      if (known !== undefined) return Promise.resolve({ ok: false, message: known })
      if (signal.aborted) return Promise.resolve({ ok: false, message: CALLED_OFF })
      const result = Promise.withResolvers<ReadingResult<unknown>>()
      const waiting: Waiting = {
        bytes: document.length,
        async read(take) {
          try {
            const found = await readWith(take, reading, { module: module.href, task, input }, memory)
            if (found === undefined) return true
            result.resolve(found)
          } catch (cause) {
            result.reject(cause)
          }
          signal.removeEventListener('abort', onAbort)
          return false
        },
      }
      const onAbort = () => {
        signal.removeEventListener('abort', onAbort)
        leave(owner, waiting)
        result.resolve({ ok: false, message: CALLED_OFF })
      }
      signal.addEventListener('abort', onAbort)
      join(owner, waiting)
      return result.promise
    },
    close: () => stock.close(),
  }
}

/** Reads a document with a reader that `take` returns. Returns undefined if it was lost before the document began. */
async function readWith(
  take: () => Reader,
  { signal, document, what }: Reading,
  task: Pick<ReaderRequest, 'module' | 'task' | 'input'>,
  memory: { known(): string | undefined; remember(message: string): void },
): Promise<ReadingResult<unknown> | undefined> {
  // Another caller may have read the same document in the meantime.
  const since = memory.known()
  if (signal.aborted) return { ok: false, message: CALLED_OFF }
  if (since !== undefined) return { ok: false, message: since }
  const ended = await take().run({ ...task, document }, signal)
  if (ended.kind === 'lost') return undefined
  if (ended.kind === 'read') return { ok: true, value: ended.value }
  const message = explain(ended, what)
  if (ended.kind === 'time' || ended.kind === 'memory') memory.remember(message)
  return { ok: false, message }
}

/** Keeps the readers. One that is idle for a while is ended. */
function createStock(bounds: Bounds) {
  const all = new Set<Reader>()
  const idle: { reader: Reader; timer: NodeJS.Timeout }[] = []

  function takeReader(): Reader {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      clearTimeout(last.timer)
      if (last.reader.isAlive()) return last.reader
      all.delete(last.reader)
    }
    const started = startReader(bounds)
    all.add(started)
    return started
  }

  function giveBack(reader: Reader): void {
    if (!reader.isAlive()) return void all.delete(reader)
    const entry = { reader, timer: setTimeout(() => end(entry), bounds.idleMs).unref() }
    idle.push(entry)
  }

  function end(entry: (typeof idle)[number]): void {
    idle.splice(idle.indexOf(entry), 1)
    all.delete(entry.reader)
    void entry.reader.close()
  }

  return {
    takeReader,
    giveBack,
    drop: (reader: Reader) => void all.delete(reader),
    async close(): Promise<void> {
      for (const { timer } of idle.splice(0)) clearTimeout(timer)
      await Promise.all([...all].map((reader) => reader.close()))
      all.clear()
    },
  }
}

/** Keeps the waiting documents and serves their owners in turns. */
function createLines(processes: number, stock: ReturnType<typeof createStock>) {
  const turns = createTurns(processes)
  /**
   * Waiting documents by their owner. Each has asked for a turn, in which it or an earlier document is read.
   */
  const lines = new Map<string, Waiting[]>()

  function join(owner: string, waiting: Waiting, isFirst = false): void {
    const line = lines.get(owner) ?? []
    lines.set(owner, line)
    if (isFirst) line.unshift(waiting)
    else line.push(waiting)
    void turns.take(owner).then((endTurn) => serve(owner).finally(() => endTurn?.()))
  }

  function leave(owner: string, waiting: Waiting): boolean {
    const line = lines.get(owner) ?? []
    const at = line.indexOf(waiting)
    if (at >= 0) line.splice(at, 1)
    if (line.length === 0) lines.delete(owner)
    return at >= 0
  }

  /**
   * Reads one document. While no other owner waits, it reads further documents of this owner too, so that a
   * busy reader has the next ones at hand.
   */
  function serve(owner: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    let reader: Reader | undefined
    let [bytes, count] = [0, 0]
    const take = () => {
      if (reader?.isAlive() === true) return reader
      if (reader !== undefined) stock.drop(reader)
      return (reader = stock.takeReader())
    }
    const readOne = async (waiting: Waiting) => {
      const isLost = await waiting.read(take)
      bytes -= waiting.bytes
      count -= 1
      if (isLost) join(owner, waiting, true)
      fill(false)
    }
    const fill = (isFirst: boolean) => {
      for (;;) {
        const waiting = lines.get(owner)?.[0]
        const fits =
          count === 0 ||
          (isOn('readers-ahead') && count < MAX_AT_HAND && bytes + (waiting?.bytes ?? 0) <= MAX_BYTES_AT_HAND)
        if (waiting === undefined || !fits || (!isFirst && turns.othersWait(owner))) break
        isFirst = false
        leave(owner, waiting)
        bytes += waiting.bytes
        count += 1
        void readOne(waiting)
      }
      if (count > 0) return
      if (reader !== undefined) stock.giveBack(reader)
      reader = undefined
      ended.resolve()
    }
    fill(true)
    return ended.promise
  }

  return { join, leave }
}

const CALLED_OFF = 'the reading was called off'

function explain(ended: Exclude<ReaderEnd, { kind: 'read' | 'lost' }>, what: Reading['what']): string {
  switch (ended.kind) {
    case 'time':
      return `the ${what} takes too long to read`
    case 'memory':
      return `the ${what} takes too much memory to read`
    case 'large':
      return `the ${what} contains more than 8 MB of text`
    case 'called off':
      return CALLED_OFF
    case 'threw':
      // This is a bug in the program.
      throw new Error(`the ${what} could not be read: ${ended.message}`)
  }
}

/** The readers of this process. They start with the first document. */
const shared = createReaders()
export const closeReaders = (): Promise<void> => shared.close()

type Task = (document: never, input: never) => unknown
type Input<One extends Task> = Parameters<One>[1]
type Result<One extends Task> = Awaited<ReturnType<One>>

/** Returns a function that runs the tasks of a module (its export `tasks`). Only readers load the module. */
export function tasksOf<Tasks extends Record<string, Task>>(module: URL) {
  return async <Name extends keyof Tasks & string>(
    task: Name,
    reading: Reading,
    input: Input<Tasks[Name]>,
  ): Promise<ReadingResult<Result<Tasks[Name]>>> => {
    const result = await shared.read(reading, module, task, input)
    return result as ReadingResult<Result<Tasks[Name]>>
  }
}
