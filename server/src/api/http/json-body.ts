import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../lib/errors.ts'
import { measureJson } from '../../lib/json/json-scan.ts'
import { parseWithNumberTexts, withPlainNumbers } from '../../lib/json/lossless-json.ts'
import { parseInTurns } from '../../lib/json/parse-in-turns.ts'
import { resumeWork } from '../../lib/timing/thread-watch.ts'
import { findBodyLimits } from './body-classes.ts'
import { readBodyText } from './body-text.ts'

const MAX_DEPTH = 64
/** The size, in characters, above which a body is parsed in slices so that other work continues. */
const MAX_AT_ONCE = 256 * 1024

/** Parses a JSON body. Any error is a 400 for the field `body`. An empty body counts as no body. */
export async function parseJsonBody(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  // An unknown path is refused at once, without reading the body.
  if (request.is404) return undefined
  const text = await readBodyText(payload, findBodyLimits(request).bytes)
  resumeWork()
  request.bodyText = text
  if (text.trim() === '') return undefined
  const { deepest, values } = measureJson(text)
  const { values: maxValues } = findBodyLimits(request)
  if (deepest > MAX_DEPTH) throw invalid('body', `must not be nested deeper than ${MAX_DEPTH} levels`)
  if (values > maxValues) {
    throw invalid('body', `must hold at most ${maxValues.toLocaleString('en-US')} values`)
  }
  const { numberTexts = [] } = request.routeOptions.config
  const kept = numberTexts === 'all' ? numberTexts : numberTexts.filter((name) => text.includes(`"${name}"`))
  const parse = kept.length > 0 ? parseWithNumberTexts : parsePlain
  try {
    const body = text.length <= MAX_AT_ONCE ? parse(text) : await parseInTurns(text, parse)
    return kept.length === 0 || kept === 'all' ? body : withPlainNumbers(body, kept)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw invalid('body', `must be valid JSON: ${cause.message}`)
  }
}

const parsePlain = (text: string): unknown => JSON.parse(text)

/** Returns true if the headers announce no body. */
export function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/**
 * Handles a body of another type: an empty body counts as none (D69), others are refused at their first byte,
 * unread.
 */
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
    `Send JSON with content-type: application/json (the request had: ${given})`,
  )
}
