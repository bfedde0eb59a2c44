import { availableParallelism } from 'node:os'
import { createSlots } from '../../lib/timing/slots.ts'

/** Handlers at work at once while one organisation has the process for itself. */
const MAX_ALONE = 64
/** While several ask: more at once are not done sooner, and keep those of others waiting. */
const MAX_SHARED = Math.max(2, availableParallelism())
/** Several asked within this time. */
const SHARED_MS = 2000

type Turn = { orgId: string; state: 'waiting' | 'held' | 'left' }

/**
 * Handlers at work at once: organisations take turns, and one that has none at work begins at once, however many requests of
 * others are there. A request takes its turn when its body is read, so that slow senders hold none.
 */
export function createRequestTurns<Request extends object>(
  limits = { alone: MAX_ALONE, shared: MAX_SHARED },
) {
  let latest = ''
  let sharedAt = -SHARED_MS
  const isShared = () => performance.now() - sharedAt < SHARED_MS
  const slots = createSlots(() => (isShared() ? limits.shared : limits.alone))
  const turns = new WeakMap<Request, Turn>()

  return {
    /** Nothing to wait for when it answers undefined. */
    take(request: Request, orgId: string): Promise<void> | undefined {
      if (orgId !== latest) {
        if (latest !== '') sharedAt = performance.now()
        latest = orgId
      }
      const turn: Turn = { orgId, state: 'waiting' }
      turns.set(request, turn)
      const begin = () => {
        if (turn.state === 'left') slots.giveBack(orgId)
        else turn.state = 'held'
      }
      const waiting = slots.take(orgId)
      if (waiting !== undefined) return waiting.then(begin)
      begin()
      return undefined
    },
    /** Its answer is ready, or nobody waits for it any more. */
    leave(request: Request): void {
      const turn = turns.get(request)
      if (turn === undefined) return
      if (turn.state === 'held') slots.giveBack(turn.orgId)
      turn.state = 'left'
    },
  }
}
