import { useQuery } from '@tanstack/react-query'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { plural } from '../../../ui/figure.ts'
import { credits } from '../runs/run-dialog.tsx'
import { useSheet } from '../sheet-view.ts'
import { Group } from './panel.tsx'

const SETTLED = ['complete', 'failed', 'error', 'out_of_credits', 'condition_not_met'] as const

/** The cost of a changed configuration: an estimate for running all rows that have a result again. */
export function Impact({ action }: { action: string }) {
  const { sheet } = useSheet()
  const call = sheetCall(sheet, 'POST /estimate', {
    body: {
      status_filters: [{ action_instance_id: action, is: SETTLED }],
      action_instance_id: action,
      run_next_action: true,
    },
  })
  const { data } = useQuery({
    queryKey: keys.estimate(call),
    staleTime: 10_000,
    queryFn: () => fetchData(call),
  })
  const text =
    data === undefined
      ? ''
      : data.rows === 0
        ? 'No results yet'
        : `${plural(data.rows, 'row')} run and bill again, at most ${credits(data.credits.at_most ?? 0)}`
  return (
    <Group name="Affected by this change">
      <p role="status" aria-label="Impact" className="min-h-5 text-muted">
        {text}
      </p>
    </Group>
  )
}
