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
  | { kind: 'lost' }
  | { kind: 'threw'; message: string }

/** A process that reads documents of strangers, one at a time. */
export type Reader = {
  /**
   * Reads a document once those are read that were given before it. Kills the process, and is over, when a bound is passed or the
   * signal aborts; documents behind that one have not begun then, and are `lost`.
   */
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

/** A document in a reader. The first one given is the one at work. */
type Given = {
  module: string
  mostMs: number
  beganAt: number
  cpuAtStart: number | null
  end: (ended: ReaderEnd) => void
}
type Kill = 'time' | 'memory' | 'called off'

/** Gives documents to a process, and watches over the one at work. */
function lineUp(child: ChildProcess, bounds: ReaderBounds): Reader['run'] {
  const line: Given[] = []
  const loaded = new Set<string>()
  let killed: { given: Given | undefined; why: Kill } | null = null
  let timer: NodeJS.Timeout | undefined
  let hasLeft = false
  child.once('disconnect', () => (hasLeft = true))

  const kill = (why: Kill) => {
    killed ??= { given: line[0], why }
    child.kill('SIGKILL')
  }
  const look = () => {
    const [first] = line
    const used = first === undefined ? null : usageOf(child)
    if (first === undefined || used === null) return
    // The time in which its module was loaded is not its own.
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
  child.on('message', (said: Said) => {
    if (said.kind === 'loaded') loaded.add(line[0]?.module ?? '')
    else if (said.kind === 'read') endFirst({ kind: 'read', value: deserialize(said.value) })
    else endFirst(said)
  })
  // What it said before its end may come after its exit, but not after the end of the channel.
  // V8 ends a process whose heap is full by a signal of its own, the kernel one that has too much by SIGKILL.
  const onEnd = (code: number | null) => {
    if (killed === null && code !== null)
      endAll({ kind: 'threw', message: `the reader ended with code ${code}` })
    // The one it was killed for may have been read meanwhile.
    else if (killed !== null && killed.given !== line[0]) endAll({ kind: 'lost' })
    else endAll({ kind: killed?.why ?? 'memory' })
  }
  child.once('exit', (code: number | null) => {
    if (hasLeft) onEnd(code)
    else child.once('disconnect', () => onEnd(code))
  })
  child.on('error', (cause) => {
    // Only a process that cannot be started has no exit.
    if (child.pid === undefined) endAll({ kind: 'threw', message: cause.message })
  })

  return (asked, signal) =>
    new Promise((resolve) => {
      // One that has not begun is left to be read, since those before it are not to be lost.
      const onAbort = () => line[0] === given && kill('called off')
      const given: Given = {
        module: asked.module,
        mostMs: bounds.cpuMs(asked.document.length),
        beganAt: performance.now(),
        cpuAtStart: null,
        end(ended) {
          signal.removeEventListener('abort', onAbort)
          resolve(ended)
        },
      }
      child.send(asked)
      line.push(given)
      signal.addEventListener('abort', onAbort, { once: true })
      if (timer === undefined) {
        holdProgram(child, true)
        timer = setInterval(look, LOOK_MS)
      }
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
