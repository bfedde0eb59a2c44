import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import type { ExportFormat } from '#contract/exports.ts'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { readSelection, readSort } from '../../api/selection-address.ts'
import { isFiltered, selectionBody } from '../../api/sheet.ts'
import { Page } from '../../frame/page.tsx'
import { SheetLink } from '../../frame/sheet-link.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { plural } from '../../ui/figure.ts'
import { Download, FileDown } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Checkbox, TextField } from '../../ui/text-field.tsx'

const FORMATS: readonly { value: ExportFormat; label: string }[] = [
  { value: 'csv', label: 'CSV' },
  { value: 'xlsx', label: 'XLSX' },
  { value: 'jsonl', label: 'JSON lines' },
]

export function Screen() {
  const sheet = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/export' })
  const query = useSearch({ from: '/frame/workflows/$workflowId/sheets/$sheetId/export' })
  const selection = readSelection(query)
  const rowIds = readRowIds(query, sheet.sheetId)
  const excluded = query.excluded === undefined ? [] : readKept(sheet.sheetId)
  const filtered = isFiltered(selection) || rowIds.length > 0 || excluded.length > 0
  const [format, setFormat] = useState<ExportFormat>('csv')
  const [name, setName] = useState('export')
  const [which, setWhich] = useState<'all' | 'filtered'>(filtered ? 'filtered' : 'all')
  const [withStatus, setWithStatus] = useState(false)
  const sort = readSort(query)
  const chosen =
    rowIds.length > 0
      ? { row_ids: rowIds }
      : { ...selectionBody(selection), ...(excluded.length === 0 ? {} : { exclude_row_ids: excluded }) }
  const request = sheetCall(sheet, 'POST /export', {
    body: {
      format,
      ...(name.trim() === '' ? {} : { file_name: name.trim() }),
      ...(which === 'filtered' ? chosen : {}),
      ...(sort.length === 0 ? {} : { sort }),
      ...(withStatus ? { include: ['status', 'error'] } : {}),
    },
  })
  const start = useMutation({ mutationFn: () => fetchData(request) })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate()
  }
  return (
    <Page title="Export" actions={<SheetLink sheet={sheet} />}>
      <form onSubmit={onSubmit} className="flex max-w-[440px] flex-col gap-4">
        <Combobox label="Format" value={format} choices={FORMATS} onChange={setFormat} />
        <TextField
          label="File name"
          value={name}
          onChange={setName}
          hint="Without extension. Characters other than letters and digits become underscores."
        />
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-12 font-medium">Rows</legend>
          <Choice label="All rows" checked={which === 'all'} onChoose={() => setWhich('all')} />
          <Choice
            label="Filtered rows"
            checked={which === 'filtered'}
            disabled={!filtered}
            onChoose={() => setWhich('filtered')}
          />
          {!filtered && (
            <p className="text-12 text-muted">
              To export only some rows, filter the sheet or select rows first.
            </p>
          )}
        </fieldset>
        <Checkbox
          label="Add columns for the status and the error of each action"
          checked={withStatus}
          onChange={setWithStatus}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" icon={FileDown} busy={start.isPending}>
            Start export
          </Button>
          <CopyAsCurl call={request} />
        </div>
      </form>
      {start.error !== null && <Problem error={start.error} />}
      {start.data !== undefined && (
        <Progress key={start.data.export_id} sheet={sheet} id={start.data.export_id} />
      )}
    </Page>
  )
}

/** Returns the row ids selected in the sheet: from the address, or from session storage if they are too many for an address. */
function readRowIds(query: { row_ids?: string; selected?: string }, sheetId: string): string[] {
  if (query.row_ids !== undefined) return query.row_ids.split(',')
  return query.selected === undefined ? [] : readKept(sheetId)
}

/** Returns the row ids that the sheet has left in session storage. */
function readKept(sheetId: string): string[] {
  const kept: unknown = JSON.parse(sessionStorage.getItem(`loam.export.${sheetId}`) ?? '[]')
  return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : []
}

function Choice({
  label,
  checked,
  disabled = false,
  onChoose,
}: {
  label: string
  checked: boolean
  disabled?: boolean
  onChoose: () => void
}) {
  return (
    <label className="flex items-center gap-2">
      <input type="radio" name="rows" checked={checked} disabled={disabled} onChange={onChoose} />
      <span className={disabled ? 'text-muted' : ''}>{label}</span>
    </label>
  )
}

/** The progress of an export. Each poll creates a new link, so polling stops when the file is ready, until `New link` is pressed. */
function Progress({ sheet, id }: { sheet: SheetId; id: string }) {
  const status = useQuery({
    queryKey: keys.sheet(sheet.sheetId).export(id),
    queryFn: ({ signal }) =>
      fetchData(sheetCall(sheet, 'GET /export/:export_id', { params: { export_id: id } }), { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === 'running' ? 700 : false,
    refetchOnWindowFocus: false,
    gcTime: 0,
  })
  if (status.error !== null) return <Problem error={status.error} onRetry={() => void status.refetch()} />
  const { data } = status
  if (data?.status === 'failed') return <Problem error={new Error(data.error ?? 'The export failed')} />
  return (
    <section aria-label="Export" className="flex max-w-[440px] flex-col gap-3 rounded-lg border p-4">
      <ProgressBar label="Export progress" value={data?.progress ?? 0} max={100} />
      <p role="status" className="text-muted">
        {data === undefined ? 'Starting…' : `${plural(data.row_count, 'row')} written`}
      </p>
      {data?.file_url !== undefined && data.expires_at !== undefined && (
        <div className="flex flex-wrap items-center gap-3">
          <a
            href={data.file_url}
            download
            className="inline-flex items-center gap-1.5 font-medium text-accent-text underline"
          >
            <Download aria-hidden className="size-3.5" />
            Download
          </a>
          <LinkCountdown until={data.expires_at} />
          <Button size="small" busy={status.isFetching} onClick={() => void status.refetch()}>
            New link
          </Button>
        </div>
      )}
    </section>
  )
}

/** Counts down the validity of a signed link. Screen readers announce only its end. */
function LinkCountdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((new Date(until).getTime() - now) / 1000))
  if (seconds === 0) return <span role="status">The link has expired</span>
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return (
    <span className="text-muted tabular-nums">{`Link valid for ${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}`}</span>
  )
}
