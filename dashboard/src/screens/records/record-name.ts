import type { ListedRecord } from '#contract/screens.ts'

/** Returns the name of a record, or its first identifier if it has no name. */
export function getRecordName({ fields, identifiers, entity_id }: ListedRecord): string {
  const name = fields['name']?.value ?? fields['full_name']?.value
  return typeof name === 'string' && name !== '' ? name : (identifiers[0]?.value ?? entity_id)
}
