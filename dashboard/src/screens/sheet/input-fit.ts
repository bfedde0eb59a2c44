import { fitsInput } from '#contract/value-fit.ts'
import type { InputColumn } from './columns.ts'

const UNFIT_WORDS: Record<InputColumn['type'], string> = {
  string: '',
  url: 'Not a URL',
  email: 'Not an email address',
  number: 'Not a number',
  date: 'Not a date, such as 2026-03-01',
  boolean: 'Not true or false',
  select: 'Not one of the choices',
}

/** Returns why a value does not fit its input, in words, or null if it does. */
export function describeUnfit(value: unknown, column: InputColumn): string | null {
  if (column.type === 'string' || value === null || value === undefined || value === '') return null
  if (fitsInput(value, column)) return null
  if (column.type === 'number' && typeof value === 'string' && isLocalNumber(value)) return null
  return UNFIT_WORDS[column.type]
}

type Separators = { group: string; decimal: string }
const separators = new Map<string, Separators>()

/** Returns true for a number as people write it where the reader is: `1,200.5` in English, `1.200,5` in German. */
export function isLocalNumber(text: string, locale = navigator.language): boolean {
  const { group, decimal } = separatorsOf(locale)
  const [whole = '', fraction, more] = text.trim().split(decimal)
  if (more !== undefined || (fraction !== undefined && !/^\d+$/.test(fraction))) return false
  const [first = '', ...groups] = whole.replace(/^-/, '').split(group)
  // Groups of thousands, and of hundreds before them, as in India.
  const hasGroups = groups.length > 0 && groups.at(-1)?.length === 3
  return (
    /^\d+$/.test(first) &&
    (groups.length === 0 ||
      (hasGroups && first.length <= 3 && groups.every((part) => /^\d{2,3}$/.test(part))))
  )
}

function separatorsOf(locale: string): Separators {
  const known = separators.get(locale)
  if (known !== undefined) return known
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.8)
  const find = (type: string) => parts.find((part) => part.type === type)?.value
  const found = { group: find('group') ?? ',', decimal: find('decimal') ?? '.' }
  separators.set(locale, found)
  return found
}
