import { availableParallelism } from 'node:os'
import { createSlots } from '../../lib/timing/slots.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The organisation that takes turns for a request without a key; null when none does. */
    turnOwner: string | null
  }
}

type TurnLimits = {
  /** At work at once while one organisation has the process for itself. */
  alone: number
  /** While several have asked: more at once are not done sooner, and keep those of others waiting. */
  shared: number
}

/** Fewer than there are connections to the database, so that none waits for one behind others. */
const MAX_ALONE = 16
const MAX_SHARED = Math.max(2, availableParallelism())
/** Several asked within this time. */
const SHARED_MS = 2000
/** A request that is under way for longer than this keeps others from nothing any more. */
const SHORT_MS = 500
/** Whoever comes first meets about as many at work as are done in this time. */
const AHEAD_MS = 25
const SMOOTHING = 0.1
/** One that took long is no sign for many others. */
const MAX_PACE_MS = 100

/** Before its body is read a request is admitted; then its handler is at work. In between it waits for its sender. */
type TurnPart = 'admission' | 'handler'
type Turn = { owner: string; part: TurnPart; state: 'waiting' | 'held' | 'left' }

/**
 * Requests at work at once, in each part: organisations take turns, and one that has none at work begins at once, however many
 * requests of others are there. While requests of several are under way each has one at work. Who only sends holds none.
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
    /** Nothing to wait for when it answers undefined. A turn in another part ends. */
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
    /** It is done in this part, its answer is ready, or nobody waits for it any more. */
    leave,
  }
}

/** Who has requests under way. */
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
    /** Several have asked of late. */
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

/** Milliseconds from the end of one handler to that of the next, while others wait for their turn. */
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
