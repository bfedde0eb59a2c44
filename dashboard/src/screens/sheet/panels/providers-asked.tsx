import { Table } from '../../../ui/table.tsx'

type Asked = Record<string, unknown>

const text = (value: unknown) =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

/** Who was asked, in order, and what each did. */
export function Providers({ providers }: { providers: readonly unknown[] }) {
  const asked = providers.map((one, place) => ({
    place,
    facts: typeof one === 'object' && one !== null ? (one as Asked) : ({ provider: one } as Asked),
  }))
  return (
    <Table
      label="Providers"
      items={asked}
      keyOf={({ place }) => String(place)}
      columns={[
        { name: 'Provider', cell: ({ facts }) => text(facts['provider'] ?? facts['name']) },
        {
          name: 'Outcome',
          cell: ({ facts }) => text(facts['outcome'] ?? facts['status'] ?? facts['result']),
        },
        {
          name: 'Time',
          align: 'right',
          cell: ({ facts }) => (facts['duration_ms'] === undefined ? '' : `${text(facts['duration_ms'])} ms`),
        },
        { name: 'Credits', align: 'right', cell: ({ facts }) => text(facts['credits']) },
      ]}
    />
  )
}
