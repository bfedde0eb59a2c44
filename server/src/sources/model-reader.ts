import { setTimeout as sleep } from 'node:timers/promises'
import { askChecked } from '../catalog/models/ask-model.ts'
import type { Model } from '../catalog/models/models.ts'
import type { Outcome } from '../catalog/outcome.ts'
import { type Refusal, refusal } from '../catalog/provider/reply.ts'
import type { ReadByModel } from './pull.ts'
import { SHORT_WAIT_MS, type SourceServices } from './reach.ts'

/** Returns a reader that waits and tries once more if the model is busy for a short time. */
export function createModelReader(model: Model, services: SourceServices): ReadByModel {
  return async (question, schema) => {
    const ask = (state: unknown) => askChecked({ model, ...question }, schema, { ...services, state })
    let asked = await ask(undefined)
    if (!asked.ok && asked.outcome.kind === 'wait' && asked.outcome.ms <= SHORT_WAIT_MS) {
      const { ms, state } = asked.outcome
      await sleep(ms, undefined, { signal: services.signal }).catch(() => undefined)
      asked = await ask(state)
    }
    return asked.ok ? { value: asked.value } : toRefusal(asked.outcome)
  }
}

/** Turns the outcome of a failed model call into a refusal, as providers of sources return it. */
function toRefusal(outcome: Outcome<never>): Refusal {
  switch (outcome.kind) {
    case 'wait':
      return { kind: 'rate_limited', message: 'the model is busy', afterMs: outcome.ms }
    case 'retry':
      return outcome.afterMs === undefined
        ? { kind: 'error', message: outcome.message, transient: true }
        : { kind: 'rate_limited', message: outcome.message, afterMs: outcome.afterMs }
    case 'unrunnable':
      return refusal('unconfigured', outcome.message)
    case 'out_of_credits':
      return refusal('no_credits', outcome.message)
    case 'failed':
      return refusal('error', outcome.message)
    case 'done':
    case 'no_match':
    case 'condition_not_met':
      throw new Error(`a model call ended unexpectedly with ${outcome.kind}`)
  }
}
