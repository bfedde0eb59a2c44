import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SourceState } from '#contract/sources.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { plural } from '../../ui/figure.ts'
import { TextArea, TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { SourceStatus } from './pause-button.tsx'
import { describeSchedule } from './schedule-words.ts'
import { sourceTypesQuery } from './source-types.ts'

type Counts = NonNullable<SourceState['pull_under_way']>

/** The state of a source: last and next pull, records received, and the last error with a hint. */
export function SourceHealth({ source }: { source: SourceState }) {
  const type = useQuery(sourceTypesQuery).data?.find(({ source_id }) => source_id === source.source_id)
  const { last_pull, pull_under_way, last_error, received, pixel_script, webhook_url } = source
  const facts: [string, ReactNode][] = [
    ['Status', <SourceStatus status={source.status} />],
    ['Type', type?.name ?? ''],
    ['From', type?.accounts.find(({ provider }) => provider === source.provider)?.name ?? ''],
    ['Records', source.lead_count.toLocaleString('en')],
    ['Credits spent', formatSpending(source)],
    ['Imports', describeImports(source)],
    ...(source.next_pull_at === null
      ? []
      : [['Next import', <TimeText at={source.next_pull_at} />] satisfies [string, ReactNode]]),
  ]
  if (pull_under_way !== null) facts.push(['Importing now', formatCounts(pull_under_way)])
  if (received === null) facts.push(['Last import', <LastPull pull={last_pull} />])
  else {
    facts.push([
      'Received',
      `${received.total}, ${received.unresolved} not identified, ${received.waiting} waiting`,
    ])
    facts.push(['Last received', <TimeText at={received.last_at} />])
  }
  return (
    <section aria-label="State" className="flex flex-col gap-3">
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
      {last_error !== null && (
        <div role="group" aria-label="Error" className="rounded-md border border-failed p-3">
          <p className="break-words text-failed">{last_error.message}</p>
          <p className="break-words">{`Hint: ${last_error.hint}`}</p>
          <p className="text-muted">
            <TimeText at={last_error.at} />
            {`, ${plural(source.failures_in_a_row, 'failure')} in a row`}
          </p>
        </div>
      )}
      {pixel_script !== undefined && (
        <>
          <TextArea
            label="Tracking script"
            value={pixel_script}
            hint="Add this script to every page of the website. Records then arrive automatically."
          />
          <div>
            <CopyButton label="Copy script" text={() => pixel_script} />
          </div>
        </>
      )}
      {webhook_url !== undefined && (
        <TextField
          label="Webhook URL"
          value={webhook_url}
          hint="The other service posts the visitors it identifies to this URL. Treat it as a secret."
        />
      )}
    </section>
  )
}

function LastPull({ pull }: { pull: SourceState['last_pull'] }) {
  if (pull === null) return <TimeText at={null} />
  return (
    <>
      <TimeText at={pull.finished_at} />
      {`: ${formatCounts(pull)}`}
      {pull.note !== null && `; ${noteWords(pull.note)}`}
    </>
  )
}

/** Says when the source imports. One that has read everything it may read has ended, whatever its schedule. */
function describeImports({ received, schedule, status }: SourceState): string {
  if (received !== null) return 'When visitors arrive'
  const words = describeSchedule(schedule)
  return status === 'completed' && schedule !== null ? `${words}, until it ended` : words
}

/** Returns a note of a pull in the words of the form. */
const noteWords = (note: string): string =>
  note === 'max_count was reached' ? 'the most records were reached' : note

function formatCounts({ new: added, updated, unchanged, skipped }: Omit<Counts, 'started_at'>): string {
  return `${added} new, ${updated} updated, ${unchanged} unchanged, ${skipped} skipped`
}

function formatSpending({ credits_spent, max_credits }: SourceState): string {
  return max_credits === null ? String(credits_spent) : `${credits_spent} of ${max_credits}`
}
