import type { EntityKind } from '#contract/records.ts'

type Kind = { kind: EntityKind; one: string; plural: string }
const COMPANY: Kind = { kind: 'company', one: 'Company', plural: 'Companies' }

/** The kinds of records in words. */
export const KINDS: readonly [Kind, ...Kind[]] = [
  COMPANY,
  { kind: 'person', one: 'Person', plural: 'People' },
  { kind: 'contact', one: 'Contact', plural: 'Contacts' },
]

export const kindWords = (kind: EntityKind): Kind => KINDS.find((one) => one.kind === kind) ?? COMPANY
