import type { ProviderKey } from '../../provider/access.ts'
import type { Adapter, Ask, Found } from '../../provider/adapter.ts'
import type { AskContext } from '../../provider/context.ts'
import type { Reply } from '../provider-double.ts'

/** One provider's case in the contract table. Replies are in the provider's own wire format. */
export type Case = {
  provider: string
  adapter: object
  run(key: ProviderKey, poll: unknown, context: AskContext): Promise<Found<unknown>>
  fields?: Record<string, string>
} & Expectations<unknown>

type Question = { at: string; headers?: object; query?: object; json?: object }

export type Expectations<Result> = {
  /** The expected first request and the next one: method and path, and parts of headers, query and JSON body. */
  asks: Question & { next?: Question }
  /** The replies until there is an answer, and the answer. */
  hit: { replies: Reply[]; value: Partial<Result>; verified?: boolean }
  /** Replies without a usable answer, and the result of each: a miss unless `found` is set. */
  nothing: { replies: Reply[]; found?: object }[]
  badKey?: Reply
  quota?: Reply
  slowDown?: Reply
}

export function caseOf<Input, Result>(
  adapter: Adapter<Input, Result>,
  input: Input,
  expected: Expectations<Result>,
  fields?: Record<string, string>,
): Case {
  return {
    provider: adapter.provider.id,
    adapter,
    run(key, poll, context) {
      const ask: Ask = async (request, schema, read) => {
        const reply = await adapter.provider.request(context, key, request, schema)
        return reply.ok ? read(reply.body) : reply.refusal
      }
      return adapter.run(ask, input, { poll, context })
    },
    ...expected,
    ...(fields === undefined ? {} : { fields }),
  }
}
