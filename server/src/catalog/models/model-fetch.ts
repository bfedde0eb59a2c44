import type { Egress, EgressFailure } from '../../lib/egress/egress.ts'
import type { EgressRequest } from '../../lib/egress/request.ts'
import { cutCredentials, toCredentials } from '../http/secrets.ts'
import type { ModelParameters } from './parameters.ts'

/** Thrown if a call got no reply. Carries the failure of egress through the client library. */
export class ModelUnreached extends Error {
  override name = 'ModelUnreached'
  readonly failure: EgressFailure

  constructor(failure: EgressFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** The size of the largest reply that is read. A model's answer is text, and no text is larger. */
export const MAX_BYTES = 4_000_000
/** The headers that describe the encoded body. The body is already decoded here. */
const TRANSFER_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'transfer-encoding',
])

/** The client and the parameters by which a model is called. */
type Calling = { egress: Egress; parameters: ModelParameters }

/** Sends a body as the model accepts it, and again without a parameter that the server refuses. */
export async function fetchModel(
  { egress, parameters }: Calling,
  request: Omit<EgressRequest, 'body'>,
  body: object,
): ReturnType<Egress['fetch']> {
  for (;;) {
    const sent = parameters.fit(body)
    const answer = await egress.fetch({ ...request, body: JSON.stringify(sent) })
    if (!answer.ok || !parameters.learn(sent, answer)) return answer
  }
}

/**
 * Creates a `fetch` for client libraries that uses the guarded client, so that they can only reach what egress allows.
 */
export function createModelFetch(
  calling: Calling,
  timeoutMs: number,
  apiKey?: string,
): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body, signal } = init
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new Error('the body of a call to a model must be text')
    const request = {
      url: input instanceof Request ? input.url : String(input),
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      timeoutMs,
      maxBytes: MAX_BYTES,
      // A redirect is not followed: it could send the credentials to another server.
      redirects: 'return' as const,
      ...(signal ? { signal } : {}),
    }
    const answer =
      typeof body === 'string'
        ? await fetchModel(calling, request, JSON.parse(body) as object)
        : await calling.egress.fetch(request)
    if (!answer.ok) throw new ModelUnreached(answer)
    const reply = await cutCredentials(answer, apiKey === undefined ? [] : toCredentials([apiKey]))
    const headers = Object.entries(reply.headers).flatMap(([name, values]) =>
      TRANSFER_HEADERS.has(name) ? [] : values.map((value): [string, string] => [name, value]),
    )
    // A Response accepts no other statuses, and no body with these three.
    const status = reply.status >= 200 && reply.status <= 599 ? reply.status : 502
    const empty = status === 204 || status === 205 || status === 304
    return new Response(empty ? null : Buffer.from(reply.body), { status, headers })
  }
}
