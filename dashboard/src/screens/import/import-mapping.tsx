import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { RunAfter as RunAfterSchema } from '#contract/rows.ts'
import type { FilePreview } from '#contract/screens.ts'
import { type Call, type SheetBody, sheetCall, type SheetId } from '../../api/calls.ts'
import { fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { Input } from '../../api/sheet.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ImportProgress } from './import-progress.tsx'
import { guessTargets, guessType, NEW_INPUT, NOT_IMPORTED, type Target, type Uploaded } from './mapping.ts'

type Props = {
  sheet: SheetId
  file: Uploaded
  preview: FilePreview
  inputs: readonly Input[]
  worksheet: string | null
  onWorksheet: (name: string) => void
}

type RunAfter = z.infer<typeof RunAfterSchema>
const RUN_AFTER: readonly { value: RunAfter; label: string }[] = [
  { value: 'none', label: 'Nothing' },
  { value: 'first_10', label: 'First 10 rows' },
  { value: 'all', label: 'All rows' },
]

/** The form that maps columns of a file to inputs. Missing inputs are created when the import starts. */
export function ImportMapping({ sheet, file, preview, inputs, worksheet, onWorksheet }: Props) {
  const { headers, rows, worksheets } = preview
  const [targets, setTargets] = useState(() => guessTargets(headers, inputs))
  const [runAfter, setRunAfter] = useState<RunAfter>('none')
  const [cap, setCap] = useState('')
  const names = new Set(inputs.map(({ name }) => name))
  const findTarget = (header: string) => targets[header] ?? NOT_IMPORTED
  const mappedHeaders = headers.filter((header) => findTarget(header) !== NOT_IMPORTED)
  const mapping = Object.fromEntries(
    mappedHeaders.map((header) => [
      header,
      findTarget(header) === NEW_INPUT ? header.trim() : findTarget(header),
    ]),
  )
  const repeated = findRepeated(Object.values(mapping))
  const request = sheetCall(sheet, 'POST /csv', {
    body: {
      file_ref: file.fileRef,
      mapping,
      run_after_import: runAfter,
      ...(worksheet === null ? {} : { sheet_name: worksheet }),
      ...(runAfter === 'none' ? {} : spending(cap)),
    },
  })
  const added = mappedHeaders.filter(
    (header) => findTarget(header) === NEW_INPUT && !names.has(header.trim()),
  )
  const start = useStartImport(
    sheet,
    added.map((header) => ({
      name: header.trim(),
      type: guessType(rows.map((row) => row[headers.indexOf(header)] ?? null)),
    })),
    request,
  )
  const capProblem = fieldProblem(start.error, 'max_credits')
  if (start.isSuccess) return <ImportProgress sheet={sheet} />
  return (
    <>
      {worksheets.length > 1 && <Worksheets names={worksheets} chosen={worksheet} onChoose={onWorksheet} />}
      {headers.length === 0 ? (
        <Problem
          error={
            new Error('Row 1 has no header that can be mapped. Each column needs a unique name in row 1')
          }
        />
      ) : (
        <Table
          label="Preview"
          columns={buildColumns({
            headers,
            rows,
            inputs,
            findTarget,
            isRepeated: (header) => repeated.has(mapping[header] ?? ''),
            choose: (header, target) => setTargets({ ...targets, [header]: target }),
          })}
          items={headers}
          getKey={(header) => header}
        />
      )}
      <RunChoice value={runAfter} onChange={setRunAfter} cap={cap} onCap={setCap} problem={capProblem} />
      {start.error !== null && capProblem === undefined && <Problem error={start.error} />}
      <div className="flex flex-wrap gap-2">
        <Button
          kind="primary"
          busy={start.isPending}
          disabled={mappedHeaders.length === 0 || repeated.size > 0}
          onClick={() => start.mutate()}
        >
          Start import
        </Button>
        <CopyAsCurl call={request} />
      </div>
    </>
  )
}

/** The choice of a worksheet; the first by default. */
function Worksheets({
  names,
  chosen,
  onChoose,
}: {
  names: readonly string[]
  chosen: string | null
  onChoose: (name: string) => void
}) {
  return (
    <div className="max-w-[320px]">
      <Combobox label="Worksheet" value={chosen ?? names[0] ?? ''} choices={names} onChange={onChoose} />
    </div>
  )
}

/** The choice of rows to run after the import, with a credit limit if any run. */
function RunChoice({
  value,
  onChange,
  cap,
  onCap,
  problem,
}: {
  value: RunAfter
  onChange: (value: RunAfter) => void
  cap: string
  onCap: (cap: string) => void
  problem: string | undefined
}) {
  return (
    <>
      <div className="max-w-[320px]">
        <Combobox label="Run after import" value={value} choices={RUN_AFTER} onChange={onChange} />
      </div>
      {value !== 'none' && (
        <div className="max-w-[320px]">
          <SpendAtMost value={cap} onChange={onCap} problem={problem} />
        </div>
      )}
    </>
  )
}

/** Returns the mutation that creates the missing inputs and then starts the import. */
function useStartImport(sheet: SheetId, missing: SheetBody<'POST /inputs'>, request: Call<unknown>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      if (missing.length > 0) {
        await send(sheetCall(sheet, 'POST /inputs', { body: missing }))
        await queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).inputs })
      }
      await send(request)
    },
  })
}

type HeaderTable = {
  headers: readonly string[]
  rows: FilePreview['rows']
  inputs: readonly Input[]
  findTarget: (header: string) => Target
  /** Returns true if another column is mapped to the same input. */
  isRepeated: (header: string) => boolean
  choose: (header: string, target: Target) => void
}

function buildColumns({
  headers,
  rows,
  inputs,
  findTarget,
  isRepeated,
  choose,
}: HeaderTable): readonly Column<string>[] {
  const chooseNew = (header: string) =>
    inputs.some(({ name }) => name === header.trim())
      ? []
      : [{ value: NEW_INPUT, label: 'New input', note: header.trim() }]
  return [
    {
      name: 'File column',
      cell: (header) => <span className="font-medium break-words">{header}</span>,
    },
    {
      name: 'First values',
      wideOnly: true,
      cell: (header) => <Samples rows={rows} place={headers.indexOf(header)} />,
    },
    {
      name: 'Input',
      cell: (header) => (
        <div className="min-w-[180px]">
          <Combobox
            label={`Input for ${header}`}
            hideLabel
            value={findTarget(header)}
            choices={[
              ...inputs.map(({ name }) => ({ value: name })),
              ...chooseNew(header),
              { value: NOT_IMPORTED, label: 'Do not import' },
            ]}
            onChange={(target) => choose(header, target)}
            problem={isRepeated(header) ? 'Another column is mapped to this input' : undefined}
          />
        </div>
      ),
    },
  ]
}

function Samples({ rows, place }: { rows: readonly (string | null)[][]; place: number }) {
  const values = rows.map((row) => row[place]).filter((value) => value !== null && value !== undefined)
  return (
    <span className="line-clamp-2 break-words text-muted">
      {values.length === 0 ? 'empty' : values.join(' · ')}
    </span>
  )
}

function findRepeated(names: readonly string[]): Set<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) !== place))
}
