import type { EntityKind } from '#contract/records.ts'
import type { ListedRecord } from '#contract/screens.ts'
import { NameLink } from '../../ui/name-link.tsx'
import { nameWords } from '../../ui/name-words.ts'
import type { Column } from '../../ui/table.tsx'
import { valueText } from '../../ui/value-text.ts'
import { getRecordName, identifierText } from './record-name.ts'

/** The fields that tell records of a kind apart, the most useful first. */
const USEFUL: Readonly<Record<EntityKind, readonly string[]>> = {
  company: ['industry', 'employees', 'country', 'city', 'phone', 'description'],
  person: ['title', 'company', 'country', 'linkedin_url', 'email'],
  contact: ['title', 'email', 'phone', 'company_domain'],
}
/** The identifier that a list shows beside the name. */
const IDENTIFIER: Readonly<Record<EntityKind, { kind: string; name: string; field: string }>> = {
  company: { kind: 'domain', name: 'Domain', field: 'domain' },
  person: { kind: 'email', name: 'Email', field: 'email' },
  contact: { kind: 'email', name: 'Email', field: 'email' },
}
const NAME_FIELDS = new Set(['name', 'full_name', 'company_name', 'first_name', 'last_name'])
const MAX_COLUMNS = 4

/** The columns of a list of records: name, identifier, and the values that most of them have. */
export function recordColumns<Item extends ListedRecord>(
  kind: EntityKind,
  records: readonly Item[],
): readonly Column<Item>[] {
  const { kind: identifier, name: label, field } = IDENTIFIER[kind]
  return [
    {
      name: 'Name',
      cell: (record) => (
        <NameLink to="/records/$id" params={{ id: record.entity_id }}>
          {getRecordName(record)}
        </NameLink>
      ),
    },
    {
      name: label,
      cell: ({ identifiers, fields }) => (
        <Cut
          text={
            identifiers
              .filter((one) => one.kind === identifier)
              .map(identifierText)
              .join(', ') || valueText(fields[field]?.value)
          }
        />
      ),
    },
    ...listShown(kind, records).map((name) => ({
      name: nameWords(name),
      wideOnly: true,
      cell: ({ fields }: Item) => <Cut text={valueText(fields[name]?.value)} />,
    })),
  ]
}

function Cut({ text }: { text: string }) {
  if (text === '') return null
  return (
    <span className="line-clamp-2 max-w-[280px] wrap-anywhere" title={text}>
      {text}
    </span>
  )
}

/** Lists the fields to show: useful ones that any record has, then the most frequent ones. */
function listShown(kind: EntityKind, records: readonly ListedRecord[]): string[] {
  const counts = new Map<string, number>()
  for (const { fields } of records)
    for (const [name, { value }] of Object.entries(fields))
      if (valueText(value) !== '') counts.set(name, (counts.get(name) ?? 0) + 1)
  const hidden = new Set([...NAME_FIELDS, IDENTIFIER[kind].field])
  const useful = USEFUL[kind].filter((name) => counts.has(name) && !hidden.has(name))
  const others = [...counts]
    .filter(([name]) => !hidden.has(name) && !useful.includes(name))
    .toSorted(([, one], [, other]) => other - one)
    .map(([name]) => name)
  return [...useful, ...others].slice(0, MAX_COLUMNS)
}
