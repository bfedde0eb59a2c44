import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api/calls.ts'
import { ApiError, fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { CircleAlert } from '../../ui/icons.tsx'
import { getErrorText } from '../../ui/problem.tsx'
import { readFields } from './field-texts.ts'
import { RecordTable } from './record-table.tsx'
import type { SourceForm, SourceType } from './source-form.ts'

const PREVIEWED = 10
const PAUSE_MS = 600

export type Preview = ReturnType<typeof usePreview>

/**
 * Reads the first records of a source as a person fills in its form. A preview on the key of the installation is only
 * read when asked for, because the number of those is limited.
 */
export function usePreview(type: SourceType | undefined, form: Pick<SourceForm, 'typed'>) {
  const question = buildQuestion(type, form)
  const settled = useSettled(question.text)
  const [asked, setAsked] = useState<string | null>(null)
  const isLimited = type !== undefined && usesInstallation(type)
  const text = isLimited ? asked : settled
  const isReady = question.missing.length === 0 && question.error === null && type?.receives === false
  const read = useQuery({
    queryKey: keys.sourcePreview(type?.source_id ?? '', text ?? ''),
    queryFn: ({ signal }) =>
      fetchData(
        call('POST /sources/:source_id/preview', {
          params: { source_id: type?.source_id ?? '' },
          body: { ...JSON.parse(text ?? '{}'), limit: PREVIEWED },
        }),
        { signal },
      ),
    enabled: isReady && text !== null && text !== '',
    retry: false,
    staleTime: 60_000,
    // The rows before stay until there are new ones.
    placeholderData: (before) => before,
  })
  const isCurrent = text === question.text
  const error = question.error ?? (isReady && isCurrent && read.fetchStatus === 'idle' ? read.error : null)
  return {
    missing: question.missing,
    error,
    rows: isReady && error === null ? read.data : undefined,
    busy: isReady && (read.fetchStatus === 'fetching' || (!isLimited && !isCurrent)),
    isLimited,
    isStale: isLimited && asked !== question.text,
    ask: () => {
      if (asked === question.text) void read.refetch()
      else setAsked(question.text)
    },
    retry: () => void read.refetch(),
  }
}

/** Returns the body of the preview as JSON, the labels of missing fields, and what is wrong before anything is sent. */
function buildQuestion(
  type: SourceType | undefined,
  { typed }: Pick<SourceForm, 'typed'>,
): { text: string; missing: string[]; error: unknown } {
  if (type === undefined) return { text: '', missing: [], error: null }
  const own = type.fields.filter(({ name }) => !NOT_PREVIEWED.has(name))
  try {
    const body = readFields(own, typed)
    const missing = own.flatMap(({ name, required, label }) =>
      required && body[name] === undefined ? [label] : [],
    )
    return { text: JSON.stringify(body), missing, error: null }
  } catch (error) {
    return { text: '', missing: [], error }
  }
}

/** The fields that change nothing about the first records. */
const NOT_PREVIEWED = new Set(['schedule', 'stop_at', 'pull_existing', 'max_count', 'max_credits'])

/** Returns true if the first account that can be used is that of the installation. */
function usesInstallation({ accounts }: SourceType): boolean {
  return accounts.find(({ key }) => key !== 'none')?.key === 'installation'
}

/** Returns the text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** The first records of the source, or why there are none, in words. */
export function PreviewPane({ preview, form }: { preview: Preview; form: SourceForm }) {
  const { error, rows, busy, isLimited, isStale, ask, retry } = preview
  return (
    <section aria-label="Preview" className="flex min-w-0 flex-col gap-3">
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold">Preview</h2>
        {isLimited && (
          <Button busy={busy} disabled={preview.missing.length > 0} onClick={ask}>
            {isStale ? 'Show preview' : 'Read again'}
          </Button>
        )}
      </div>
      {error === null ? (
        <p role="status" className="text-muted">
          {describePreview(preview)}
        </p>
      ) : (
        <PreviewProblem error={error} form={form} onRetry={retry} />
      )}
      {rows !== undefined && rows.length > 0 && (
        <div aria-busy={busy}>
          <RecordTable label="Preview" rows={rows} />
        </div>
      )}
    </section>
  )
}

/** Describes the state of a preview that has not failed. */
export function describePreview({ missing, rows, busy, isLimited, isStale }: Preview): string {
  if (missing.length > 0) return `Fill in ${missing.join(' and ')} to see the first records.`
  if (isLimited && isStale && !busy)
    return 'Choose Show preview to read the first records. It costs no credits.'
  if (busy) return 'Reading the first records…'
  if (rows === undefined) return 'Nothing has been read yet.'
  if (rows.length === 0) return 'No records match. Nothing would be imported now.'
  return rows.length < PREVIEWED
    ? `${plural(rows.length, 'record')} now. Nothing has been stored yet.`
    : `The first ${plural(rows.length, 'record')}. Nothing has been stored yet.`
}

function PreviewProblem({ error, form, onRetry }: { error: unknown; form: SourceForm; onRetry: () => void }) {
  return (
    <div
      role="alert"
      className="flex items-start gap-2 rounded-md border border-failed/40 bg-failed-bg px-3 py-2 text-failed"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">The preview could not be read</p>
        <ul className="break-words">
          {explainError(error, form).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <Button size="small" onClick={onRetry}>
        Retry
      </Button>
    </div>
  )
}

/** Returns an error in sentences that call fields by their labels. */
export function explainError(error: unknown, { labels }: Pick<SourceForm, 'labels'>): string[] {
  const fields = error instanceof ApiError ? error.fields : []
  if (fields.length === 0) return [getErrorText(error)]
  return fields.map(({ field, message }) => {
    if (field === 'connection_id') return 'The account is not connected. Connect one under Account.'
    const [name = field] = field.split(/[.[]/)
    const label = labels[name]
    return label === undefined ? message : `${label}: ${message}`
  })
}
