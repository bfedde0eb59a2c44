import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SourceState } from '#contract/sources.ts'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FieldMapping, useFieldMapping } from '../../ui/field-mapping.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { Checkbox } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { listFields } from './record-table.tsx'
import { recordsQuery } from './source-records.tsx'
import { sourceTypesQuery } from './source-types.ts'

type OnChange = SourceState['syncs'][number]['on_change']
export const ON_CHANGE: readonly { value: OnChange; label: string }[] = [
  { value: 'ignore', label: 'Keep the row unchanged' },
  { value: 'update', label: 'Update the row' },
  { value: 'update_and_run', label: 'Update the row and run it' },
]

/** The dialog that syncs a source: its records become rows of a workflow's main sheet. */
export function SyncSource({
  source,
  workflow,
  onClose,
}: {
  source: SourceState
  /** The workflow whose sync is edited; empty for a new sync. */
  workflow: string
  onClose: () => void
}) {
  const id = source.source_instance_id
  const former = source.syncs.find(({ workflow_id }) => workflow_id === workflow)
  const [pushExisting, setPushExisting] = useState(former?.push_existing ?? true)
  const [onChange, setOnChange] = useState<OnChange>(former?.on_change ?? 'ignore')
  const [cap, setCap] = useState('')
  const queries = useQueryClient()
  const mapping = useFieldMapping(useRecordFields(source), former)
  const request = call('POST /sources/:source_instance_id/sync', {
    params: { source_instance_id: id },
    body: { ...mapping.body, push_existing: pushExisting, on_change: onChange, ...spending(cap) },
  })
  const sync = useMutation({
    mutationFn: () => send(request),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: keys.source(id) })
      notify(warnings[0]?.message ?? 'Synced the source')
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
      title={former === undefined ? 'Sync to a workflow' : 'Edit sync'}
      description={
        former === undefined
          ? 'Each record becomes a row of the main sheet. A second sync with the same workflow replaces the first.'
          : 'Rows that are already there stay. Columns that were empty because of the mapping are filled.'
      }
      submit={{
        label: former === undefined ? 'Sync' : 'Save',
        onSubmit: () => sync.mutate(),
        busy: sync.isPending,
        disabled: mapping.isEmpty,
      }}
      footer={<CopyAsCurl call={request} />}
      error={isShown ? null : sync.error}
    >
      <FieldMapping mapping={mapping} error={sync.error} />
      <Combobox label="When a record changes" value={onChange} choices={ON_CHANGE} onChange={setOnChange} />
      <SpendAtMost
        value={cap}
        onChange={setCap}
        problem={capProblem}
        hint="Daily credit limit for the rows this sync starts (optional)"
      />
      <Checkbox label="Add the records imported so far" checked={pushExisting} onChange={setPushExisting} />
    </Dialog>
  )
}

function useRecordFields({ source_instance_id: id, source_id, lead_count }: SourceState): string[] {
  const types = useQuery(sourceTypesQuery)
  const records = useQuery(recordsQuery(id, 1, lead_count))
  const known = types.data?.find((type) => type.source_id === source_id)?.record_fields
  return known ?? listFields(records.data?.rows ?? [])
}
