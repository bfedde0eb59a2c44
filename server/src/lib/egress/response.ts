const MAX_JSON_DEPTH = 100
const UTF_8 = new TextDecoder()

export type JsonResult = { ok: true; value: unknown } | { ok: false; message: string }

/** A complete answer, whatever its status. */
export type EgressResponse = {
  ok: true
  status: number
  /** By lower-case name, every value of a repeated header. */
  headers: Record<string, string[]>
  /** The values of one header, joined as HTTP joins them. */
  header: (name: string) => string | undefined
  body: Uint8Array
  /** The body as UTF-8; what is not UTF-8 becomes U+FFFD. */
  text: () => string
  json: () => JsonResult
  /** Where the answer came from, after redirects. */
  url: string
  redirects: number
  /** Where it redirects to, when redirects were not to be followed. */
  location: string | null
  /** The body goes on behind the part that was asked for. */
  more: boolean
  ms: number
}

export function createResponse(
  parts: Pick<
    EgressResponse,
    'status' | 'headers' | 'body' | 'url' | 'redirects' | 'location' | 'more' | 'ms'
  >,
): EgressResponse {
  const text = () => UTF_8.decode(parts.body)
  return {
    ok: true,
    ...parts,
    header: (name) => parts.headers[name.toLowerCase()]?.join(', '),
    text,
    json: () => parseJson(text()),
  }
}

/** Copies undici's headers to an object without a prototype, so that a header cannot be one of Object's own. */
export function collectHeaders(
  raw: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null)
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value : [value]
  }
  return headers
}

function parseJson(text: string): JsonResult {
  if (exceedsDepth(text, MAX_JSON_DEPTH)) {
    return { ok: false, message: `the answer is JSON nested deeper than ${MAX_JSON_DEPTH} levels` }
  }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false, message: 'the answer is not valid JSON' }
  }
}

const codeOf = (character: string): number => character.charCodeAt(0)
const [QUOTE, BACKSLASH] = [codeOf('"'), codeOf('\\')]
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')]

// JSON.parse takes any depth, but whatever walks the value afterwards would run out of stack.
function exceedsDepth(text: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === BRACKET || code === BRACE) depth += 1
    else if (code === BRACKET_END || code === BRACE_END) depth -= 1
    if (depth > limit) return true
  }
  return false
}
