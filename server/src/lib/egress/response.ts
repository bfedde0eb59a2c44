import { type JsonResult, parseBounded } from '../json/bounded-json.ts'
import { parseExact, parseLossless } from '../json/lossless-json.ts'

const UTF_8 = new TextDecoder()

/** A complete answer, whatever its status. */
export type EgressResponse = {
  ok: true
  status: number
  /** By lower-case name, every value of a repeated header. */
  headers: Record<string, string[]>
  /** The values of one header, joined as HTTP joins them. */
  header(name: string): string | undefined
  body: Uint8Array
  /** The body as UTF-8; what is not UTF-8 becomes U+FFFD. */
  text(): string
  /** Read in turns with other work where it is large. */
  json(): Promise<JsonResult>
  /** The same with long numbers as they were written. */
  losslessJson(): Promise<JsonResult>
  /** The same with numbers as they were written, where a plain one would print otherwise. For records, not to calculate with. */
  exactJson(): Promise<JsonResult>
  /** Where the answer came from, after redirects. */
  url: string
  redirects: number
  /** Where it redirects to, when redirects were not to be followed. */
  location: string | null
  /** The body goes on behind the part that was asked for. */
  more: boolean
  ms: number
}

/** As undici read them: names are lower-case, a header that was sent once is a text. */
export type SentHeaders = Readonly<Record<string, string | string[] | undefined>>

type Parts = Pick<EgressResponse, 'status' | 'body' | 'url' | 'redirects' | 'location' | 'more' | 'ms'>

/** One is made for every call: what nobody looks at is not made. */
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

  text(): string {
    return UTF_8.decode(this.body)
  }

  json(): Promise<JsonResult> {
    return parseBounded(this.text(), JSON.parse)
  }

  losslessJson(): Promise<JsonResult> {
    return parseBounded(this.text(), parseLossless)
  }

  exactJson(): Promise<JsonResult> {
    return parseBounded(this.text(), parseExact)
  }
}

/** Every value of a header. One of Object's own is none. */
export function valuesOf(headers: SentHeaders, name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (value === undefined) return NO_VALUES
  return Array.isArray(value) ? value : [value]
}

const NO_VALUES: readonly string[] = []

/** Copies undici's headers to an object without a prototype, so that a header cannot be one of Object's own. */
function collectHeaders(sent: SentHeaders): EgressResponse['headers'] {
  const headers: EgressResponse['headers'] = Object.create(null)
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value : [value]
  }
  return headers
}
