/**
 * Requests and bulk rows share the event loop of a process, and its database. Bulk work, which nobody waits for, yields to
 * foreground work, which somebody waits for: it proceeds in small turns, in smaller ones while foreground work is under way,
 * and takes whatever time that leaves.
 */
export type Yielding = {
  /** Foreground work is under way from now on, until the function that it answers is called. */
  foreground: (kind?: ForegroundKind) => () => void
  /** Resolves when a caller of bulk work may go on with a row, or with so many. */
  yieldTurn: (rows?: number) => Promise<void>
  /**
   * Resolves when no step of a run is under way, or it was waited for long enough. Reads are not waited for: they come all the time,
   * and resting for them cost the bulk more than it gave them.
   */
  throttle: () => Promise<void>
}

/** A step of a run has several statements of its own; a read is soon over, and comes again and again. */
export type ForegroundKind = 'run' | 'read'

/** Foreground work that takes longer than this waits for something else: a stream of changes, a large upload. */
const MAX_FOREGROUND_MS = 250
const ROWS_PER_TURN = 16
/** While foreground work is under way: each of its steps waits for one turn at most. */
const ROWS_BESIDE = 4
/** Bulk rows that have waited for their turn for so long have a full one: foreground work may take up the whole process. */
const MAX_WAIT_MS = 5
/** A statement of bulk rows, which keeps the database at work for some milliseconds, waits for a run for so long at most. */
const THROTTLE_MS = 20

type ForegroundTask = { kind: ForegroundKind; since: number; ended: boolean }

export function createYielding(): Yielding {
  /** In the order in which they began; those that ended may still be among them. */
  const tasks: ForegroundTask[] = []
  const underWay = { run: 0, read: 0 }
  const queue: { rows: number; resolve: () => void }[] = []
  let next: NodeJS.Immediate | undefined
  let lastTurn = 0
  const throttled = new Set<() => void>()

  function end(task: ForegroundTask): void {
    if (task.ended) return
    task.ended = true
    underWay[task.kind] -= 1
    if (underWay.run === 0) wake()
  }

  /** Forgets tasks that ended, and those that wait for something else. Answers the most urgent kind that is left. */
  function foregroundKind(): ForegroundKind | undefined {
    const oldest = performance.now() - MAX_FOREGROUND_MS
    for (
      let first = tasks[0];
      first !== undefined && (first.ended || first.since < oldest);
      first = tasks[0]
    ) {
      end(first)
      tasks.shift()
    }
    if (underWay.run > 0) return 'run'
    return underWay.read > 0 ? 'read' : undefined
  }

  function wake(): void {
    for (const resolve of throttled) resolve()
    throttled.clear()
  }

  function takeTurn(): void {
    next = undefined
    const now = performance.now()
    const kind = now - lastTurn < MAX_WAIT_MS ? foregroundKind() : undefined
    lastTurn = now
    for (const { resolve } of takeRows(kind === undefined ? ROWS_PER_TURN : ROWS_BESIDE)) resolve()
    schedule()
  }

  /** Those who are first in the queue, one at least. */
  function takeRows(max: number): typeof queue {
    let count = 0
    let rows = 0
    do {
      rows += queue[count]?.rows ?? 0
      count += 1
    } while (count < queue.length && rows + (queue[count]?.rows ?? 0) <= max)
    return queue.splice(0, count)
  }

  /** Immediates come after whatever has arrived meanwhile: requests, and answers of the database to them. */
  function schedule(): void {
    if (queue.length > 0) next ??= setImmediate(takeTurn)
  }

  return {
    foreground(kind = 'run') {
      foregroundKind()
      const task = { kind, since: performance.now(), ended: false }
      tasks.push(task)
      underWay[kind] += 1
      return () => end(task)
    },
    yieldTurn(rows = 1) {
      return new Promise((resolve) => {
        queue.push({ rows, resolve })
        schedule()
      })
    },
    async throttle() {
      if (foregroundKind() !== 'run') return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, THROTTLE_MS)
      throttled.add(resolve)
      await promise
      clearTimeout(timer)
      throttled.delete(resolve)
    },
  }
}

/** There is one event loop in a process. */
export const { foreground, yieldTurn, throttle } = createYielding()
