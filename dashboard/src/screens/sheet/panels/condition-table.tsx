import type { Row } from '../../../api/sheet.ts'
import { Table } from '../../../ui/table.tsx'
import { valueText } from '../cell-text.ts'
import { isMet, readGroups } from '../conditions.ts'
import { describeToken, resolveToken } from '../references.ts'
import { useSheet } from '../sheet-view.ts'
import { soleToken } from '../tokens.ts'

/** The table that explains the decision of `run_if`: each condition, the value in the row, and whether it was met. */
export function ConditionTable({ runIf, row }: { runIf: Record<string, unknown>; row: Row }) {
  const { columns } = useSheet()
  const sight = { columns, later: [], row }
  const nameOf = (variable: string) => describeToken(soleToken(variable) ?? variable, sight).label
  const leaves = readGroups(runIf).flatMap((group, at) =>
    group.conditions.map((leaf, place) => ({
      key: `${at}.${place}`,
      leaf,
      joint: place > 0 ? leaf.combinator : at > 0 ? group.combinator : '',
      value: valueText(resolveToken(soleToken(leaf.variable) ?? leaf.variable, sight)),
    })),
  )
  return (
    <Table
      label="Condition"
      items={leaves}
      getKey={({ key }) => key}
      columns={[
        {
          name: 'Condition',
          cell: ({ leaf, joint }) => (
            <span className="break-words">
              {[joint, nameOf(leaf.variable), leaf.operator, leaf.values.join(' and ')]
                .filter(Boolean)
                .join(' ')}
            </span>
          ),
        },
        {
          name: 'Value in this row',
          cell: ({ value }) => <span className="break-words">{value === '' ? 'empty' : value}</span>,
        },
        { name: 'Met', cell: ({ leaf, value }) => (isMet(leaf, value) ? 'met' : 'not met') },
      ]}
    />
  )
}
