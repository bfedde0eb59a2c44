import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SourceInstance } from '#contract/sources.ts'
import { request } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'

type Named = Pick<SourceInstance, 'source_instance_id' | 'name' | 'status'>

/** Nothing for a source that has ended, and for who may not change it. */
export function PauseButton({ source: { source_instance_id: id, name, status } }: { source: Named }) {
  const canWrite = useCan()('sources:write')
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (to: 'paused' | 'active') => request('PATCH', `/sources/${id}/status`, { status: to }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sources'] }),
    onError: notifyProblem,
  })
  const isActive = status === 'active'
  if (!canWrite || !(isActive || status === 'paused' || status === 'paused_out_of_credits')) return null
  return (
    <Button
      size="small"
      busy={change.isPending}
      onClick={() => change.mutate(isActive ? 'paused' : 'active')}
      aria-label={`${isActive ? 'Pause' : 'Resume'} ${name}`}
    >
      {isActive ? 'Pause' : 'Resume'}
    </Button>
  )
}

export function statusWords(status: SourceInstance['status']): string {
  return status === 'paused_out_of_credits' ? 'paused, out of credits' : status
}
