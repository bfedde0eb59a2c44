import { backoff } from '../../lib/timing/backoff.ts'
import type { WaterfallStep } from '../fields/waterfall-field.ts'
import { createKey, type ProviderKey } from './access.ts'
import type { Adapter, AskContext, Found } from './adapter.ts'

/** How far it is with the provider at hand. Kept as JSON while the row is parked. */
export type Turn = { tries: number; polls: number; ms: number; slot?: number; poll?: unknown }

export const startTurn = (): Turn => ({ tries: 0, polls: 0, ms: 0 })

export type Called<Result> =
  | Exclude<Found<Result>, { kind: 'pending' }>
  | { kind: 'pause'; ms: number }
  /** It was not asked, because it failed too often. */
  | { kind: 'broken'; message: string; afterMs: number }

export const MAX_TRIES = 3
const MAX_POLLS = 40
const LONGEST_PAUSE_MS = 120_000

/** The key of a step, or why there is none (D66). */
export async function chooseKey<Input, Result>(
  { provider }: Adapter<Input, Result>,
  { own_key }: WaterfallStep,
  context: AskContext,
): Promise<ProviderKey | string> {
  if (own_key) {
    const own = await context.keys.own(provider.id)
    return own ?? `set to your own key, but ${provider.name} is not connected`
  }
  if (provider.requiresOwnKey) return `${provider.name} runs on your own key only`
  if (!provider.isPlaced(context)) return `LOAM_PROVIDER_URL_${provider.id.toUpperCase()} is not set`
  if (provider.auth.kind === 'none') return createKey('platform', {})
  return context.keys.platform(provider.id) ?? 'there is no key for it'
}

/** One call, within the limits. What may pass is a pause, as often as that is worth it (D24). */
export async function callProvider<Input, Result>(
  adapter: Adapter<Input, Result>,
  input: Input,
  key: ProviderKey,
  turn: Turn,
  context: AskContext,
): Promise<Called<Result>> {
  const { provider } = adapter
  const gate = await context.gate.enter(`${provider.id} ${key.id}`, provider.limits(context), {
    signal: context.signal,
    slot: turn.slot,
  })
  delete turn.slot
  if (gate.kind === 'broken') {
    return {
      kind: 'broken',
      message: 'it fails time after time and is left alone for a while',
      afterMs: gate.afterMs,
    }
  }
  if (gate.kind === 'busy') {
    if (gate.slot !== undefined) turn.slot = gate.slot
    return { kind: 'pause', ms: gate.afterMs }
  }
  const started = performance.now()
  let found: Found<Result> | undefined
  try {
    found = await adapter.run(input, key, turn.poll, context)
  } finally {
    turn.ms += Math.round(performance.now() - started)
    const failed = found === undefined || (found.kind === 'error' && found.transient)
    gate.leave(failed && !provider.isBuiltIn ? 'broken' : 'worked')
  }
  if (found.kind === 'pending') {
    turn.poll = found.poll
    turn.polls += 1
    if (turn.polls <= MAX_POLLS) return { kind: 'pause', ms: found.afterMs }
    return {
      kind: 'error',
      message: `no result, although it was looked for ${MAX_POLLS} times`,
      transient: false,
    }
  }
  if (found.kind === 'rate_limited' || (found.kind === 'error' && found.transient)) {
    const ms = (found.kind === 'rate_limited' ? found.afterMs : undefined) ?? backoff(turn.tries)
    // A call that hung is tried once more, not three times: it has cost the most.
    turn.tries += found.kind === 'error' && found.timeout ? MAX_TRIES : 1
    if (turn.tries <= MAX_TRIES && ms <= LONGEST_PAUSE_MS) return { kind: 'pause', ms }
  }
  return found
}
