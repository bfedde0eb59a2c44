import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { NameDialog } from '../../ui/name-dialog.tsx'

/** The dialog that creates a workflow and then opens its blank sheet. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return (
    <NameDialog
      title="New workflow"
      verb="Create"
      save={(name) => fetchData(call('POST /workflows', { body: { name } }))}
      onSaved={async ({ workflow_id: id }) => {
        await queries.invalidateQueries({ queryKey: keys.workflows })
        await navigate({
          to: '/workflows/$workflowId/sheets/$sheetId',
          params: { workflowId: id, sheetId: id },
        })
      }}
      onClose={onClose}
    />
  )
}
