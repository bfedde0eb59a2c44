import { availableParallelism } from 'node:os'
import { createSlots } from '../../lib/timing/slots.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The organisation that a request without a key is counted for, or null. */
    turnOwner: string | null
  }
}

type TurnLimits = {
  /** The maximum of requests at work while only one organisation sends requests. */
  alone: number
  /**
   * The maximum while several organisations send requests: more at once would not finish sooner, and would
   * delay the others.
   */
  shared: number
}

/**
 * The maximum for one organisation. It is below the number of database connections, so that no request waits
 * for a connection held by another.
 */
const MAX_ALONE = 16
const MAX_SHARED = Math.max(2, availableParallelism())
/** The time within which several organisations must send requests to count as a mix. */
const SHARED_MS = 2000
/**
 * A request in progress for longer than this no longer counts as present, so it blocks no other organisation.
 */
const SHORT_MS = 500
/** The target queueing delay: the requests at work finish within about this time. */
const AHEAD_MS = 25
const SMOOTHING = 0.1
/** The longest interval that enters the average: one slow request says little about the others. */
const MAX_PACE_MS = 100

/**
 * The parts of a request that take a turn: admission before its body is read, then its handler. Between the
 * two it waits for its client and holds no slot.
 */
type TurnPart = 'admission' | 'handler'
type Turn = { owner: string; part: TurnPart; state: 'waiting' | 'held' | 'left' }

/**
 * Limits the requests at work at once, in each part. Organisations take turns, and one without requests at
 * work begins at once, however many requests the others have. While several organisations have requests in
 * progress, each has one at work. An upload in progress holds no slot.
 */
export function createRequestTurns<Request extends object>(
  limits: TurnLimits = { alone: MAX_ALONE, shared: MAX_SHARED },
) {
  const turns = new WeakMap<Request, Turn>()
  const crowd = createCrowd()
  const pace = createPace()
  const parts = {
    admission: createSlots(() => (crowd.isMixed() ? 1 : limits.alone)),
    handler: createSlots(() => {
      if (crowd.areSeveralPresent()) return 1
      if (crowd.isMixed()) return limits.shared
      return Math.max(limits.shared, Math.min(limits.alone, Math.round(AHEAD_MS / pace.ms())))
    }),
  }

  function leave(request: Request): void {
    const turn = turns.get(request)
    if (turn === undefined || turn.state === 'left') return
    const { owner, part, state } = turn
    turn.state = 'left'
    crowd.depart(owner)
    if (part === 'handler') pace.noteEnd(state)
    if (state === 'held') parts[part].giveBack(owner)
  }

  return {
    /** Takes a turn. Returns undefined if the turn is granted at once. A turn in another part ends. */
    take(request: Request, owner: string, part: TurnPart): Promise<void> | undefined {
      leave(request)
      crowd.arrive(owner)
      const turn: Turn = { owner, part, state: 'waiting' }
      turns.set(request, turn)
      const waiting = parts[part].take(owner)
      if (waiting === undefined) {
        turn.state = 'held'
        return undefined
      }
      if (part === 'handler') pace.noteWaiting()
      const begin = () => {
        if (turn.state === 'left') return parts[part].giveBack(owner)
        turn.state = 'held'
        if (part === 'handler') pace.noteBegin()
      }
      return waiting.then(begin)
    },
    /** Ends the turn of a request: the part is done, its answer is ready, or its client has disconnected. */
    leave,
  }
}

/** Tracks which organisations have requests in progress. */
function createCrowd() {
  const present = new Map<string, { count: number; latestAt: number }>()
  let latest = ''
  let mixedAt = -SHARED_MS
  return {
    arrive(owner: string): void {
      const now = performance.now()
      if (owner !== latest) {
        if (latest !== '') mixedAt = now
        latest = owner
      }
      const known = present.get(owner) ?? { count: 0, latestAt: now }
      present.set(owner, { count: known.count + 1, latestAt: now })
    },
    depart(owner: string): void {
      const known = present.get(owner)
      if (known !== undefined && --known.count === 0) present.delete(owner)
    },
    /** Returns true if several organisations have sent requests recently. */
    isMixed: (): boolean => performance.now() - mixedAt < SHARED_MS,
    areSeveralPresent(): boolean {
      if (present.size < 2) return false
      const since = performance.now() - SHORT_MS
      let owners = 0
      for (const { latestAt } of present.values()) if (latestAt > since && ++owners > 1) return true
      return false
    },
  }
}

/** Measures the milliseconds between the ends of two handlers while others wait for their turn. */
function createPace() {
  let average = 1
  let waiting = 0
  let endedAt: number | null = null
  return {
    ms: () => average,
    noteWaiting: () => void (waiting += 1),
    noteBegin: () => void (waiting -= 1),
    noteEnd(state: Turn['state']): void {
      if (state === 'waiting') waiting -= 1
      const now = performance.now()
      if (state === 'held' && waiting > 0 && endedAt !== null)
        average += SMOOTHING * (Math.min(now - endedAt, MAX_PACE_MS) - average)
      endedAt = waiting > 0 ? now : null
    },
  }
}
