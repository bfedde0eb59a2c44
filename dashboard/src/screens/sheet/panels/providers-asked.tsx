import { Table } from '../../../ui/table.tsx'
import { valueText } from '../cell-text.ts'

type Asked = Record<string, unknown>

/** Who was asked, in order, and what each did. */
export function Providers({ providers }: { providers: readonly unknown[] }) {
  const asked = providers.map((one, place) => ({
    place,
    facts: typeof one === 'object' && one !== null ? (one as Asked) : { provider: one },
  }))
  return (
    <Table
      label="Providers"
      items={asked}
      keyOf={({ place }) => String(place)}
      columns={[
        { name: 'Provider', cell: ({ facts }) => valueText(facts['provider'] ?? facts['name']) },
        {
          name: 'Outcome',
          cell: ({ facts }) => valueText(facts['outcome'] ?? facts['status'] ?? facts['result']),
        },
        {
          name: 'Time',
          align: 'right',
          cell: ({ facts }) =>
            facts['duration_ms'] === undefined ? '' : `${valueText(facts['duration_ms'])} ms`,
        },
        { name: 'Credits', align: 'right', cell: ({ facts }) => valueText(facts['credits']) },
      ]}
    />
  )
}
