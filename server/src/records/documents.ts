import type { EntityDocument, Root } from '../store/records/entities.ts'
import type { NewValue } from '../store/records/values.ts'

/**
 * Of a new entity that has one value for each field all is known already: it need not be read back. The others are
 * refreshed by the rules of precedence.
 */
export function splitByDocument(
  roots: readonly Root[],
  values: readonly NewValue[],
): { complete: (Root & EntityDocument)[]; others: Root[] } {
  const valuesOf = Map.groupBy(values, ({ entityId }) => entityId)
  const complete: (Root & EntityDocument)[] = []
  const others: Root[] = []
  for (const root of roots) {
    const document = root.isNew ? printDocument(valuesOf.get(root.entityId) ?? []) : null
    if (document === null) others.push(root)
    else complete.push({ ...root, ...document })
  }
  return { complete, others }
}

function printDocument(values: readonly NewValue[]): EntityDocument | null {
  const fields = new Map(values.map((value) => [value.field, value]))
  if (fields.size < values.length) return null
  const print = (json: (value: NewValue) => string) =>
    `{${[...fields].map(([field, value]) => `${JSON.stringify(field)}:${json(value)}`).join()}}`
  return {
    fields: print(({ json }) => json),
    provenance: print(({ source, at }) => JSON.stringify({ source, at: new Date(at).toISOString() })),
  }
}
