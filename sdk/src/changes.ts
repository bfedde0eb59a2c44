import { APIError, ConnectionError, LoamError } from './errors.ts'
import { readEvents } from './events.ts'
import type { CallOptions } from './options.ts'
import { backoff, sleep, throwIfAborted } from './pauses.ts'
import type { Transport } from './transport.ts'
import type { SheetChange } from './wire.ts'

/** The server writes every 15 s; a connection that is silent for three times as long is gone. */
const SILENCE_MS = 45_000
const RECONNECT_MS = 1000

/**
 * Follows the change events of a sheet. A connection that ends is opened again with `Last-Event-ID`; the stream ends with
 * its signal, or when the server refuses it.
 */
export async function* followChanges(
  transport: Transport,
  path: string,
  options: CallOptions = {},
): AsyncGenerator<SheetChange> {
  let lastId: string | null = null
  let pause = RECONNECT_MS
  let failures = 0
  for (;;) {
    throwIfAborted(options.signal)
    const connection = new AbortController()
    const stop = () => connection.abort()
    options.signal?.addEventListener('abort', stop, { once: true })
    let timer = setTimeout(stop, SILENCE_MS)
    const onAlive = () => {
      clearTimeout(timer)
      timer = setTimeout(stop, SILENCE_MS)
    }
    try {
      const resumed: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId }
      const headers = { accept: 'text/event-stream', ...options.headers, ...resumed }
      const request = { method: 'GET', path, options: { ...options, headers, signal: connection.signal } }
      const { body } = await transport.open(request)
      if (body === null) throw new ConnectionError('The stream of changes has no body')
      for await (const { id, event, data } of readEvents(body, { onRetry: (ms) => (pause = ms), onAlive })) {
        failures = 0
        lastId = id ?? lastId
        if (event === 'change') yield JSON.parse(data) as SheetChange
      }
    } catch (cause) {
      throwIfAborted(options.signal)
      failures += 1
      if (isFinal(cause, failures, options.maxRetries)) throw cause
    } finally {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', stop)
      connection.abort()
    }
    await sleep(failures === 0 ? pause : Math.max(pause, backoff(failures)), options.signal)
  }
}

/** Connections in a row that may fail without an event between them. Each has the retries of a call. */
const MAX_FAILURES = 5

function isFinal(cause: unknown, failures: number, maxRetries = MAX_FAILURES): boolean {
  if (failures > maxRetries) return true
  if (cause instanceof APIError) return cause.status < 500 && cause.status !== 408 && cause.status !== 429
  // A cut connection is no error of the SDK; an event that is no JSON is cut as well.
  return cause instanceof LoamError && !(cause instanceof ConnectionError) && cause.name !== 'AbortError'
}
