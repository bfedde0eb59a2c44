import type { ListedRecord } from '#contract/screens.ts'

/** What people call it: its name where it has one, else how it is identified. */
export function nameOf({ fields, identifiers, entity_id }: ListedRecord): string {
  const named = fields['name']?.value ?? fields['full_name']?.value
  return typeof named === 'string' && named !== '' ? named : (identifiers[0]?.value ?? entity_id)
}
