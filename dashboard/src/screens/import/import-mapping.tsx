import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { RunAfter as RunAfterSchema } from '#contract/rows.ts'
import type { FilePreview } from '#contract/screens.ts'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { type Input } from '../../api/sheet.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { Table } from '../../ui/table.tsx'
import { ImportProgress } from './import-progress.tsx'
import { guessTargets, guessType, NEW_INPUT, NOT_IMPORTED, type Uploaded } from './mapping.ts'

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
  const queries = useQueryClient()
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
  const start = useMutation({
    mutationFn: async () => {
      const added = mappedHeaders.filter(
        (header) => findTarget(header) === NEW_INPUT && !names.has(header.trim()),
      )
      if (added.length > 0) {
        const made = added.map((header) => ({
          name: header.trim(),
          type: guessType(rows.map((row) => row[headers.indexOf(header)] ?? null)),
        }))
        await send(sheetCall(sheet, 'POST /inputs', { body: made }))
        await queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).inputs })
      }
      await send(request)
    },
  })
  const capProblem = fieldProblem(start.error, 'max_credits')
  if (start.isSuccess) return <ImportProgress sheet={sheet} />
  return (
    <>
      {worksheets.length > 1 && (
        <div className="max-w-[320px]">
          <Combobox
            label="Worksheet"
            value={worksheet ?? worksheets[0] ?? ''}
            choices={worksheets}
            onChange={onWorksheet}
          />
        </div>
      )}
      {headers.length === 0 ? (
        <Problem
          error={
            new Error('Row 1 has no header that can be mapped. Each column needs a unique name in row 1')
          }
        />
      ) : (
        <Table
          label="Preview"
          columns={[
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
                <Combobox
                  label={`Input for ${header}`}
                  hideLabel
                  value={findTarget(header)}
                  choices={[
                    ...inputs.map(({ name }) => ({ value: name })),
                    ...(names.has(header.trim())
                      ? []
                      : [{ value: NEW_INPUT, label: 'New input', note: header.trim() }]),
                    { value: NOT_IMPORTED, label: 'Do not import' },
                  ]}
                  onChange={(target) => setTargets({ ...targets, [header]: target })}
                  problem={
                    repeated.has(mapping[header] ?? '') ? 'Another column is mapped to this input' : undefined
                  }
                />
              ),
            },
          ]}
          items={headers}
          getKey={(header) => header}
        />
      )}
      <div className="max-w-[320px]">
        <Combobox label="Run after import" value={runAfter} choices={RUN_AFTER} onChange={setRunAfter} />
      </div>
      {runAfter !== 'none' && (
        <div className="max-w-[320px]">
          <SpendAtMost value={cap} onChange={setCap} problem={capProblem} />
        </div>
      )}
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
