import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { deserialize } from 'node:v8'
import { forkConfined, holdProgram } from '../confined-process.ts'
import type { ReaderRequest, ReaderMessage } from './reader-process.ts'

export type ReaderBounds = {
  /** Returns the limit of processor time for a document of this many bytes. */
  cpuMs: (bytes: number) => number
  /** The limit of elapsed time, for a read that neither works nor ends. */
  wallMs: number
  heapMb: number
  residentMb: number
}

export type ReaderEnd =
  | { kind: 'read'; value: unknown }
  | { kind: 'large' | 'time' | 'memory' | 'called off' }
  | { kind: 'lost' }
  | { kind: 'threw'; message: string }

/** A process that reads documents of strangers, one at a time. */
export type Reader = {
  /**
   * Reads a document after the documents that were passed before it. If a limit is exceeded or the signal
   * aborts, the process is killed and the reader is unusable. The documents after that one had not begun, and
   * end as `lost`.
   */
  run(request: ReaderRequest, signal: AbortSignal): Promise<ReaderEnd>
  isAlive: () => boolean
  close: () => Promise<void>
}

const ENTRY = new URL('reader-process.ts', import.meta.url)
/** The folders that a reader may read. They cover the whole server, because tasks can be anywhere in it. */
const READABLE = ['server', 'contract', 'node_modules', 'package.json']
const LOOK_MS = 50
/** The unit of processor time in `/proc`. It does not depend on the kernel's internal tick. */
const TICK_MS = 10
const PAGE_BYTES = 4096

/**
 * Starts a reader without secrets. Where Node supports it, the reader may not write files, start processes or
 * read the server's data.
 */
export function startReader(bounds: ReaderBounds): Reader {
  const child = forkConfined(ENTRY, {
    heapMb: bounds.heapMb,
    readable: READABLE,
    // A reader has little to collect at once, so threads that help to collect cost more than they save.
    flags: ['--max-semi-space-size=16', '--no-parallel-scavenge'],
    env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
    stderr: 'ignore',
  })
  const ended = once(child, 'exit')
  let isAlive = true
  child.once('exit', () => (isAlive = false))
  holdProgram(child, false)
  const run = lineUp(child, bounds)
  return {
    isAlive: () => isAlive && child.connected,
    run,
    async close() {
      if (!isAlive || child.pid === undefined) return
      holdProgram(child, true)
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** A document that was passed to a reader. The first one in the queue is being read. */
type Given = {
  module: string
  mostMs: number
  beganAt: number
  cpuAtStart: number | null
  end: (ended: ReaderEnd) => void
}
type Kill = 'time' | 'memory' | 'called off'

/** Passes documents to a process and watches over the one that is being read. */
function lineUp(child: ChildProcess, bounds: ReaderBounds): Reader['run'] {
  const line: Given[] = []
  const loaded = new Set<string>()
  let killed: { given: Given | undefined; why: Kill } | null = null
  let timer: NodeJS.Timeout | undefined

  const kill = (why: Kill) => {
    killed ??= { given: line[0], why }
    child.kill('SIGKILL')
  }
  const look = () => {
    const [first] = line
    const used = first === undefined ? null : usageOf(child)
    if (first === undefined || used === null) return
    // The time in which the module was loaded does not count for the document.
    if (loaded.has(first.module)) first.cpuAtStart ??= used.cpuMs
    if (used.residentBytes > bounds.residentMb * 1024 * 1024) kill('memory')
    else if (first.cpuAtStart !== null && used.cpuMs - first.cpuAtStart > first.mostMs) kill('time')
    else if (performance.now() - first.beganAt > bounds.wallMs) kill('time')
  }
  const endFirst = (ended: ReaderEnd) => {
    line.shift()?.end(ended)
    const [next] = line
    if (next !== undefined) next.beganAt = performance.now()
    if (next !== undefined || timer === undefined) return
    clearInterval(timer)
    timer = undefined
    holdProgram(child, false)
  }
  const endAll = (first: ReaderEnd) => {
    endFirst(first)
    while (line.length > 0) endFirst({ kind: 'lost' })
  }
  child.on('message', (message: ReaderMessage) => {
    if (message.kind === 'loaded') loaded.add(line[0]?.module ?? '')
    else if (message.kind === 'read') endFirst({ kind: 'read', value: deserialize(message.value) })
    else endFirst(message)
  })
  // V8 ends a process with a full heap by a signal of its own. The kernel ends one that uses too much memory by
  // SIGKILL.
  onceEnded(child, (code) => {
    if (killed === null && code !== null)
      endAll({ kind: 'threw', message: `the reader ended with code ${code}` })
    // The document for which the process was killed may have been read in the meantime.
    else if (killed !== null && killed.given !== line[0]) endAll({ kind: 'lost' })
    else endAll({ kind: killed?.why ?? 'memory' })
  })
  child.on('error', (cause) => {
    // Only a process that cannot be started has no exit event.
    if (child.pid === undefined) endAll({ kind: 'threw', message: cause.message })
  })

  return (request, signal) =>
    new Promise((resolve) => {
      // A document that has not begun stays in the queue: killing the process would lose the documents before
      // it.
      const onAbort = () => line[0] === given && kill('called off')
      const given: Given = {
        module: request.module,
        mostMs: bounds.cpuMs(request.document.length),
        beganAt: performance.now(),
        cpuAtStart: null,
        end(ended) {
          signal.removeEventListener('abort', onAbort)
          resolve(ended)
        },
      }
      child.send(request)
      line.push(given)
      signal.addEventListener('abort', onAbort, { once: true })
      if (timer === undefined) {
        holdProgram(child, true)
        timer = setInterval(look, LOOK_MS)
      }
    })
}

/**
 * Waits for the exit of a process and the end of its channel: a message that it sent before its end may arrive
 * after its exit event, but not after the end of the channel.
 */
function onceEnded(child: ChildProcess, onEnd: (code: number | null) => void): void {
  let hasLeft = false
  child.once('disconnect', () => (hasLeft = true))
  child.once('exit', (code: number | null) => {
    if (hasLeft) onEnd(code)
    else child.once('disconnect', () => onEnd(code))
  })
}

/** Returns the processor time and memory of a process, or null if it has ended. */
function usageOf({ pid }: ChildProcess): { cpuMs: number; residentBytes: number } | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // The process has ended, and its exit event follows soon.
    return null
  }
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, resident = 0] = [fields[11], fields[12], fields[21]]
  return { cpuMs: (user + system) * TICK_MS, residentBytes: resident * PAGE_BYTES }
}
