import { Call, type WithResponse } from './call.ts'
import { APIError, ConnectionError, LoamError, TimeoutError, toApiError } from './errors.ts'
import { parseJson, writeJson } from './json.ts'
import type { CallOptions, Settings } from './options.ts'
import { MAX_RETRY_AFTER_SECONDS, abortError, backoff, sleep, throwIfAborted } from './pauses.ts'

/** The fields of a query; lists are joined by commas. */
export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

/** A request below `/api/v1`, before the settings of the client are applied. */
export type Request = {
  method: string
  path: string
  query?: Query | undefined
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  raw?: RequestInit['body']
  /** Set for a POST that changes nothing: it needs no Idempotency-Key. */
  reads?: boolean
  /** Milliseconds, where an endpoint takes longer than others. */
  timeout?: number
  options?: CallOptions | undefined
}

/** The codes of failures that the same call would meet again, although others of their status pass. */
const FINAL = new Set([
  'AGENT_EXECUTION_FAILED',
  'AGENT_TIMEOUT',
  'ROW_LIMIT_REACHED',
  'STORAGE_LIMIT_REACHED',
])

const WITH_KEY = new Set(['POST', 'PATCH', 'DELETE'])

/** An answer whose body has arrived. */
type Answer = { response: Response; body: unknown }

type Attempt = { url: string; init: RequestInit; timeout: number; signal: AbortSignal | undefined }

/** Sends requests with the key, limits their time, and retries those that may pass the next time. */
export class Transport {
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Sends a request. Its result is the whole JSON of the answer. */
  send(request: Request): Call<unknown> {
    return Call.of(this.#retry(request, (attempt) => this.#exchange(attempt)))
  }

  /** Opens a stream. Its result is the answer with a body that is still to be read. */
  async open(request: Request): Promise<Response> {
    const { response } = await this.#retry(request, (attempt) => this.#openBody(attempt))
    return response
  }

  /** Fetches an address that carries its own permission, without the key. */
  async download(url: string, options?: CallOptions): Promise<Response> {
    const request = { method: 'GET', path: url, options }
    const { response } = await this.#retry(request, (attempt) =>
      this.#openBody({ ...attempt, url, init: { method: 'GET' } }),
    )
    return response
  }

