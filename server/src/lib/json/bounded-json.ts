import { countOpened, measureJson } from './json-scan.ts'
import { parseScanned } from './parse-in-turns.ts'
import { scanInTurns } from './scan-in-turns.ts'

/** JSON.parse takes any depth, but whatever walks the value afterwards would run out of stack. */
const MAX_DEPTH = 100
/** Ten megabytes of `1,` are five million values, which take a minute and a gigabyte to go through. */
const MAX_VALUES = 300_000
/** As many values as there are characters, and numbers that are kept as they were written, take some milliseconds. */
const MAX_AT_ONCE = 64 * 1024

export type JsonResult =
  | { ok: true; value: unknown }
  | { ok: false; why: 'no JSON' | 'too deep' | 'too many values'; message: string }

/** Parses what others answered: what is large in turns with others, so that it never holds the event loop (I2). */
export async function parseBounded(text: string, parse: (json: string) => unknown): Promise<JsonResult> {
  const isLarge = text.length > MAX_AT_ONCE
  try {
    if (!isLarge) return isTooDeep(text) ? TOO_DEEP : { ok: true, value: parse(text) }
    const scan = await scanInTurns(text, MAX_DEPTH)
    if (scan.deepest > MAX_DEPTH) return TOO_DEEP
    if (scan.values > MAX_VALUES) return TOO_MANY
    return { ok: true, value: await parseScanned(text, scan, parse) }
  } catch (cause) {
    if (cause instanceof SyntaxError) return NO_JSON
    throw cause
  }
}

/** Nearly nothing is: there is a level for each bracket at most. */
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
