import type { Warning } from '#contract/envelope.ts'
import type { ValuePlaces } from '../../database/connection/json-columns.ts'
import { plural } from '../../lib/plural.ts'
import { addPlace, nameFirstField, listPlaces, nameInRows } from './type-mismatches.ts'

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
