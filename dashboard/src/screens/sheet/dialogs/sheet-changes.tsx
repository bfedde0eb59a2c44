import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, sheetCall, type SheetId, sheetPath } from '../../../api/calls.ts'
import { fetchData, fieldProblem, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { type RosterSheet } from '../../../api/workflows.ts'
import { useGo } from '../../../frame/go.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { NameDialog } from '../../../ui/name-dialog.tsx'
import { Checkbox, TextField } from '../../../ui/text-field.tsx'
import { useSheet } from '../sheet-view.ts'

function useRefreshTabs() {
  const queries = useQueryClient()
  const { sheet } = useSheet()
  return () => queries.invalidateQueries({ queryKey: keys.workflow(sheet.workflowId) })
}

const sheetParams = ({ workflowId, sheetId }: SheetId) => ({ workflow_id: workflowId, sheet_id: sheetId })

export function AddSheet({ onClose }: { onClose: () => void }) {
  const { sheet } = useSheet()
  const go = useGo()
  const refresh = useRefreshTabs()
  return (
    <NameDialog
      title="Add sheet"
      verb="Add"
      save={(name) =>
        fetchData(
          call('POST /workflows/:workflow_id/sheets', {
            params: { workflow_id: sheet.workflowId },
            body: { name },
          }),
        )
      }
      onSaved={async ({ sheet_id }) => {
        await refresh()
        go(sheetPath({ ...sheet, sheetId: sheet_id }))
      }}
      onClose={onClose}
    />
  )
}

export function RenameSheet({ tab, onClose }: { tab: RosterSheet; onClose: () => void }) {
  const { sheet } = useSheet()
  return (
    <NameDialog
      title="Rename sheet"
      start={tab.name}
      save={(name) => send(sheetCall(sheet, 'PATCH /name', { body: { name } }))}
      onSaved={useRefreshTabs()}
      onClose={onClose}
    />
  )
}

export function SheetSettings({ tab, onClose }: { tab: RosterSheet; onClose: () => void }) {
  const { sheet } = useSheet()
  const refresh = useRefreshTabs()
  const [autoRun, setAutoRun] = useState(tab.auto_run)
  const [cache, setCache] = useState(tab.cache_enabled)
  const [since, setSince] = useState(tab.cache_since ?? '')
  const save = useMutation({
    mutationFn: () =>
      send(
        call('PATCH /workflows/:workflow_id/sheets/:sheet_id', {
          params: sheetParams(sheet),
          body: { auto_run: autoRun, cache_enabled: cache, cache_since: since === '' ? null : since },
        }),
      ),
    onSuccess: async () => {
      await refresh()
      onClose()
    },
  })
  const problem = fieldProblem(save.error, 'cache_since')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Sheet settings"
      description="These settings apply to rows that arrive from now on."
      submit={{ label: 'Save', onSubmit: () => save.mutate(), busy: save.isPending }}
      error={problem === undefined ? save.error : null}
    >
      <Checkbox label="Run rows as they arrive" checked={autoRun} onChange={setAutoRun} />
      <Checkbox label="Reuse cached results (free)" checked={cache} onChange={setCache} />
      <TextField
        label="Reuse results since"
        type="date"
        value={since}
        onChange={setSince}
        problem={problem}
        disabled={!cache}
        hint="A UTC date (optional). If empty, results of any age are reused."
      />
    </Dialog>
  )
}

export function DeleteSheet({ tab, onClose }: { tab: RosterSheet; onClose: () => void }) {
  const { sheet } = useSheet()
  const go = useGo()
  const refresh = useRefreshTabs()
  const remove = useMutation({
    mutationFn: () =>
      send(call('DELETE /workflows/:workflow_id/sheets/:sheet_id', { params: sheetParams(sheet) })),
    onSuccess: async () => {
      onClose()
      go(`/workflows/${sheet.workflowId}`)
      await refresh()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete ${tab.name}`}
      description="This permanently deletes its actions, rows and run history."
      submit={{ label: 'Delete', kind: 'danger', onSubmit: () => remove.mutate(), busy: remove.isPending }}
      error={remove.error}
    />
  )
}
