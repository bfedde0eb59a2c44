import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import type { Workflow } from '../../api/workflows.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Copy, MoreHorizontal, Pencil, Trash2, Users, Zap } from '../../ui/icons.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { ShareWorkflow } from './share-workflow.tsx'

export function WorkflowActions({ workflow }: { workflow: Workflow }) {
  const [dialog, setDialog] = useState<'rename' | 'share' | 'delete' | null>(null)
  const can = useCan()
  const go = useGo()
  const refresh = useRefreshWorkflows()
  const { workflow_id, name } = workflow
  const duplicate = async () => {
    try {
      await send(
        call('POST /workflows/:workflow_id/duplicate', {
          params: { workflow_id },
          body: { name: `${name} copy` },
        }),
      )
      await refresh()
      notify(`Created ${name} copy`)
    } catch (error) {
      notifyProblem(error)
    }
  }
  const close = () => setDialog(null)
  if (!can('workflows:write')) return null
  return (
    <>
      <Menu
        trigger={
          <Button kind="ghost" icon={MoreHorizontal} iconOnly>
            {`Actions for ${name}`}
          </Button>
        }
      >
        <MenuItem icon={Pencil} onSelect={() => setDialog('rename')}>
          Rename
        </MenuItem>
        <MenuItem icon={Copy} onSelect={() => void duplicate()}>
          Duplicate
        </MenuItem>
        <MenuItem icon={Users} onSelect={() => setDialog('share')}>
          Share
        </MenuItem>
        {can('shortcuts:read') && (
          <MenuItem icon={Zap} onSelect={() => go(`/shortcuts?publish=${workflow_id}`)}>
            Publish as shortcut
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem icon={Trash2} danger onSelect={() => setDialog('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {dialog === 'rename' && <Rename workflow={workflow} onClose={close} />}
      {dialog === 'share' && <ShareWorkflow workflow={workflow} onClose={close} />}
      {dialog === 'delete' && <Delete workflow={workflow} onClose={close} />}
    </>
  )
}

function useRefreshWorkflows() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: keys.workflows })
}

function Rename({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  return (
    <NameDialog
      title="Rename workflow"
      start={workflow.name}
      save={(name) =>
        send(
          call('PATCH /workflows/:workflow_id/name', {
            params: { workflow_id: workflow.workflow_id },
            body: { name },
          }),
        )
      }
      onSaved={useRefreshWorkflows()}
      onClose={onClose}
    />
  )
}

function Delete({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const refresh = useRefreshWorkflows()
  const remove = useMutation({
    mutationFn: () =>
      send(call('DELETE /workflows/:workflow_id', { params: { workflow_id: workflow.workflow_id } })),
    onSuccess: async () => {
      await refresh()
      notify(`Deleted ${workflow.name}`)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete ${workflow.name}`}
      description="This permanently deletes its sheets, rows and run history."
      submit={{
        label: 'Delete',
        kind: 'danger',
        onSubmit: () => remove.mutate(),
        disabled: typed !== workflow.name,
        busy: remove.isPending,
      }}
      error={remove.error}
    >
      <TextField label="Type the name to confirm" value={typed} onChange={setTyped} autoFocus />
    </Dialog>
  )
}
