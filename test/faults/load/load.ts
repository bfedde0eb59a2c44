import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A request under `/api/v1`, or to a webhook. */
export type Wanted = { path: string; body?: object }

/**
 * The outcome of a request: a status, or the reason why there is none. `sentAt` is the time at which the
 * whole request was passed to an open connection.
 */
export type Exchange = {
  wanted: Wanted
  askedAt: number
  sentAt: number | null
  endedAt: number
  status: number | null
  retryAfter: string | null
  failure: string | null
  /** The beginning of the body of a response other than 2xx. */
  refusal?: string
}

export type Crowd = { exchanges: readonly Exchange[]; stop(): Promise<void> }

/** The time after which an unanswered request counts as hung. */
export const HANG_SECONDS = 20
const PAUSE_AFTER_FAILURE_MS = 100
const MAX_REFUSAL = 400

export const isGood = ({ status }: Exchange): boolean => status !== null && status < 300
export const hung = ({ failure }: Exchange): boolean => failure === 'ABORT_ERR'

/**
 * Starts callers that each make one request after the other, on a kept connection, to the current `origin`.
 */
export function startCallers(options: {
  count: number
  key: string
  origin: () => string
  wanted: (n: number) => Wanted
  pauseMs?: number
  hangSeconds?: number
}): Crowd {
  const { count, key, origin, wanted, pauseMs = 0, hangSeconds = HANG_SECONDS } = options
  const exchanges: Exchange[] = []
  const over = new AbortController()

  async function callOn(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = index; !over.signal.aborted; n += 1) {
      const exchange = await send({ agent, key, hangSeconds }, origin(), wanted(n))
      exchanges.push({ ...exchange, endedAt: Date.now() })
      await sleep(exchange.failure === null ? pauseMs : PAUSE_AFTER_FAILURE_MS)
    }
    agent.destroy()
  }

  const calling = Array.from({ length: count }, (_, index) => callOn(index))
  return {
    exchanges,
    async stop() {
      over.abort()
      await Promise.all(calling)
    },
  }
}

type Caller = { agent: Agent; key: string; hangSeconds: number }

function send({ agent, key, hangSeconds }: Caller, origin: string, wanted: Wanted): Promise<Exchange> {
  const exchange: Exchange = {
    wanted,
    askedAt: Date.now(),
    sentAt: null,
    endedAt: 0,
    status: null,
    retryAfter: null,
    failure: null,
  }
  const { path, body } = wanted
  return new Promise((resolve) => {
    const fail = (cause: Error) => {
      exchange.failure = 'code' in cause ? String(cause.code) : cause.message
      resolve(exchange)
    }
    const sent = request(`${origin}${path.startsWith('/hooks/') ? '' : '/api/v1'}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(hangSeconds * 1000),
    })
    sent.on('error', fail)
    sent.on('finish', () => (exchange.sentAt = Date.now()))
    sent.on('response', (response) => {
      response.on('error', fail).on('end', () => {
        if (!response.complete) return fail(new Error('the answer ended early'))
        exchange.status = response.statusCode ?? null
        exchange.retryAfter = response.headers['retry-after'] ?? null
        resolve(exchange)
      })
      if ((response.statusCode ?? 0) < 300) response.resume()
      else
        response
          .setEncoding('utf8')
          .on(
            'data',
            (text: string) => (exchange.refusal = `${exchange.refusal ?? ''}${text}`.slice(0, MAX_REFUSAL)),
          )
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
