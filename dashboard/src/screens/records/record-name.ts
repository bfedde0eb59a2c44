import type { ListedRecord } from '#contract/screens.ts'
import { valueText } from '../../ui/value-text.ts'

const NAMES = ['name', 'full_name', 'company_name', 'title']

/** Returns the name of a record, or its first identifier if it has none. */
export function getRecordName({ fields, identifiers }: Pick<ListedRecord, 'fields' | 'identifiers'>): string {
  const named = NAMES.map((name) => textOf(fields, name)).find((text) => text !== '')
  if (named !== undefined) return named
  const person = [textOf(fields, 'first_name'), textOf(fields, 'last_name')].filter((part) => part !== '')
  if (person.length > 0) return person.join(' ')
  const known = identifiers.find(({ kind }) => kind !== 'external') ?? identifiers[0]
  return known === undefined ? 'Unnamed record' : identifierText(known)
}

const textOf = (fields: ListedRecord['fields'], name: string): string => valueText(fields[name]?.value).trim()

/** Returns an identifier as people write it: one of another system without the name of that system before it. */
export function identifierText({ kind, value }: { kind: string; value: string }): string {
  return kind === 'external' ? value.replace(/^[^:]*:/, '') : value
}
