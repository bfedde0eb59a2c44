/**
 * Requests and the mass of rows share the event loop of a process, and its database. Work that nobody waits for gives way to
 * work that somebody waits for: it goes on in small turns, between which others come to theirs, and rests while somebody
 * waits, though never for long.
 */
export type Courtesy = {
  /** Somebody waits from now on, until the answer is called. */
  begin(): () => void
  /** Resolves when the caller, who is waited for by nobody, may go on with one row. */
  turn(): Promise<void>
  /** Resolves when nobody waits, or it was waited for long enough. */
  rest(): Promise<void>
}

/** Who waits for longer than this waits for something else: a stream of changes, a large upload. */
const LONGEST_WAIT_MS = 250
const ROWS_PER_TURN = 16
/** While somebody waits, a turn comes this often all the same. */
const REST_MS = 15

type Guest = { since: number; gone: boolean }

export function createCourtesy(): Courtesy {
  /** In the order in which they came; those that left may still be among them. */
  const guests: Guest[] = []
  let waiting = 0
  const queue: (() => void)[] = []
  let next: NodeJS.Immediate | NodeJS.Timeout | undefined
  const resting = new Set<() => void>()

  function leave(guest: Guest): void {
    if (guest.gone) return
    guest.gone = true
    waiting -= 1
    if (waiting === 0) wake()
  }

  /** Forgets those that left, and those that wait for something else. */
  function isWaitedFor(): boolean {
    const long = performance.now() - LONGEST_WAIT_MS
    for (
      let first = guests[0];
      first !== undefined && (first.gone || first.since < long);
      first = guests[0]
    ) {
      leave(first)
      guests.shift()
    }
    return waiting > 0
  }

  function wake(): void {
    for (const resolve of resting) resolve()
    resting.clear()
    if (queue.length === 0) return
    stopWaiting()
    next = setImmediate(takeTurn)
  }

  function stopWaiting(): void {
    clearTimeout(next as NodeJS.Timeout)
    clearImmediate(next as NodeJS.Immediate)
  }

  function takeTurn(): void {
    next = undefined
    for (const resolve of queue.splice(0, ROWS_PER_TURN)) resolve()
    schedule()
  }

  function schedule(): void {
    if (queue.length === 0 || next !== undefined) return
    next = isWaitedFor() ? setTimeout(takeTurn, REST_MS) : setImmediate(takeTurn)
  }

  return {
    begin() {
      isWaitedFor()
      const guest = { since: performance.now(), gone: false }
      guests.push(guest)
      waiting += 1
      return () => leave(guest)
    },
    turn() {
      return new Promise((resolve) => {
        queue.push(resolve)
        schedule()
      })
    },
    async rest() {
      if (!isWaitedFor()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, 2 * REST_MS)
      resting.add(resolve)
      await promise
      clearTimeout(timer)
      resting.delete(resolve)
    },
  }
}

/** There is one event loop in a process. */
export const courtesy = createCourtesy()
