import { setImmediate } from 'node:timers'
import { resumeWork } from './thread-watch.ts'

/**
 * The length of a turn: long enough to be efficient, short enough that nobody who waits for the event loop
 * notices it.
 */
const TURN_MS = 4

/** Work in small steps. It yields wherever other work may have its turn. */
export type Steps<Result> = Generator<void, Result, void>

/** The callbacks of those who wait for their turn, the first in front. */
const line: (() => void)[] = []
/** The start of the turn of this round of the event loop, or undefined if nobody has begun one. */
let began: number | undefined

/**
 * Lets other work run whenever the turn is used up. Await it between the small steps of work that would block
 * the event loop for long, and before a step that takes some milliseconds by itself. All such work of this
 * process shares one turn in each round of the event loop: however much of it is under way, the round lasts
 * no longer.
 */
export function pause(): Promise<void> | undefined {
  if (began === undefined) {
    beginTurn()
    return undefined
  }
  return isUsedUp() ? wait() : undefined
}

/** Does the steps in turns with other work. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const turn = pause()
    if (turn !== undefined) await turn
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Does the steps at once, for work that is known to be small. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

async function wait(): Promise<void> {
  await new Promise<void>((resolve) => line.push(resolve))
  resumeWork()
}

function beginTurn(): void {
  began = performance.now()
  setImmediate(beginRound)
}

function isUsedUp(): boolean {
  return began !== undefined && performance.now() - began >= TURN_MS
}

function beginRound(): void {
  began = undefined
  if (line.length === 0) return
  beginTurn()
  resumeNext()
}

/** Resumes those who wait, one after the other, until the turn is used up. */
function resumeNext(): void {
  const resume = line.shift()
  if (resume === undefined) return
  resume()
  // Runs when the resumed work has ended or waits again.
  queueMicrotask(() => process.nextTick(() => isUsedUp() || resumeNext()))
}
