import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FieldMapping, useFieldMapping } from '../../ui/field-mapping.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { Checkbox } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import type { Segment } from './segment-dialog.tsx'

/** The dialog that syncs a segment: its members become rows of a workflow's main sheet. */
export function SyncSegment({ segment, onClose }: { segment: Segment; onClose: () => void }) {
  const [pushExisting, setPushExisting] = useState(true)
  const [runs, setRuns] = useState(false)
  const [redelivers, setRedelivers] = useState(false)
  const [cap, setCap] = useState('')
  const queries = useQueryClient()
  const known = useQuery({
    queryKey: keys.recordFields(segment.entityKind),
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/record-fields', { query: { kind: segment.entityKind } }), { signal }),
  })
  const mapping = useFieldMapping((known.data ?? []).map(({ name }) => name))
  const request = call('POST /records/segments/:segment_id/sync', {
    params: { segment_id: segment.id },
    body: {
      ...mapping.body,
      push_existing: pushExisting,
      run: runs ? 'all' : 'none',
      reentry_mode: redelivers ? 'repush' : 'suppress',
      ...spending(cap),
    },
  })
  const sync = useMutation({
    mutationFn: () => send(request),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: keys.syncs })
      notify(warnings[0]?.message ?? `Synced ${segment.name}`)
      onClose()
    },
  })
  const capProblem = problemWithin(sync.error, 'max_credits')
  const isShown =
    capProblem !== undefined ||
    mapping.names.some((name) => mapping.findProblem(sync.error, name) !== undefined)
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Sync ${segment.name}`}
      description="Each member becomes a row of the workflow's main sheet."
      submit={{
        label: 'Sync',
        onSubmit: () => sync.mutate(),
        busy: sync.isPending,
        disabled: mapping.isEmpty,
      }}
      footer={<CopyAsCurl call={request} />}
      error={isShown ? null : sync.error}
    >
      {known.error !== null && <Problem error={known.error} />}
      <FieldMapping mapping={mapping} error={sync.error} />
      <Checkbox label="Push existing members" checked={pushExisting} onChange={setPushExisting} />
      <Checkbox label="Re-deliver members that return" checked={redelivers} onChange={setRedelivers} />
      <Checkbox label="Run delivered rows" checked={runs} onChange={setRuns} />
      {runs && (
        <SpendAtMost
          value={cap}
          onChange={setCap}
          problem={capProblem}
          hint="Credit limit for the rows of each sync cycle (optional)"
        />
      )}
    </Dialog>
  )
}
