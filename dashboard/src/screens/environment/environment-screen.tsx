import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { Variable as VariableSchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem, LIVE, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Variable as VariableIcon } from '../../ui/icons.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'

type Variable = z.infer<typeof VariableSchema>
type OpenDialog = { verb: 'new' } | { verb: 'replace' | 'delete'; variable: Variable }

/** The screen of environment variables. Their values can be set but never read; actions use them as `{{env.KEY}}`. */
export function Screen() {
  const variables = useQuery({
    queryKey: keys.environment,
    queryFn: ({ signal }) => fetchData(call('GET /internal/environment'), { signal }),
    ...LIVE,
  })
  const can = useCan()
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.environment })
  const close = () => setDialog(null)
  const canWrite = can('workflows:write')
  return (
    <LoadedPage
      title="Environment"
      query={variables}
      actions={
        canWrite && (
          <Button kind="primary" icon={VariableIcon} onClick={() => setDialog({ verb: 'new' })}>
            New variable
          </Button>
        )
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={VariableIcon}
              title="No variables yet"
              text="Store tokens and addresses here instead of in configurations. An action refers to a variable by name, and nobody can read its value."
            >
              {canWrite && <Button onClick={() => setDialog({ verb: 'new' })}>Set the first variable</Button>}
            </EmptyState>
          ) : (
            <Table
              label="Variables"
              items={list}
              getKey={({ key, workflow_id }) => `${key} ${workflow_id ?? ''}`}
              columns={buildColumns(canWrite ? setDialog : null)}
            />
          )}
          {dialog?.verb === 'new' && <SetVariable onSet={refresh} onClose={close} />}
          {dialog?.verb === 'replace' && (
            <SetVariable variable={dialog.variable} onSet={refresh} onClose={close} />
          )}
          {dialog?.verb === 'delete' && (
            <ConfirmDialog
              title={`Delete ${dialog.variable.key}`}
              description="Actions that use this variable will fail."
              verb="Delete"
              run={async () => {
                const { key, workflow_id } = dialog.variable
                await send(
                  call('DELETE /internal/environment/:key', {
                    params: { key },
                    query: { workflow_id: workflow_id ?? undefined },
                  }),
                )
                await refresh()
              }}
              onClose={close}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

/** Returns the columns of the table. `open` is null if the person may not change variables. */
function buildColumns(open: ((dialog: OpenDialog) => void) | null): readonly Column<Variable>[] {
  return [
    { name: 'Key', cell: ({ key }) => <code className="font-medium break-all">{key}</code> },
    { name: 'Workflow', cell: ({ workflow_name }) => workflow_name ?? 'All workflows' },
    { name: 'Updated', wideOnly: true, cell: ({ updated_at }) => <TimeText at={updated_at} /> },
    {
      name: 'Updated by',
      cell: ({ updated_by }) => <span className="long-text">{updated_by}</span>,
    },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (variable) =>
        open !== null && (
          <RowActions>
            <RowAction verb="Replace" of={variable.key} onClick={() => open({ verb: 'replace', variable })} />
            <RowAction verb="Delete" of={variable.key} onClick={() => open({ verb: 'delete', variable })} />
          </RowActions>
        ),
    },
  ]
}

function SetVariable({
  variable,
  onSet,
  onClose,
}: {
  variable?: Variable
  onSet: () => Promise<void>
  onClose: () => void
}) {
  const workflows = useQuery(workflowsQuery)
  const [key, setKey] = useState(variable?.key ?? '')
  const [value, setValue] = useState('')
  const [workflow, setWorkflow] = useState(variable?.workflow_id ?? '')
  const save = useMutation({
    mutationFn: () =>
      send(
        call('PUT /internal/environment', {
          body: { key, value, workflow_id: workflow === '' ? null : workflow },
        }),
      ),
    onSuccess: async () => {
      await onSet()
      onClose()
    },
  })
  const problems = { key: fieldProblem(save.error, 'key'), value: fieldProblem(save.error, 'value') }
  const isNew = variable === undefined
  return (
    <Dialog
      open
      onClose={onClose}
      title={isNew ? 'New variable' : `Replace ${variable.key}`}
      submit={{ label: 'Save', onSubmit: () => save.mutate(), busy: save.isPending }}
      error={problems.key === undefined && problems.value === undefined ? save.error : null}
    >
      <TextField
        label="Key"
        value={key}
        {...(isNew ? { onChange: setKey } : {})}
        problem={problems.key}
        autoFocus={isNew}
      />
      <TextField
        label="Value"
        className="masked"
        spellCheck={false}
        value={value}
        onChange={setValue}
        problem={problems.value}
        autoFocus={!isNew}
        hint="The value is stored encrypted and not shown again."
      />
      <Combobox
        label="Workflow"
        value={workflow}
        disabled={!isNew}
        choices={[
          { value: '', label: 'All workflows' },
          ...(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
        ]}
        onChange={setWorkflow}
      />
    </Dialog>
  )
}
