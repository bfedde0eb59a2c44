import type { Warning } from '#contract/envelope.ts'
import type { InputType } from '#contract/inputs.ts'
import { fitsInput, type TypedInput as FittedInput } from '#contract/value-fit.ts'
import type { Mismatches, ValuePlaces } from '../../database/connection/json-columns.ts'
import { shorten } from '../../lib/errors.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { plural } from '../../lib/plural.ts'

const MAX_PLACES = 5
const MAX_NAME = 200

type TypedInput = FittedInput & { name: string }

/** Returns the name of a row at a place for callers: `rows[3]`. */
export type NameRow = (place: number) => string
export const nameInRows: NameRow = (place) => `rows[${place}]`

/**
 * Collects values that do not fit the type of their input (D79), and adds them to earlier ones. They are stored all the same.
 */
export function createTypeCheck(inputs: readonly TypedInput[], earlier: readonly Mismatches[] = []) {
  const checked = [...inputs.entries()].filter(([, { type }]) => type !== 'string')
  const found = new Map(earlier.map((known) => [known.name, { ...known, places: [...known.places] }]))
  const check = (input: TypedInput, value: unknown, place: number): void => {
    if (fits(value, input)) return
    const { name, type } = input
    const known = found.get(name) ?? { name, type, count: 0, places: [] }
    addPlace(known, place)
    found.set(name, known)
  }
  return {
    /** Checks an accepted row at its place among the given rows. */
    look(row: Readonly<Record<string, unknown>>, place: number): void {
      for (const [, input] of checked) {
        if (Object.hasOwn(row, input.name)) check(input, row[input.name], place)
      }
    },
    /** Checks the values of a row, in the order of the inputs. */
    lookAtAll(values: readonly unknown[], place: number): void {
      for (const [at, input] of checked) check(input, values[at], place)
    },
    /** Returns an entry for each input that has such values, in the order of the inputs. */
    mismatches: (): Mismatches[] => checked.flatMap(([, { name }]) => structuredClone(found.get(name)) ?? []),
  }
}

export function warnOfMismatches(
  mismatches: readonly Mismatches[],
  nameRow: NameRow = nameInRows,
  verb: 'stored' | 'imported' = 'stored',
): Warning[] {
  return mismatches.map((mismatch) => createWarning(mismatch, nameRow, verb))
}

function createWarning(mismatches: Mismatches, nameRow: NameRow, verb: string): Warning {
  const { type, count } = mismatches
  const kept = count === 1 ? `${verb} as it is` : `${verb} as they are`
  return {
    field: nameFirstField(mismatches, nameRow),
    code: 'type_mismatch',
    message: `${describeMismatch(type, count)} (${kept}): ${listPlaces(mismatches, nameRow)}`,
  }
}

const LOOKS: Record<InputType, [one: string, many: string]> = {
  string: ['a text', 'texts'],
  number: ['a number', 'numbers'],
  email: ['an email address', 'email addresses'],
  url: ['a URL', 'URLs'],
  date: ['a date', 'dates'],
  boolean: ['yes or no', 'yes or no'],
  select: ['one of the choices', 'one of the choices'],
}

/** Returns a text such as `2 values don't look like numbers`. */
export function describeMismatch(type: InputType, count: number): string {
  const [one, many] = LOOKS[type]
  return count === 1
    ? `1 value doesn't look like ${one}`
    : `${plural(count, 'value')} don't look like ${many}`
}

/** Adds a value. Its place is kept if it is among the first. */
export function addPlace(values: ValuePlaces, place: number): void {
  values.count += 1
  if (values.places.length < MAX_PLACES) values.places.push(place)
}

/** Returns the name of the first value for the field of a warning. */
export const nameFirstField = ({ name, places }: ValuePlaces, nameRow: NameRow): string =>
  `${nameRow(places[0] ?? 0)}.${shorten(name, MAX_NAME)}`

export function listPlaces({ count, places }: ValuePlaces, nameRow: NameRow): string {
  const more = count > places.length ? `, and ${count - places.length} more` : ''
  return `${places.map(nameRow).join(', ')}${more}`
}

/** Returns true if a value fits its input. A missing value fits every type. */
export function fits(value: unknown, input: TypedInput): boolean {
  if (!(value instanceof NumberText)) return fitsInput(value, input)
  return (
    input.type === 'number' ||
    input.type === 'string' ||
    (input.choices ?? []).some((choice) => choice === value.source)
  )
}

/** Collects values that could not be stored as given (D28), by input, and adds them to earlier ones. */
export function createNormalizedValues(earlier: readonly ValuePlaces[] = []) {
  const found = new Map(earlier.map((known) => [known.name, structuredClone(known)]))
  return {
    add(name: string, place: number): void {
      const known = found.get(name) ?? { name, count: 0, places: [] }
      addPlace(known, place)
      found.set(name, known)
    },
    list: (): ValuePlaces[] => structuredClone([...found.values()]),
  }
}

/** Returns one warning for each input that has such values. */
export function warnOfNormalized(normalized: readonly ValuePlaces[]): Warning[] {
  return normalized.map((values) => ({
    field: nameFirstField(values, nameInRows),
    code: 'value_normalized',
    message: `NUL characters and halves of surrogate pairs were replaced by U+FFFD in ${plural(values.count, 'value')} (${listPlaces(values, nameInRows)})`,
  }))
}
