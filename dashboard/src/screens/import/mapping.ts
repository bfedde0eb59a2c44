import { fitsInput, readBoolean } from '#contract/value-fit.ts'
import type { Input } from '../../api/sheet.ts'

export type Uploaded = { fileRef: string; name: string }

export const NEW_INPUT = '+'
export const NOT_IMPORTED = '-'
/** The name of an input, `NEW_INPUT` for a new one named by the header, or `NOT_IMPORTED`. */
export type Target = string

const normalize = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')

/** Maps each header to the input of the same name, ignoring case and punctuation. Other headers become new inputs. */
export function guessTargets(headers: readonly string[], inputs: readonly Input[]): Record<string, Target> {
  const free = new Set(inputs.map(({ name }) => name))
  const guessed: Record<string, Target> = {}
  for (const header of headers) {
    const found =
      [...free].find((name) => name === header) ??
      [...free].find((name) => normalize(name) === normalize(header))
    if (found !== undefined) free.delete(found)
    guessed[header] = found ?? NEW_INPUT
  }
  return guessed
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const URL_LIKE = /^https?:\/\/\S+$/

/** Returns the type that fits all samples. */
export function guessType(samples: readonly (string | null)[]): Input['type'] {
  const values = samples.filter((value) => value !== null)
  if (values.length === 0) return 'string'
  if (values.every((value) => EMAIL.test(value))) return 'email'
  if (values.every((value) => URL_LIKE.test(value))) return 'url'
  if (values.every((value) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value))) return 'number'
  if (values.every((value) => DAY.test(value) && fitsInput(value, { type: 'date' }))) return 'date'
  if (values.every((value) => readBoolean(value) !== null)) return 'boolean'
  return 'string'
}
