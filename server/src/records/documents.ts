import type { EntityDocument, Root } from '../store/records/entities.ts'
import type { NewValue } from '../store/records/values.ts'

/** `at` is the one time at which all was said; null where there are several, or nothing was. */
type Complete = Root & EntityDocument & { at: string | null }

/**
 * Of a new entity that has one value for each field all is known already: it need not be read back. The others are
 * refreshed by the rules of precedence.
 */
export function splitByDocument(
  roots: readonly Root[],
  values: readonly NewValue[],
): { complete: Complete[]; others: Root[] } {
  const valuesOf = Map.groupBy(values, ({ entityId }) => entityId)
  const complete: Complete[] = []
  const printOrigin = createOriginPrinter()
  const others: Root[] = []
  for (const root of roots) {
    const said = valuesOf.get(root.entityId) ?? []
    const document = root.isNew ? printDocument(said, printOrigin) : null
    if (document === null) others.push(root)
    else complete.push({ ...root, ...document, at: timeOf(said) })
  }
  return { complete, others }
}

function timeOf([first, ...others]: readonly NewValue[]): string | null {
  return first !== undefined && others.every(({ at }) => at === first.at) ? first.at : null
}

type PrintOrigin = (value: NewValue) => string

/** Where a value comes from, as JSON. Most of a batch come from one source at one time, so the last is kept. */
function createOriginPrinter(): PrintOrigin {
  let last = { source: '', at: '', json: '' }
  return ({ source, at }) => {
    if (source !== last.source || at !== last.at) {
      last = { source, at, json: JSON.stringify({ source, at: new Date(at).toISOString() }) }
    }
    return last.json
  }
}

function printDocument(values: readonly NewValue[], printOrigin: PrintOrigin): EntityDocument | null {
  const names = new Set(values.map(({ field }) => field))
  if (names.size < values.length) return null
  const print = (json: (value: NewValue) => string) =>
    `{${values.map((value) => `${JSON.stringify(value.field)}:${json(value)}`).join()}}`
  return { fields: print(({ json }) => json), provenance: print(printOrigin) }
}
