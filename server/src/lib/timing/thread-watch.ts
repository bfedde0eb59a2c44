import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import type { Log } from '../log.ts'

/** Work that held the thread of this process, so that all others waited. */
export type HeldThread = {
  /** Processor time without a pause. */
  ms: number
  /** The request, action or job that worked; `unknown` for work that none of them is known to have done. */
  work: string
}

/** How often the thread is looked at; also how much of other work may be counted with what held it. */
const LOOK_MS = 20
const HELD_MS = 200
const UNKNOWN = 'unknown'

const labels = new AsyncLocalStorage<string>()
const held = channel('loam:held-thread')

/** The work at hand since `began`, and that which took longest since the last look. */
let current = UNKNOWN
let began = 0
let longest = { work: UNKNOWN, ms: 0 }
let isEndSet = false

/** Runs `begin` as a part of some work, such as `POST /rows`. What it leads to later belongs to it as well. */
export function workAs<Result>(work: string, begin: () => Result): Result {
  note(work)
  return labels.run(work, begin)
}

/** Says that the work of the caller goes on, after it waited for something. */
export function resumeWork(): void {
  note(labels.getStore() ?? UNKNOWN)
}

function note(work: string): void {
  change(work)
  if (isEndSet) return
  isEndSet = true
  // Comes when nothing is left to do that was begun in this turn of the event loop.
  process.nextTick(endTurn)
}

function endTurn(): void {
  isEndSet = false
  change(UNKNOWN)
}

function change(work: string): void {
  const now = performance.now()
  if (now - began > longest.ms) longest = { work: current, ms: now - began }
  current = work
  began = now
}

/** Logs and tells whenever this thread worked for long without a pause, until the function that it returns is called. */
export function watchThread(log: Pick<Log, 'warn'>, heldMs = HELD_MS): () => void {
  let before = readCpuMs()
  began = performance.now()
  longest = { work: UNKNOWN, ms: 0 }
  const timer = setInterval(() => {
    const now = readCpuMs()
    const ms = Math.round(now - before)
    before = now
    change(UNKNOWN)
    const { work } = longest
    longest = { work: UNKNOWN, ms: 0 }
    if (ms < heldMs) return
    held.publish({ ms, work } satisfies HeldThread)
    log.warn({ ms, work }, 'the thread of the server worked without a pause, and everything else waited')
  }, LOOK_MS).unref()
  return () => clearInterval(timer)
}

/** Calls `listener` whenever the thread was held, until the function that it returns is called. */
export function onHeldThread(listener: (thread: HeldThread) => void): () => void {
  const hear = (message: unknown) => listener(message as HeldThread)
  held.subscribe(hear)
  return () => void held.unsubscribe(hear)
}

/** Reads the processor time of this thread: another process that keeps the machine busy holds nothing here. */
function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
