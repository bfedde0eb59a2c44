import type { Egress, EgressFailure } from '../../lib/egress/egress.ts'
import { cutCredentials, toCredentials } from '../http/secrets.ts'

/** A call that got no answer; carries what became of it through the client library. */
export class ModelUnreached extends Error {
  override name = 'ModelUnreached'
  readonly failure: EgressFailure

  constructor(failure: EgressFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** A model's answer is text; whatever is larger is not one. */
export const MAX_BYTES = 4_000_000
/** The body is decoded when it arrives here. */
const OF_THE_WIRE: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding'])

/** `fetch` for client libraries, over the guarded client: they can reach nothing that it refuses. */
export function createModelFetch(
  egress: Egress,
  timeoutMs: number,
  apiKey?: string,
): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body, signal } = init
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new Error('the body of a call to a model must be text')
    const answer = await egress.fetch({
      url: input instanceof Request ? input.url : String(input),
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === 'string' ? { body } : {}),
      timeoutMs,
      maxBytes: MAX_BYTES,
      // A server that answers calls with credentials by sending them elsewhere is not followed.
      redirects: 'return',
      ...(signal ? { signal } : {}),
    })
    if (!answer.ok) throw new ModelUnreached(answer)
    const reply = cutCredentials(answer, apiKey === undefined ? [] : toCredentials([apiKey]))
    const headers = Object.entries(reply.headers).flatMap(([name, values]) =>
      OF_THE_WIRE.has(name) ? [] : values.map((value): [string, string] => [name, value]),
    )
    // A Response has no room for other statuses, and no body beside these.
    const status = reply.status >= 200 && reply.status <= 599 ? reply.status : 502
    const empty = status === 204 || status === 205 || status === 304
    return new Response(empty ? null : Buffer.from(reply.body), { status, headers })
  }
}
