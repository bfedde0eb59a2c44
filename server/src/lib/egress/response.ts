import { countOpened, measureJson } from '../json/json-scan.ts'
import { parseExact } from '../json/lossless-json.ts'
import { parseInTurns } from '../json/parse-in-turns.ts'

/** JSON.parse takes any depth, but whatever walks the value afterwards would run out of stack. */
const MAX_JSON_DEPTH = 100
/** Ten megabytes of `1,` are five million values, which take a minute and a gigabyte to go through. */
const MAX_JSON_VALUES = 300_000
/** Numbers that are kept as they were written take several times as long to parse. */
const MAX_AT_ONCE = 256 * 1024
const UTF_8 = new TextDecoder()

export type JsonResult = { ok: true; value: unknown } | { ok: false; message: string }

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
  json(): JsonResult
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

  json(): JsonResult {
    const text = this.text()
    const excess = findExcess(text)
    if (excess !== null) return { ok: false, message: excess }
    try {
      return { ok: true, value: JSON.parse(text) }
    } catch {
      return NO_JSON
    }
  }

  async exactJson(): Promise<JsonResult> {
    const text = this.text()
    const excess = findExcess(text)
    if (excess !== null) return { ok: false, message: excess }
    try {
      const value = text.length <= MAX_AT_ONCE ? parseExact(text) : await parseInTurns(text, parseExact)
      return { ok: true, value }
    } catch (cause) {
      if (cause instanceof SyntaxError) return NO_JSON
      throw cause
    }
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

const NO_JSON: JsonResult = { ok: false, message: 'the answer is not valid JSON' }

/** What there is too much of in a text of JSON; null for what may be parsed. */
function findExcess(text: string): string | null {
  // Nearly all: there is at most one value for each character, and a level for each bracket.
  if (text.length < MAX_JSON_VALUES && countOpened(text) <= MAX_JSON_DEPTH) return null
  const { deepest, values } = measureJson(text)
  if (deepest > MAX_JSON_DEPTH) return `the answer is JSON nested deeper than ${MAX_JSON_DEPTH} levels`
  if (values <= MAX_JSON_VALUES) return null
  const most = MAX_JSON_VALUES.toLocaleString('en-US')
  return `the answer is JSON of more than ${most} values; ask for smaller pages`
}
