import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../lib/errors.ts'
import { type JsonExtent, measureJson } from '../../lib/json/json-scan.ts'
import { parseWithNumberTexts, withPlainNumbers } from '../../lib/json/lossless-json.ts'
import { parseInTurns, TooManyKeys } from '../../lib/json/parse-in-turns.ts'
import { resumeWork } from '../../lib/timing/thread-watch.ts'
import { pause } from '../../lib/timing/turns.ts'

const KIB = 1024

/**
 * The size limits of bodies, by the purpose of a route. Each route names one; larger bodies are refused
 * before they are parsed.
 */
export const BODY_CLASSES = {
  /** A page view. */
  beacon: { bytes: 8 * KIB, values: 100 },
  /** A name, a state, a few ids. */
  control: { bytes: 64 * KIB, values: 10_000 },
  /** A configuration, a selection of rows, a prompt. */
  document: { bytes: 1024 * KIB, values: 100_000 },
  /** 256 KB of text (part 8), of which JSON may escape every character. */
  knowledge: { bytes: 1600 * KIB, values: 100 },
  /** Rows, in any format. */
  rows: { bytes: 16 * KIB * KIB, values: 1_000_000 },
  /** A file, which is streamed. Its limit is the organisation's remaining storage. */
  file: { bytes: Number.MAX_SAFE_INTEGER, values: 0 },
} as const
export type BodyClass = keyof typeof BODY_CLASSES

/** The class of routes that declare none, as an unknown path. */
export const DEFAULT_CLASS: BodyClass = 'control'

export function findBodyLimits({ routeOptions }: FastifyRequest) {
  return BODY_CLASSES[routeOptions.config.body ?? DEFAULT_CLASS]
}

const MAX_DEPTH = 64
/** The limit on the keys of one object: V8 takes long to list more, again and again. */
const MAX_KEYS = 50_000
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
  const { numberTexts = [] } = request.routeOptions.config
  const kept = numberTexts === 'all' ? numberTexts : numberTexts.filter((name) => text.includes(`"${name}"`))
  const parse = kept.length > 0 ? parseWithNumberTexts : parsePlain
  const check = (extent: JsonExtent) => checkExtent(extent, findBodyLimits(request).values)
  try {
    const body = await (text.length <= MAX_AT_ONCE
      ? parseAtOnce(text, parse, check)
      : parseInTurns(text, parse, check, MAX_KEYS))
    return kept.length === 0 || kept === 'all' ? body : withPlainNumbers(body, kept)
  } catch (cause) {
    if (cause instanceof TooManyKeys)
      throw invalid('body', `must hold no object of more than ${MAX_KEYS.toLocaleString('en-US')} keys`)
    if (!(cause instanceof SyntaxError)) throw cause
    throw invalid('body', `must be valid JSON: ${cause.message}`)
  }
}

function checkExtent({ deepest, values }: JsonExtent, maxValues: number): void {
  if (deepest > MAX_DEPTH) throw invalid('body', `must not be nested deeper than ${MAX_DEPTH} levels`)
  if (values > maxValues)
    throw invalid('body', `must hold at most ${maxValues.toLocaleString('en-US')} values`)
}

function parseAtOnce(
  text: string,
  parse: (json: string) => unknown,
  check: (extent: JsonExtent) => void,
): unknown {
  check(measureJson(text))
  return parse(text)
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

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the text of a body. A body in several chunks is collected in one block of the announced size, and the
 * block is released as soon as it is decoded: left to the garbage collector, blocks of many megabytes would
 * stay in memory long.
 */
export async function readBodyText(payload: IncomingMessage, maxBytes: number): Promise<string> {
  const promised = Number(payload.headers['content-length'] ?? 0)
  // The rest of the body is discarded once the refusal is sent.
  if (promised > maxBytes) throw bodyTooLarge(maxBytes)
  let block = Buffer.alloc(0)
  let length = 0
  try {
    const chunks: AsyncIterable<Buffer> = payload.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) {
      const start = length
      length += chunk.length
      if (length > maxBytes) throw bodyTooLarge(maxBytes)
      if (start === 0 && length === promised) return decode(chunk)
      if (length > block.length) block = enlarge(block, Math.min(Math.max(promised, 2 * length), maxBytes))
      chunk.copy(block, start)
    }
    await pause()
    return decode(block.subarray(0, length))
  } catch (cause) {
    throw cause instanceof AppError || payload.complete
      ? cause
      : invalid('body', 'the body ended before its announced length')
  } finally {
    release(block)
  }
}

export function bodyTooLarge(maxBytes: number): AppError {
  return new AppError('Payload Too Large', `The body must be at most ${maxBytes} bytes`)
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid('body', 'must be UTF-8')
  }
}

function enlarge(block: Buffer<ArrayBuffer>, size: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(size)
  block.copy(larger)
  release(block)
  return larger
}

/** Frees the memory of a block at once. Its bytes cannot be read any more. */
function release(block: Buffer<ArrayBuffer>): void {
  block.buffer.transfer(0)
}
