import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** The dialog that removes a member. It first shows what will stop working. */
export function RemoveMember({ email, onClose }: { email: string; onClose: () => void }) {
  const queries = useQueryClient()
  const impact = useQuery({
    queryKey: keys.removalImpact(email),
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/members/:email/impact', { params: { email } }), { signal }),
    gcTime: 0,
  })
  return (
    <ConfirmDialog
      title={`Remove ${email}`}
      description="Their sessions and API keys stop working at once."
      verb="Remove"
      run={async () => {
        await send(call('DELETE /internal/members/:email', { params: { email } }))
        await queries.invalidateQueries({ queryKey: keys.members })
      }}
      onClose={onClose}
    >
      {impact.error !== null ? (
        <Problem error={impact.error} onRetry={() => void impact.refetch()} />
      ) : impact.data === undefined ? (
        <Skeleton />
      ) : (
        <ul aria-label="Impact" className="flex list-inside list-disc flex-col gap-1">
          {impact.data.warnings.length === 0 && <li>Nothing else is affected.</li>}
          {impact.data.warnings.map(({ code, message, resources = [] }) => (
            <li key={code}>
              {message}
              {resources.length > 0 && (
                <span className="text-muted">{`: ${resources.map(({ name }) => name).join(', ')}`}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </ConfirmDialog>
  )
}
