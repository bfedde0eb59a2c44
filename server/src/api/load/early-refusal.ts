import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestId } from '../http/request-log.ts'
import type { Api } from '../services.ts'
import { OverloadError, retrySeconds } from './overload.ts'

const BODY = (() => {
  const { status, code, message } = new OverloadError()
  return JSON.stringify({ status, error: code, message })
})()
const LENGTH = String(Buffer.byteLength(BODY))

/**
 * Refuses requests before any work is done for them: no route is looked up and no body is read. A flood must
 * not use up the capacity needed for accepted requests. Only API requests are refused, so /healthz always
 * answers.
 */
export function refuseEarly(app: Api, isRefused: (request: IncomingMessage) => boolean): void {
  const handlers = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/api/') === true && isRefused(request)) return refuse(request, response)
    for (const handle of handlers) Reflect.apply(handle, app.server, [request, response])
  })
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  // The headers are passed as a list, which Node writes without further work.
  response.writeHead(503, [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    LENGTH,
    'retry-after',
    String(retrySeconds()),
    'x-request-id',
    requestId(request),
    'x-content-type-options',
    'nosniff',
  ])
  response.end(BODY)
}
