import type { EgressResponse } from '../../lib/egress/response.ts'
import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../values/json-text.ts'

/** The names that servers have for the limit of output tokens. */
export type LimitName = 'max_tokens' | 'max_completion_tokens'

/** The parameters that a model accepts, learned from the refusals of its server. */
export type ModelParameters = {
  /** Returns the body as this model accepts it. */
  fit(body: object): object
  /** Returns true if the reply refuses a parameter of the sent body that the next call will not have. */
  learn(sent: object, reply: Pick<EgressResponse, 'status' | 'excerpt'>): boolean
}

const REFUSALS: ReadonlySet<number> = new Set([400, 422])
/** The words of a server that does not have a parameter. A value out of range is refused in other words. */
const NOT_HAD =
  /unsupported|not support|deprecated|unknown|unrecogni[sz]ed|unexpected|unavailable|not (?:permitted|allowed)|only\b.{0,40}\b(?:supported|allowed)/i
const LONGEST_REFUSAL = 8 * 1024

/**
 * Creates the parameters of a model. OpenAI refuses `max_tokens` for its current models and every `temperature` but 1,
 * and other servers do not know `max_completion_tokens`. The preferred name comes first, the other one after a refusal.
 */
export function createParameters(limitNames: readonly LimitName[]): ModelParameters {
  const refused = new Set<string>()
  return {
    fit(body) {
      const { max_tokens, max_completion_tokens, temperature, ...rest } = body as Record<string, unknown>
      const limit = max_completion_tokens ?? max_tokens
      const name = limitNames.find((one) => !refused.has(one))
      return {
        ...rest,
        ...(limit === undefined || name === undefined ? {} : { [name]: limit }),
        ...(temperature === undefined || refused.has('temperature') ? {} : { temperature }),
      }
    },
    learn(sent, reply) {
      if (!REFUSALS.has(reply.status)) return false
      const refusal = reply.excerpt(LONGEST_REFUSAL)
      if (!NOT_HAD.test(refusal)) return false
      const named = [...limitNames, 'temperature'].filter(
        (name) => Object.hasOwn(sent, name) && namesParameter(refusal, name),
      )
      for (const name of named) refused.add(name)
      return named.length > 0
    },
  }
}

/** Anthropic requires `max_tokens` in every call. */
export const ANTHROPIC_LIMITS: readonly LimitName[] = ['max_tokens']

function namesParameter(refusal: string, name: string): boolean {
  const read = readJson(refusal)
  const error = read.ok && isObject(read.value) ? read.value['error'] : undefined
  const param = isObject(error) ? error['param'] : undefined
  if (typeof param === 'string' && param !== '') return param === name
  return new Set(refusal.split(/\W+/)).has(name)
}
