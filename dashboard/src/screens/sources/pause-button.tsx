import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SourceInstance } from '#contract/sources.ts'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'

type Named = Pick<SourceInstance, 'source_instance_id' | 'name' | 'status'>

/** The button that pauses or resumes a source. It is not rendered if the source has ended or the person may not change it. */
export function PauseButton({
  source: { source_instance_id: id, name, status },
  size = 'normal',
}: {
  source: Named
  size?: 'small' | 'normal'
}) {
  const canWrite = useCan()('sources:write')
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (to: 'paused' | 'active') =>
      send(
        call('PATCH /sources/:source_instance_id/status', {
          params: { source_instance_id: id },
          body: { status: to },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.sources }),
    onError: (error, to) => notifyProblem(error, () => change.mutate(to)),
  })
  const isActive = status === 'active'
  if (!canWrite || !(isActive || status === 'paused' || status === 'paused_out_of_credits')) return null
  return (
    <Button
      size={size}
      busy={change.isPending}
      onClick={() => change.mutate(isActive ? 'paused' : 'active')}
      aria-label={`${isActive ? 'Pause' : 'Resume'} ${name}`}
    >
      {isActive ? 'Pause' : 'Resume'}
    </Button>
  )
}

const TONES: Record<SourceInstance['status'], Tone> = {
  active: 'good',
  completed: 'quiet',
  paused: 'warning',
  paused_out_of_credits: 'warning',
  expired: 'quiet',
  deleted: 'quiet',
}

const WORDS: Record<SourceInstance['status'], string> = {
  active: 'Active',
  completed: 'Completed',
  paused: 'Paused',
  paused_out_of_credits: 'Paused, out of credits',
  expired: 'Ended',
  deleted: 'Deleted',
}

export function SourceStatus({ status }: { status: SourceInstance['status'] }) {
  return <Badge tone={TONES[status]}>{WORDS[status]}</Badge>
}
