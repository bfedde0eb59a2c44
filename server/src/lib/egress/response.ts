import { type JsonResult, parseBounded } from '../json/bounded-json.ts'
import { parseExact } from '../json/lossless-json.ts'
import { decodeInTurns } from '../utf-8.ts'

const UTF_8 = new TextDecoder()
const MAX_BYTES_PER_UNIT = 3

/** A complete response with any status. */
export type EgressResponse = {
  ok: true
  status: number
  /** All values of each header, by its lower-case name. */
  headers: Record<string, string[]>
  /** Returns the values of one header, joined as HTTP joins them. */
  header(name: string): string | undefined
  body: Uint8Array
  /** Returns the body as UTF-8, decoded in turns with other work. Invalid bytes become U+FFFD. */
  text(): Promise<string>
  /** Returns at most this many characters from the beginning of the body. */
  excerpt(length: number): string
  /** Parses the body as JSON. A large body is parsed in turns with other work. */
  json(): Promise<JsonResult>
  /**
   * Parses the body as JSON and keeps a number as it was written if a plain number would print differently.
   * This is for records, not for calculations.
   */
  exactJson(): Promise<JsonResult>
  /** The URL of the response, after redirects. */
  url: string
  redirects: number
  /** The location of the redirect, if redirects are not followed. */
  location: string | null
  /** Tells that the body continues after the part that was asked for. */
  more: boolean
  ms: number
}

/** Headers as undici parsed them: names are in lower case, and a header that was sent once is a text. */
export type SentHeaders = Readonly<Record<string, string | string[] | undefined>>

type Parts = Pick<EgressResponse, 'status' | 'body' | 'url' | 'redirects' | 'location' | 'more' | 'ms'>

/** A response. An instance is created for every call, so its parts are computed only when they are read. */
export class Response implements EgressResponse {
  readonly ok = true
  readonly status: number
  readonly body: Uint8Array
  readonly url: string
  readonly redirects: number
  readonly location: string | null
  readonly more: boolean
  readonly ms: number
  readonly #sent: SentHeaders
  #headers: EgressResponse['headers'] | undefined

  constructor({ status, body, url, redirects, location, more, ms }: Parts, sent: SentHeaders) {
    this.status = status
    this.body = body
    this.url = url
    this.redirects = redirects
    this.location = location
    this.more = more
    this.ms = ms
    this.#sent = sent
  }

  get headers(): EgressResponse['headers'] {
    return (this.#headers ??= collectHeaders(this.#sent))
  }

  header(name: string): string | undefined {
    const key = name.toLowerCase()
    const value = Object.hasOwn(this.#sent, key) ? this.#sent[key] : undefined
    return Array.isArray(value) ? value.join(', ') : value
  }

  text(): Promise<string> {
    return decodeInTurns(this.body)
  }

  excerpt(length: number): string {
    return UTF_8.decode(this.body.subarray(0, length * MAX_BYTES_PER_UNIT)).slice(0, length)
  }

  async json(): Promise<JsonResult> {
    return parseBounded(await this.text(), JSON.parse)
  }

  async exactJson(): Promise<JsonResult> {
    return parseBounded(await this.text(), parseExact)
  }
}

/** Returns every value of a header. Properties of Object.prototype do not count as headers. */
export function valuesOf(headers: SentHeaders, name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (value === undefined) return NO_VALUES
  return Array.isArray(value) ? value : [value]
}

const NO_VALUES: readonly string[] = []

/**
 * Copies undici's headers to an object without a prototype, so that a header cannot be confused with a
 * property of Object.prototype.
 */
function collectHeaders(sent: SentHeaders): EgressResponse['headers'] {
  const headers: EgressResponse['headers'] = Object.create(null)
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value : [value]
  }
  return headers
}
