import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { RecordField } from '#contract/segment-forms.ts'
import { get, request } from '../../api/client.ts'
import { inputsQuery } from '../../api/sheet.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { Checkbox } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import type { Segment } from './segment-dialog.tsx'

/** Members as rows of a workflow's main sheet, from now on. */
export function SyncSegment({ segment, onClose }: { segment: Segment; onClose: () => void }) {
  const [workflow, setWorkflow] = useState('')
  const [chosen, setChosen] = useState<Record<string, string>>({})
  const [pushExisting, setPushExisting] = useState(true)
  const [runs, setRuns] = useState(false)
  const [again, setAgain] = useState(false)
  const [cap, setCap] = useState('')
  const queries = useQueryClient()
  const workflows = useQuery(workflowsQuery)
  // The main sheet has the id of its workflow.
  const inputs = useQuery({
    ...inputsQuery({ workflowId: workflow, sheetId: workflow }),
    enabled: workflow !== '',
  })
  const known = useQuery({
    queryKey: ['record-fields', segment.entityKind],
    queryFn: ({ signal }) => get<RecordField[]>(`/internal/record-fields?kind=${segment.entityKind}`, signal),
  })
  const fields = (known.data ?? []).map(({ name }) => name)
  const names = (inputs.data ?? []).map(({ name }) => name)
  const fieldFor = (input: string) =>
    chosen[input] ?? fields.find((field) => field.toLowerCase() === input.toLowerCase()) ?? ''
  const body = {
    workflow_id: workflow,
    field_mapping: Object.fromEntries(
      names.flatMap((name) => (fieldFor(name) === '' ? [] : [[`input.${name}`, fieldFor(name)]])),
    ),
    push_existing: pushExisting,
    run: runs ? 'all' : 'none',
    reentry_mode: again ? 'repush' : 'suppress',
    ...spending(cap),
  }
  const path = `/records/segments/${segment.id}/sync`
  const sync = useMutation({
    mutationFn: () => request('POST', path, body),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: ['syncs'] })
      notify(warnings[0]?.message ?? `${segment.name} is synced`)
      onClose()
    },
  })
  const problemOf = (name: string) => problemWithin(sync.error, `field_mapping.input.${name}`)
  const capProblem = problemWithin(sync.error, 'max_credits')
  const failed = workflows.error ?? inputs.error ?? known.error
  const isShown = capProblem !== undefined || names.some((name) => problemOf(name) !== undefined)
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Sync ${segment.name}`}
      description="Whoever enters the segment becomes a row of the main sheet."
      submit={{
        label: 'Sync',
        onSubmit: () => sync.mutate(),
        busy: sync.isPending,
        disabled: Object.keys(body.field_mapping).length === 0,
      }}
      footer={<CopyAsCurl method="POST" path={path} body={body} />}
      error={isShown ? null : sync.error}
    >
      {failed !== null && <Problem error={failed} />}
      <Combobox
        label="Workflow"
        value={workflow}
        choices={(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name }))}
        onChange={(next) => {
          setWorkflow(next)
          setChosen({})
        }}
      />
      {inputs.data?.length === 0 && (
        <p role="status">This workflow has no inputs. Add one to its main sheet first.</p>
      )}
      {names.map((name) => (
        <Combobox
          key={`${workflow} ${name}`}
          label={`Field for ${name}`}
          value={fieldFor(name)}
          free
          choices={[{ value: '', label: 'Left empty' }, ...fields.map((field) => ({ value: field }))]}
          onChange={(field) => setChosen({ ...chosen, [name]: field })}
          problem={problemOf(name)}
        />
      ))}
      <Checkbox label="Push existing members" checked={pushExisting} onChange={setPushExisting} />
      <Checkbox label="Deliver again who comes back" checked={again} onChange={setAgain} />
      <Checkbox label="Run delivered rows" checked={runs} onChange={setRuns} />
      {runs && (
        <SpendAtMost
          value={cap}
          onChange={setCap}
          problem={capProblem}
          hint="Credits that the rows of a cycle may cost; empty: no cap"
        />
      )}
    </Dialog>
  )
}
