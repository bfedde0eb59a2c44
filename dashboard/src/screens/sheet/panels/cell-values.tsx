import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { CellDetail } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import type { ActionColumn } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'
import { Group } from './panel.tsx'
import { ValueActions } from './value-actions.tsx'
import { ValueTree, ValueView } from './value-view.tsx'

/** The outputs of a complete cell. */
export function CellValue({ detail, action }: { detail: CellDetail; action: string }) {
  return (
    <Outputs outputs={detail.outputs} large={detail.outputs_ref}>
      {(value) => (
        <ValueView value={value} actionsOf={(line) => <ValueActions action={action} line={line} />} />
      )}
    </Outputs>
  )
}

/** The result that a failed cell had before, with a button that restores it. */
export function FormerValue({
  rowId,
  action,
  previous,
}: {
  rowId: string
  action: string
  previous: NonNullable<CellDetail['previous']>
}) {
  const { sheet, can, refresh } = useSheet()
  const queries = useQueryClient()
  const restore = useMutation({
    mutationFn: () =>
      send(
        sheetCall(sheet, 'POST /rows/:row_id/cells/:action_instance_id/restore', {
          params: { row_id: rowId, action_instance_id: action },
        }),
      ),
    onSuccess: () => {
      notify('Former result restored')
      void queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).cells })
      refresh()
    },
    onError: (error) => notifyProblem(error),
  })
  return (
    <Group name="Former result">
      <p className="text-muted">
        {`From ${new Date(previous.completed_at).toLocaleString()}, ${plural(previous.credits, 'credit')}. It is kept for 7 days.`}
      </p>
      <Outputs outputs={previous.outputs} large={previous.outputs_ref}>
        {(value) => <ValueTree label="Former value" value={value} />}
      </Outputs>
      {can.edit && (
        <div>
          <Button busy={restore.isPending} onClick={() => restore.mutate()}>
            Restore
          </Button>
        </div>
      )}
    </Group>
  )
}

/** Outputs, or a button that loads them if they are large. */
export function Outputs({
  outputs,
  large,
  children,
}: {
  outputs: unknown
  large: CellDetail['outputs_ref']
  children: (value: unknown) => React.ReactNode
}) {
  const [isWanted, setWanted] = useState(false)
  const url = large?.url
  const loaded = useQuery({
    queryKey: keys.outputs(url),
    enabled: isWanted && url !== undefined,
    queryFn: ({ signal }) => readOutputs(url ?? '', signal),
  })
  if (url === undefined) return children(outputs ?? null)
  if (loaded.data !== undefined) return children(loaded.data)
  if (loaded.error !== null) return <Problem error={loaded.error} onRetry={() => void loaded.refetch()} />
  return (
    <Button busy={loaded.isFetching} onClick={() => setWanted(true)}>
      {`Load ${Math.ceil((large?.size_bytes ?? 0) / 1024).toLocaleString('en')} KB`}
    </Button>
  )
}

/** Reads large outputs. The URL is that of the public API, and a session reads the same path under `/internal`. */
async function readOutputs(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(`/internal${new URL(url).pathname}`, { signal })
  if (!response.ok) throw new Error(`The outputs could not be loaded (status ${response.status})`)
  return response.json()
}

/** The value of the choice of no single output. No output has an empty name. */
const FIRST = ''

/** The choice of the output that the column shows in the grid. */
export function ShownOutput({ column, outputs }: { column: ActionColumn; outputs: unknown }) {
  const { layout, setLayout } = useSheet()
  const found = typeof outputs === 'object' && outputs !== null ? Object.keys(outputs) : []
  const names = [...new Set([...column.outputs, ...found])]
  if (names.length < 2) return null
  const choose = (name: string) => {
    const { [column.key]: _, ...others } = layout.shown
    setLayout({ ...layout, shown: name === FIRST ? others : { ...others, [column.key]: name } })
  }
  return (
    <Combobox
      label="Column shows"
      value={layout.shown[column.key] ?? FIRST}
      choices={[
        { value: FIRST, label: 'The first value that is not empty' },
        ...names.map((name) => ({ value: name, label: labelOf(name) })),
      ]}
      onChange={choose}
    />
  )
}

/** Returns the name of an output in words. */
export function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
