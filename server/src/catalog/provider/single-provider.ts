import type { z } from 'zod'
import { type Outcome, type Provenance, retry, unrunnable, wait } from '../outcome.ts'
import type { CallLimits, ProviderKey } from './access.ts'
import type { CellContext } from './context.ts'
import type { Provider, ProviderRequest } from './provider.ts'
import { describeUnconnected } from './remedy.ts'
import type { Refusal } from './reply.ts'

export type ProviderCallResult<Body> =
  | { ok: true; body: Body; key: ProviderKey; provenance: Provenance[] }
  /** The outcome that the action must return, and the provider's refusal if the provider was called. */
  | { ok: false; outcome: Outcome<never>; refusal?: Refusal }

type Call<Body> = {
  provider: Provider
  /** The name of a connection. Without it, the only connection or the installation's key is used (D66). */
  connection: string | undefined
  request: ProviderRequest
  schema: z.ZodType<Body>
  /** Set if the call may take effect without an answer: it is then not repeated after a timeout. */
  once?: true
  /** Limits of this kind of request, if the provider counts it apart from others. */
  apart?: { name: string; limits: CallLimits }
}

/** Makes one call for an action that has only one provider. */
export async function askProvider<Body>(
  { provider, connection, request, schema, once, apart }: Call<Body>,
  context: CellContext,
): Promise<ProviderCallResult<Body>> {
  const { id, name } = provider
  const own = await context.keys.own(id, connection)
  const key = own ?? (connection === undefined && !provider.requiresOwnKey ? context.keys.platform(id) : null)
  if (key === null) return { ok: false, outcome: unrunnable(describeUnconnected(provider, connection)) }
  const bucket = apart === undefined ? `${id} ${key.id}` : `${id} ${apart.name} ${key.id}`
  const limits = apart?.limits ?? provider.limits(context)
  const gate = await context.gate.enter(bucket, limits, context, readSlot(context.state))
  if (gate.kind === 'busy') return { ok: false, outcome: wait(gate.afterMs, { slot: gate.slot }) }
  if (gate.kind === 'broken') {
    return {
      ok: false,
      outcome: retry(`${name} keeps failing and is not called for a while`, gate.afterMs),
    }
  }
  const started = performance.now()
  let worked = false
  try {
    const answer = await provider.request(context, key, request, schema)
    worked = answer.ok || answer.refusal.kind !== 'error' || !answer.refusal.transient
    const ms = Math.round(performance.now() - started)
    if (!answer.ok) {
      const { refusal } = answer
      return { ok: false, outcome: outcomeOfRefusal(refusal, provider, ms, once), refusal }
    }
    return { ok: true, body: answer.body, key, provenance: [{ provider: id, status: 'hit', ms, credits: 0 }] }
  } finally {
    gate.leave(worked ? 'worked' : 'broken')
  }
}

function outcomeOfRefusal(refusal: Refusal, { id, name }: Provider, ms: number, once?: true): Outcome<never> {
  const message = `${name}: ${refusal.kind === 'miss' ? 'there is nothing of that kind' : refusal.message}`
  if (refusal.kind === 'rate_limited') return retry(message, refusal.afterMs)
  const open = once === true && refusal.kind === 'error' && refusal.timeout === true
  if (refusal.kind === 'error' && refusal.transient && !open) return retry(message)
  return {
    kind: 'failed',
    message,
    provenance: [{ provider: id, status: refusal.kind, ms, credits: 0, message }],
  }
}

/** Returns the place in the queue that an earlier try was given. */
export function readSlot(state: unknown): number | undefined {
  const slot = typeof state === 'object' && state !== null && 'slot' in state ? state.slot : undefined
  return typeof slot === 'number' ? slot : undefined
}