  async #retry(
    request: Request,
    attemptOnce: (attempt: Attempt) => Promise<Answer>,
  ): Promise<WithResponse<unknown>> {
    const { method, path, options = {} } = request
    const { signal } = options
    const { logger } = this.#settings
    const retries = isStream(request.raw) ? 0 : (options.maxRetries ?? this.#settings.maxRetries)
    const attempt = this.#prepare(request)
    for (let n = 0; ; n += 1) {
      throwIfAborted(signal)
      const started = Date.now()
      const facts = { method, path, attempt: n + 1 }
      const result = await attemptOnce(attempt).catch((cause: unknown) => toLoamError(cause))
      const duration_ms = Date.now() - started
      if (!(result instanceof LoamError)) {
        const { response, body } = result
        const request_id = response.headers.get('x-request-id')
        logger.debug?.(`${method} ${path}`, { ...facts, status: response.status, request_id, duration_ms })
        return { data: body, response, request_id }
      }
      const error = result.message
      const status = result instanceof APIError ? { status: result.status, request_id: result.requestId } : {}
      logger.debug?.(`${method} ${path}`, { ...facts, ...status, duration_ms, error })
      const pause_ms = n < retries ? pauseBeforeRetry(result, n) : null
      if (pause_ms === null) throw result
      logger.warn?.(`${method} ${path} is tried again`, { ...facts, ...status, error, pause_ms })
      await sleep(pause_ms, signal)
    }
  }

  #prepare({ method, path, query, body, raw, reads, timeout, options = {} }: Request): Attempt {
    const { base, apiKey, headers, timeout: usual } = this.#settings
    const sent = new Headers({ accept: 'application/json', ...headers, ...options.headers })
    sent.set('authorization', `Bearer ${apiKey}`)
    if (body !== undefined) sent.set('content-type', 'application/json')
    else if (raw !== undefined) sent.set('content-type', 'application/octet-stream')
    if (WITH_KEY.has(method) && reads !== true) {
      sent.set('idempotency-key', options.idempotencyKey ?? makeKey())
    }
    const init: RequestInit & { duplex?: 'half' } = { method, headers: sent }
    if (body !== undefined) init.body = writeJson(body)
    else if (raw !== undefined && raw !== null) init.body = raw
    if (isStream(raw)) init.duplex = 'half'
    return {
      url: `${base}${path}${writeQuery(query)}`,
      init,
      timeout: options.timeout ?? Math.max(timeout ?? 0, usual),
      signal: options.signal,
    }
  }

  #exchange(attempt: Attempt): Promise<Answer> {
    return this.#limited(attempt, async (response) => {
      const text = await response.text()
      if (!response.ok) throw toApiError(response, parseOrUndefined(text))
      if (response.status === 204) return { response, body: undefined }
      try {
        return { response, body: parseJson(text, this.#settings.lossless) }
      } catch {
        throw new ConnectionError(`${addressOf(attempt.url)} sent an answer that is cut short or no JSON`)
      }
    })
  }

  #openBody(attempt: Attempt): Promise<Answer> {
    return this.#limited(attempt, async (response, keepOpen) => {
      if (!response.ok) throw toApiError(response, parseOrUndefined(await response.text()))
      keepOpen()
      return { response, body: undefined }
    })
  }

  /** Sends one attempt, and reads its answer within the same time limit. */
  async #limited(
    { url, init, timeout, signal }: Attempt,
    read: (response: Response, keepOpen: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    const controller = new AbortController()
    let isLate = false
    let isOpen = false
    const stop = () => controller.abort()
    const timer = setTimeout(() => {
      isLate = true
      controller.abort()
    }, timeout)
    signal?.addEventListener('abort', stop, { once: true })
    const ended = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(new Error('ended')), { once: true })
    })
    // A fetch that does not know signals is left behind when the time is over.
    const exchange = async () =>
      read(await this.#settings.fetch(url, { ...init, signal: controller.signal }), () => (isOpen = true))
    try {
      return await Promise.race([exchange(), ended])
    } catch (cause) {
      if (signal?.aborted === true) throw abortError()
      if (isLate) throw new TimeoutError(`${addressOf(url)} did not answer completely within ${timeout} ms`)
      if (cause instanceof LoamError) throw cause
      throw new ConnectionError(`${addressOf(url)} cannot be reached: ${this.#explain(cause)}`)
    } finally {
      clearTimeout(timer)
      if (!isOpen) signal?.removeEventListener('abort', stop)
    }
  }

  /** Returns why a connection failed. The key is removed: a custom fetch may write its headers there. */
  #explain(cause: unknown): string {
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
    const code = (inner as { code?: unknown } | null)?.code
    const text = inner instanceof Error ? inner.message : String(inner)
    const shown = text !== '' ? text : typeof code === 'string' ? code : 'the connection failed'
    return shown.replaceAll(this.#settings.apiKey, '[key]')
  }
}

/** Returns the milliseconds until the next attempt, or null if the failure is final. */
function pauseBeforeRetry(error: LoamError, retry: number): number | null {
  if (error instanceof ConnectionError) return backoff(retry)
  if (!(error instanceof APIError) || FINAL.has(error.code)) return null
  const { status, retryAfter } = error
  const mayPass = status === 408 || status === 429 || status >= 500 || (status === 409 && retryAfter !== null)
  if (!mayPass) return null
  if (retryAfter === null) return backoff(retry)
  return retryAfter > MAX_RETRY_AFTER_SECONDS ? null : retryAfter * 1000
}

const toLoamError = (cause: unknown) => (cause instanceof LoamError ? cause : new LoamError(String(cause)))

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const addressOf = (url: string) => new URL(url).origin

const isStream = (raw: Request['raw']): boolean => raw instanceof ReadableStream

function writeQuery(query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** Returns a random key. `crypto.randomUUID` is missing on pages without TLS. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `sdk-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
