import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import type { Log } from '../log.ts'

/** An event: some work held the thread of this process, so that everything else waited. */
export type HeldThread = {
  /** The processor time without a pause. */
  ms: number
  /** The request, action or job that was running, or `unknown`. */
  work: string
}

/**
 * The interval of the checks. It is also the largest amount of other work that may be counted together with
 * the work that held the thread.
 */
const LOOK_MS = 20
const HELD_MS = 200
const UNKNOWN = 'unknown'

const labels = new AsyncLocalStorage<string>()
const held = channel('loam:held-thread')

/** The current work, which started at `began`, and the longest work since the last check. */
let current = UNKNOWN
let began = 0
let longest = { work: UNKNOWN, ms: 0 }
let isEndSet = false

/**
 * Runs `begin` as a part of some work, such as `POST /rows`. Asynchronous work that it starts belongs to it
 * as well.
 */
export function workAs<Result>(work: string, begin: () => Result): Result {
  note(work)
  return labels.run(work, begin)
}

/** Notes that the caller's work continues after a wait. */
export function resumeWork(): void {
  note(labels.getStore() ?? UNKNOWN)
}

function note(work: string): void {
  change(work)
  if (isEndSet) return
  isEndSet = true
  // Runs when all work that began in this turn of the event loop is done.
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

/**
 * Logs and publishes an event whenever this thread works for long without a pause. Returns a function that
 * stops it.
 */
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

/** Calls `listener` whenever the thread was held. Returns a function that stops it. */
export function onHeldThread(listener: (thread: HeldThread) => void): () => void {
  const hear = (message: unknown) => listener(message as HeldThread)
  held.subscribe(hear)
  return () => held.unsubscribe(hear)
}

/** Reads the processor time of this thread. A busy process elsewhere on the machine does not count. */
function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
