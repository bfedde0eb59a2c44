import { backoff } from '../../lib/timing/backoff.ts'
import type { WaterfallStep } from '../fields/waterfall-field.ts'
import { createKey, type ProviderKey } from './access.ts'
import type { Adapter, AdapterAsk, Found, Paused } from './adapter.ts'
import type { AskContext } from './context.ts'
import type { Provider } from './provider.ts'
import { findRemedy } from './remedy.ts'
import type { Refusal } from './reply.ts'
import type { Turn } from './waterfall-progress.ts'

export const MAX_TRIES = 3
const MAX_POLLS = 40
const LONGEST_PAUSE_MS = 120_000
/** The time after which the row is parked before the next call, so that the action does not reach its timeout. */
export const LONGEST_RUN_MS = 20_000

/** Returns the key of a step, or a text that says how to get one (D66, D71). */
export async function chooseKey<Input, Result>(
  { provider }: Adapter<Input, Result>,
  { own_key }: WaterfallStep,
  context: AskContext,
): Promise<ProviderKey | string> {
  if (own_key)
    return (await context.keys.own(provider.id)) ?? findRemedy(provider, { ownKey: true, hasAddress: true })
  const hasAddress = provider.isPlaced(context)
  if (!provider.requiresOwnKey && hasAddress) {
    const key = provider.auth.kind === 'none' ? NO_KEY : context.keys.platform(provider.id)
    if (key !== null) return key
  }
  return findRemedy(provider, { ownKey: false, hasAddress })
}

/** The key for providers that need none. */
const NO_KEY = createKey('platform', {})

/** Asks one provider, in as many calls as that takes. `concludeCall` interprets the answer. */
export function callProvider<Input, Result>(
  adapter: Adapter<Input, Result>,
  { input, key }: { input: Input; key: ProviderKey },
  turn: Turn,
  context: AskContext,
): Promise<Found<Result>> {
  const { provider } = adapter
  const started = performance.now()
  const running = adapter.run(createAsk(provider, key, turn, context), input, { poll: turn.poll, context })
  if (!provider.isBuiltIn) return running
  return running.finally(() => {
    turn.ms += Math.round(performance.now() - started)
  })
}

/** Interprets an answer. A temporary failure becomes a pause, as often as a retry is worth it (D24). */
export function concludeCall<Result>(
  provider: Provider,
  turn: Turn,
  found: Found<Result>,
): Exclude<Found<Result>, { kind: 'pending' }> {
  if (found.kind === 'pending') {
    turn.poll = found.poll
    turn.polls += 1
    turn.replies = []
    if (turn.polls <= MAX_POLLS) return { kind: 'paused', ms: found.afterMs }
    return {
      kind: 'error',
      message: `no result, although it was looked for ${MAX_POLLS} times`,
      transient: false,
    }
  }
  // Built-in sources make calls of their own, which nothing has retried yet.
  if (provider.isBuiltIn && isRefusal(found)) return pauseAfter(found, turn) ?? found
  return found
}

/**
 * Creates the function that makes the calls. Each call takes its own place at the gate; replies of an earlier try are
 * returned without a call.
 */
function createAsk(provider: Provider, key: ProviderKey, turn: Turn, context: AskContext): AdapterAsk {
  const started = Date.now()
  let place = 0
  return async (request, schema, read) => {
    const kept = place < turn.replies.length ? schema.safeParse(turn.replies[place]) : undefined
    if (kept?.success) {
      place += 1
      return read(kept.data)
    }
    turn.replies.splice(place)
    if (Date.now() - started > LONGEST_RUN_MS) return { kind: 'paused', ms: 0 }
    const { slot } = turn
    if (slot !== undefined) delete turn.slot
    const limits = provider.limits(context)
    const gate = await context.gate.enter(`${provider.id} ${key.id}`, limits, context, slot)
    if (gate.kind === 'broken') {
      const message = 'it keeps failing and is not called for a while'
      return { kind: 'error', message, transient: true, brokenMs: gate.afterMs }
    }
    if (gate.kind === 'busy') {
      if (gate.slot !== undefined) turn.slot = gate.slot
      return { kind: 'paused', ms: gate.afterMs }
    }
    const called = performance.now()
    let isBroken = true
    try {
      const reply = await provider.request(context, key, request, schema)
      isBroken = !reply.ok && reply.refusal.kind === 'error' && reply.refusal.transient
      if (!reply.ok) return pauseAfter(reply.refusal, turn) ?? reply.refusal
      turn.replies.push(reply.body)
      turn.tries = 0
      place += 1
      return read(reply.body)
    } finally {
      turn.ms += Math.round(performance.now() - called)
      gate.leave(isBroken ? 'broken' : 'worked')
    }
  }
}

/** Returns the pause before the same call is repeated, or null if it is not worth repeating. */
function pauseAfter(refusal: Refusal, turn: Turn): Paused | null {
  const isTransient = refusal.kind === 'rate_limited' || (refusal.kind === 'error' && refusal.transient)
  if (!isTransient) return null
  const ms = (refusal.kind === 'rate_limited' ? refusal.afterMs : undefined) ?? backoff(turn.tries)
  // A call that hung is retried once, not three times, because it has cost the most.
  turn.tries += refusal.kind === 'error' && refusal.timeout ? MAX_TRIES : 1
  return turn.tries <= MAX_TRIES && ms <= LONGEST_PAUSE_MS ? { kind: 'paused', ms } : null
}

function isRefusal<Result>(found: Found<Result>): found is Refusal {
  return found.kind !== 'hit' && found.kind !== 'pending' && found.kind !== 'paused'
}
