import { isOn } from '../fast-parts.ts'

/**
 * Lets requests and bulk rows share the event loop of a process and its database. Bulk work, which nobody
 * waits for, yields to foreground work, which somebody waits for. It proceeds in small turns, in smaller ones
 * while foreground work is in flight, and uses the remaining time.
 */
export type Yielding = {
  /** Marks foreground work as in flight until the returned function is called. */
  foreground: (kind?: ForegroundKind) => () => void
  /** Resolves when a caller of bulk work may continue with this many rows. */
  yieldTurn: (rows?: number) => Promise<void>
  /**
   * Resolves when no step of a run is in flight, or after a maximum wait. It does not wait for reads: they
   * come all the time, and pausing for them cost bulk work more than it gave them.
   */
  throttle: () => Promise<void>
}

/**
 * The kind of foreground work. A step of a run has several statements of its own. A read is over soon, and
 * reads come again and again.
 */
export type ForegroundKind = 'run' | 'read'

/**
 * Foreground work that takes longer than this is waiting for something else, such as a stream of changes or a
 * large upload.
 */
const MAX_FOREGROUND_MS = 250
const ROWS_PER_TURN = 16
/** The rows per turn while foreground work is in flight. Each of its steps waits for one turn at most. */
const ROWS_BESIDE = 4
/**
 * Bulk rows that have waited this long for their turn get a full one, because foreground work may use up the
 * whole process.
 */
const MAX_WAIT_MS = 5
/**
 * The longest time that a bulk statement waits for a run. Such a statement keeps the database busy for some
 * milliseconds.
 */
const THROTTLE_MS = 20

type ForegroundTask = { kind: ForegroundKind; since: number; ended: boolean }

export function createYielding(): Yielding {
  const queue: { rows: number; resolve: () => void }[] = []
  let next: NodeJS.Immediate | undefined
  let lastTurn = 0
  const throttled = new Set<() => void>()
  const tasks = createForegroundTasks(() => {
    for (const resolve of throttled) resolve()
    throttled.clear()
  })

  function takeTurn(): void {
    next = undefined
    const now = performance.now()
    const kind = now - lastTurn < MAX_WAIT_MS ? tasks.kind() : undefined
    lastTurn = now
    for (const { resolve } of takeRows(kind === undefined ? ROWS_PER_TURN : ROWS_BESIDE)) resolve()
    schedule()
  }

  /** Takes the first rows of the queue, at least one entry. */
  function takeRows(max: number): typeof queue {
    let count = 0
    let rows = 0
    do {
      rows += queue[count]?.rows ?? 0
      count += 1
    } while (count < queue.length && rows + (queue[count]?.rows ?? 0) <= max)
    return queue.splice(0, count)
  }

  /**
   * Schedules the next turn as an immediate, so that requests and database responses that have arrived come
   * first.
   */
  function schedule(): void {
    if (queue.length > 0) next ??= setImmediate(takeTurn)
  }

  return {
    foreground: (kind = 'run') => tasks.begin(kind),
    yieldTurn(rows = 1) {
      if (!isOn('yielding')) return Promise.resolve()
      return new Promise((resolve) => {
        queue.push({ rows, resolve })
        schedule()
      })
    },
    async throttle() {
      if (!isOn('yielding') || tasks.kind() !== 'run') return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, THROTTLE_MS)
      throttled.add(resolve)
      await promise
      clearTimeout(timer)
      throttled.delete(resolve)
    },
  }
}

/** Keeps the foreground work in flight. `onNoRun` is called when no step of a run is left. */
function createForegroundTasks(onNoRun: () => void) {
  /** The tasks in the order in which they began. Some of them may have ended. */
  const tasks: ForegroundTask[] = []
  const underWay = { run: 0, read: 0 }

  function end(task: ForegroundTask): void {
    if (task.ended) return
    task.ended = true
    underWay[task.kind] -= 1
    if (underWay.run === 0) onNoRun()
  }

  /**
   * Forgets tasks that have ended or that wait for something else. Returns the most urgent kind that is left.
   */
  function findKind(): ForegroundKind | undefined {
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

  return {
    kind: findKind,
    /** Adds a task. Returns the function that ends it. */
    begin(kind: ForegroundKind): () => void {
      findKind()
      const task = { kind, since: performance.now(), ended: false }
      tasks.push(task)
      underWay[kind] += 1
      return () => end(task)
    },
  }
}

/** The instance of this process, which has one event loop. */
export const { foreground, yieldTurn, throttle } = createYielding()
