import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { deserialize } from 'node:v8'
import { forkConfined, holdProgram } from '../confined-process.ts'
import type { Asked, Said } from './reader-process.ts'

export type ReaderBounds = {
  /** Processor time for a document of so many bytes. */
  cpuMs: (bytes: number) => number
  /** A reading that neither works nor ends. */
  wallMs: number
  heapMb: number
  residentMb: number
}

export type ReaderEnd =
  | { kind: 'read'; value: unknown }
  | { kind: 'large' | 'time' | 'memory' | 'called off' }
  | { kind: 'threw'; message: string }

/** A process that reads documents of strangers, one at a time. */
export type Reader = {
  /** Kills the process, and is over, when a bound is passed or the signal aborts. */
  run(asked: Asked, signal: AbortSignal): Promise<ReaderEnd>
  isAlive: () => boolean
  close: () => Promise<void>
}

const ENTRY = new URL('reader-process.ts', import.meta.url)
/** Tasks lie all over the server. */
const READABLE = ['server', 'contract', 'node_modules', 'package.json']
const LOOK_MS = 50
/** The unit of processor time in `/proc`, whatever the kernel's own. */
const TICK_MS = 10
const PAGE_BYTES = 4096

/** Starts a reader, without secrets, and where Node can do it without leave to write, to start processes or to read our data. */
export function startReader(bounds: ReaderBounds): Reader {
  const child = forkConfined(ENTRY, {
    heapMb: bounds.heapMb,
    readable: READABLE,
    flags: ['--max-semi-space-size=16'],
    env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
    stderr: 'ignore',
  })
  const ended = once(child, 'exit')
  // A process that cannot be started has no exit; each run listens for the error itself.
  child.on('error', () => undefined)
  let isAlive = true
  child.once('exit', () => (isAlive = false))
  holdProgram(child, false)
  return {
    isAlive: () => isAlive && child.connected,
    async run(asked, signal) {
      holdProgram(child, true)
      try {
        return await runOnce(child, bounds, asked, signal)
      } finally {
        holdProgram(child, false)
      }
    },
    async close() {
      if (!isAlive || child.pid === undefined) return
      holdProgram(child, true)
      child.kill('SIGKILL')
      await ended
    },
  }
}

function runOnce(
  child: ChildProcess,
  bounds: ReaderBounds,
  asked: Asked,
  signal: AbortSignal,
): Promise<ReaderEnd> {
  const end = Promise.withResolvers<ReaderEnd>()
  const began = performance.now()
  const mostMs = bounds.cpuMs(asked.document.length)
  let cpuAtStart: number | null = null
  let killedFor: 'time' | 'memory' | 'called off' | null = null
  const kill = (why: typeof killedFor) => {
    killedFor ??= why
    child.kill('SIGKILL')
  }
  const look = () => {
    const used = usageOf(child)
    if (used === null) return
    if (used.residentBytes > bounds.residentMb * 1024 * 1024) kill('memory')
    else if (cpuAtStart !== null && used.cpuMs - cpuAtStart > mostMs) kill('time')
    else if (performance.now() - began > bounds.wallMs) kill('time')
  }
  const onMessage = (said: Said) => {
    if (said.kind === 'began') cpuAtStart = usageOf(child)?.cpuMs ?? null
    else if (said.kind === 'read') end.resolve({ kind: 'read', value: deserialize(said.value) })
    else end.resolve(said)
  }
  // V8 ends a process whose heap is full by a signal of its own, the kernel one that has too much by SIGKILL.
  const onExit = (code: number | null) => {
    if (killedFor === null && code !== null) {
      end.resolve({ kind: 'threw', message: `the reader ended with code ${code}` })
    } else end.resolve({ kind: killedFor ?? 'memory' })
  }
  const onError = (cause: Error) => end.resolve({ kind: 'threw', message: cause.message })
  const onAbort = () => kill('called off')
  const timer = setInterval(look, LOOK_MS)
  child.on('message', onMessage).once('exit', onExit).once('error', onError)
  signal.addEventListener('abort', onAbort, { once: true })
  child.send(asked)
  return end.promise.finally(() => {
    clearInterval(timer)
    child.off('message', onMessage).off('exit', onExit).off('error', onError)
    signal.removeEventListener('abort', onAbort)
  })
}

/** Returns the processor time and memory of a process; null when it has ended. */
function usageOf({ pid }: ChildProcess): { cpuMs: number; residentBytes: number } | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // It ended meanwhile, and its exit is about to be told.
    return null
  }
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, resident = 0] = [fields[11], fields[12], fields[21]]
  return { cpuMs: (user + system) * TICK_MS, residentBytes: resident * PAGE_BYTES }
}
