import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Warning } from '#contract/envelope.ts'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { buttonClass } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Rejects } from './rejects.tsx'

/** The progress of an import: the number of rows so far. The total is unknown until the whole file is read. */
export function ImportProgress({ sheet }: { sheet: SheetId }) {
  const status = useQuery({
    queryKey: keys.sheet(sheet.sheetId).import,
    queryFn: ({ signal }) => send(sheetCall(sheet, 'GET /csv'), { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.data.status === 'processing' ? 500 : false,
    gcTime: 0,
  })
  const ended = status.data?.data.status
  if (status.error !== null) return <Problem error={status.error} onRetry={() => void status.refetch()} />
  const { data } = status.data ?? {}
  const count = plural(data?.rows_imported ?? 0, 'row')
  const isDone = ended === 'completed'
  return (
    <section aria-label="Import" className="flex flex-col gap-3 rounded-lg border p-4">
      <ProgressBar label="Import progress" value={isDone ? 1 : 0} max={isDone ? 1 : null} />
      <p role="status" aria-label={`${count} imported`}>
        {`${count} imported`}
        {ended === 'processing' && ' so far'}
      </p>
      {ended === 'failed' && <Problem error={new Error(data?.error ?? 'The import failed')} />}
      <Warnings warnings={status.data?.warnings ?? []} />
      {isDone && status.data?.warnings?.some(isMismatch) && <Rejects sheet={sheet} />}
      {isDone && (
        <div>
          <Link to="/workflows/$workflowId/sheets/$sheetId" params={sheet} className={buttonClass('primary')}>
            Show the rows
          </Link>
        </div>
      )}
    </section>
  )
}

const isMismatch = ({ code }: Warning) => code === 'type_mismatch'

/** The rows that a warning names. The table of mismatches shows them. */
const PLACES = /: rows\[.*$/

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null
  return (
    <ul aria-label="Warnings" className="list-inside list-disc text-muted">
      {warnings.map(({ message }) => (
        <li key={message}>{message.replace(PLACES, '')}</li>
      ))}
    </ul>
  )
}
