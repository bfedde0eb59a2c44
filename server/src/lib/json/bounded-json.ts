import { countOpened, measureJson } from './json-scan.ts'
import { parseScanned, TooManyKeys } from './parse-in-turns.ts'
import { scanInTurns } from './scan-in-turns.ts'

/**
 * The nesting limit. JSON.parse accepts any depth, but code that walks the value afterwards would run out of
 * stack.
 */
const MAX_DEPTH = 100
/**
 * The limit on the number of values. Ten megabytes of `1,` are five million values, which take a minute and a
 * gigabyte to process.
 */
const MAX_VALUES = 300_000
/**
 * The limit on the keys of one object. V8 sorts the keys of an object whenever they are listed, which takes
 * 100 ms for 300,000.
 */
const MAX_KEYS = 50_000
/**
 * The size up to which a text is parsed at once. The worst text of this size (one value per character,
 * numbers kept as written) takes a few milliseconds.
 */
const MAX_AT_ONCE = 64 * 1024

export type JsonResult =
  | { ok: true; value: unknown }
  | { ok: false; why: 'no JSON' | 'too deep' | 'too many values'; message: string }

/**
 * Parses a response of another system. Parses a large text in turns with other work, so that it never blocks
 * the event loop (I2).
 */
export async function parseBounded(text: string, parse: (json: string) => unknown): Promise<JsonResult> {
  const isLarge = text.length > MAX_AT_ONCE
  try {
    if (!isLarge) return isTooDeep(text) ? TOO_DEEP : { ok: true, value: parse(text) }
    const scan = await scanInTurns(text, MAX_DEPTH)
    if (scan.deepest > MAX_DEPTH) return TOO_DEEP
    if (scan.values > MAX_VALUES) return TOO_MANY
    return { ok: true, value: await parseScanned(text, scan, parse, MAX_KEYS) }
  } catch (cause) {
    if (cause instanceof SyntaxError) return NO_JSON
    if (cause instanceof TooManyKeys) return TOO_MANY_KEYS
    throw cause
  }
}

/**
 * Returns true if the text is nested too deep. Most texts are rejected cheaply: there are at most as many
 * levels as brackets.
 */
function isTooDeep(text: string): boolean {
  return countOpened(text) > MAX_DEPTH && measureJson(text).deepest > MAX_DEPTH
}

const NO_JSON: JsonResult = { ok: false, why: 'no JSON', message: 'the answer is not valid JSON' }
const TOO_DEEP: JsonResult = {
  ok: false,
  why: 'too deep',
  message: `the answer is JSON nested deeper than ${MAX_DEPTH} levels`,
}
const TOO_MANY: JsonResult = {
  ok: false,
  why: 'too many values',
  message: `the answer is JSON of more than ${MAX_VALUES.toLocaleString('en-US')} values; ask for smaller pages`,
}
const TOO_MANY_KEYS: JsonResult = {
  ok: false,
  why: 'too many values',
  message: `the answer is JSON with an object of more than ${MAX_KEYS.toLocaleString('en-US')} keys; ask for a list, or for less at once`,
}
