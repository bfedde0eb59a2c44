import { useQuery } from '@tanstack/react-query'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { csvLine } from '../../ui/csv-line.ts'
import { figure, plural } from '../../ui/figure.ts'
import { Download } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'

const SHOWN = 20

/** The imported values that do not match the type of their input. They were imported unchanged. */
export function Rejects({ sheet }: { sheet: SheetId }) {
  const rejects = useQuery({
    queryKey: keys.sheet(sheet.sheetId).rejects,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /internal/import/rejects'), { signal }),
    gcTime: 0,
  })
  if (rejects.error !== null) return <Problem error={rejects.error} onRetry={() => void rejects.refetch()} />
  if (rejects.data === undefined) return <Skeleton lines={2} />
  const { rejects: list, complete } = rejects.data
  if (list.length === 0) return null
  const save = () =>
    downloadText(
      'mismatches.csv',
      [
        csvLine(['row', 'input', 'type', 'value']),
        ...list.map(({ row, input, type, value }) => csvLine([row, input, type, value])),
      ].join('\n'),
    )
  return (
    <section aria-label="Rejects" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold">
          {`${complete ? '' : 'The first '}${plural(list.length, 'value that does not match its type', 'values that do not match their type')}`}
        </h2>
        <Button size="small" icon={Download} onClick={save}>
          Download mismatches
        </Button>
      </div>
      <Table
        label="Rejects"
        items={list.slice(0, SHOWN)}
        getKey={({ row, input }) => `${row} ${input}`}
        columns={[
          { name: 'File row', align: 'right', cell: ({ row }) => figure(row) },
          { name: 'Input', cell: ({ input }) => <span className="break-words">{input}</span> },
          { name: 'Expected', cell: ({ type }) => type },
          { name: 'Found', cell: ({ value }) => <span className="break-words">{value}</span> },
        ]}
      />
      {list.length > SHOWN && (
        <p className="text-muted">{`${figure(list.length - SHOWN)} more in the file`}</p>
      )}
    </section>
  )
}

/** Downloads a text as a file that is created in the browser. */
function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
