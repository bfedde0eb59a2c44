import { Table } from '../../../ui/table.tsx'
import { valueText } from '../cell-text.ts'

type Facts = Record<string, unknown>

const OUTCOMES: Record<string, string> = { hit: 'Found', miss: 'Not found', unconfigured: 'No key' }

function describeOutcome(facts: Facts): string {
  const outcome = valueText(facts['outcome'] ?? facts['status'] ?? facts['result'])
  return OUTCOMES[outcome] ?? outcome
}

/** The table of the providers that were called, in order, with the outcome of each. */
export function Providers({ providers }: { providers: readonly unknown[] }) {
  const asked = providers.map((one, place) => ({
    place,
    facts: typeof one === 'object' && one !== null ? (one as Facts) : { provider: one },
  }))
  return (
    <Table
      label="Providers"
      items={asked}
      getKey={({ place }) => String(place)}
      columns={[
        { name: 'Provider', cell: ({ facts }) => valueText(facts['provider'] ?? facts['name']) },
        { name: 'Outcome', cell: ({ facts }) => describeOutcome(facts) },
        {
          name: 'Time',
          align: 'right',
          cell: ({ facts: { ms } }) => (typeof ms === 'number' ? `${ms.toLocaleString('en')} ms` : ''),
        },
        { name: 'Credits', align: 'right', cell: ({ facts }) => valueText(facts['credits']) },
      ]}
    />
  )
}
