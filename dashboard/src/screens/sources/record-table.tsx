import { nameWords } from '../../ui/name-words.ts'
import { Table } from '../../ui/table.tsx'
import { printValue } from '../../ui/value-text.ts'

export type SourceRow = Record<string, unknown>

/** A table of records with a column for each field that any record has. */
export function RecordTable({ label, rows }: { label: string; rows: readonly SourceRow[] }) {
  return (
    <Table
      label={label}
      narrow="scroll"
      columns={listFields(rows).map((field) => ({
        name: nameWords(field),
        cell: ({ row }: { row: SourceRow }) => (
          <span className="line-clamp-3 max-w-[320px] break-words">{printValue(row[field])}</span>
        ),
      }))}
      items={rows.map((row, place) => ({ row, place }))}
      getKey={({ place }) => String(place)}
    />
  )
}

export function listFields(rows: readonly SourceRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))]
}
