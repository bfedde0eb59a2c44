import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { SourceState } from '#contract/sources.ts'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { notify } from '../../ui/toasts.tsx'

/** The dialog that deletes a source. It lists what is lost and what stays. */
export function DeleteSource({ source, onClose }: { source: SourceState; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const canRead = useCan()('workflows:read')
  const workflows = useQuery({ ...workflowsQuery, enabled: canRead && source.syncs.length > 0 })
  const findName = (id: string) => {
    const found = workflows.data?.find(({ workflow_id }) => workflow_id === id)
    return found === undefined ? 'a workflow' : `“${found.name}”`
  }
  return (
    <ConfirmDialog
      title={`Delete ${source.name}`}
      verb="Delete"
      description="This cannot be undone."
      run={async () => {
        const params = { source_instance_id: source.source_instance_id }
        await send(call('DELETE /internal/sources/:source_instance_id', { params }))
        await navigate({ to: '/sources' })
        queries.removeQueries({ queryKey: keys.source(source.source_instance_id) })
        await queries.invalidateQueries({ queryKey: keys.sources })
        notify(`Deleted ${source.name}`)
      }}
      onClose={onClose}
    >
      <ul aria-label="Impact" className="flex list-disc flex-col gap-1 pl-4">
        {listImpact(source, findName).map((line) => (
          <li key={line} className="wrap-anywhere">
            {line}
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  )
}

function listImpact(
  { lead_count, syncs, pixel_script, schedule, status }: SourceState,
  findName: (workflowId: string) => string,
): string[] {
  const isGoing = status === 'active' && (schedule !== null || pixel_script !== undefined)
  return [
    `${plural(lead_count, 'imported record')} will be deleted.`,
    ...syncs.map(
      ({ workflow_id, delivered }) =>
        `${plural(delivered, 'row')} in ${findName(workflow_id)} will stay. No further rows will arrive there.`,
    ),
    ...(isGoing && schedule !== null ? ['The scheduled imports end.'] : []),
    ...(pixel_script === undefined
      ? []
      : ['The script on the website stops working. Remove it from the pages.']),
  ]
}
