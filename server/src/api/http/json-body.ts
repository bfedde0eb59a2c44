import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../lib/errors.ts'
import { parseWithNumberTexts } from '../../lib/json/lossless-json.ts'

export const BODY_LIMIT_BYTES = 32 * 1024 * 1024
const MAX_DEPTH = 64

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON body; whatever is wrong with it is a 400 on the field `body`. An empty body is no body. */
export function parseJsonBody(request: FastifyRequest, bytes: Buffer): unknown {
  const text = decode(bytes)
  request.bodyText = text
  if (text.trim() === '') return undefined
  if (depthOf(text) > MAX_DEPTH) throw invalid('body', `must not be nested deeper than ${MAX_DEPTH} levels`)
  try {
    return request.routeOptions.config.numberTexts ? parseWithNumberTexts(text) : JSON.parse(text)
  } catch (cause) {
    throw invalid(
      'body',
      `must be valid JSON: ${cause instanceof SyntaxError ? cause.message : String(cause)}`,
    )
  }
}

/** Whether the headers alone say that no byte of a body follows. */
export function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** A body of another type: nothing when it turns out empty (D69), else refused at its first byte, unread. */
export function refuseBytes(request: FastifyRequest, payload: IncomingMessage): Promise<undefined> {
  return new Promise((resolve, reject) => {
    if (request.is404) return resolve(undefined)
    payload.once('end', () => resolve(undefined))
    payload.once('error', reject)
    payload.once('data', () => {
      payload.pause()
      reject(refuseMediaType(request))
    })
  })
}

export function refuseMediaType(request: FastifyRequest): AppError {
  const given = request.headers['content-type'] ?? 'none'
  return new AppError(
    'Unsupported Media Type',
    `Send JSON with content-type: application/json (this was ${given})`,
  )
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid('body', 'must be UTF-8')
  }
}

const QUOTE = 34
const BACKSLASH = 92

/** Deepest nesting of arrays and objects, without parsing: brackets inside strings do not count. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at += 1
      while (at < text.length && text.charCodeAt(at) !== QUOTE)
        at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
    } else if (code === 91 || code === 123) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (code === 93 || code === 125) {
      depth -= 1
    }
  }
  return deepest
}
