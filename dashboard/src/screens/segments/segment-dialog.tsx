import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { EntityKind } from '#contract/records.ts'
import type { RecordField, SegmentPreview } from '#contract/segment-forms.ts'
import type { SegmentSummary } from '#contract/segments.ts'
import { call } from '../../api/calls.ts'
import { ApiError, fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { figure, plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { Checkbox, TextArea, TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { getRecordName } from '../records/record-name.ts'
import { FilterBuilder } from './filter-builder.tsx'
import { type Group, printFilter, readFilter } from './filter-groups.ts'

export type Segment = z.infer<typeof SegmentSummary>

const KINDS: readonly { value: EntityKind; label: string }[] = [
  { value: 'company', label: 'Companies' },
  { value: 'person', label: 'People' },
  { value: 'contact', label: 'Contacts' },
]

/** The dialog that creates a segment, or changes the name or filter of an existing one. */
export function SegmentDialog({ segment, onClose }: { segment: Segment | null; onClose: () => void }) {
  const stored = segment === null ? [] : readFilter(segment.filter)
  const [name, setName] = useState(segment?.name ?? '')
  const [kind, setKind] = useState<EntityKind>(segment?.entityKind ?? 'company')
  const [groups, setGroups] = useState<Group[]>(stored ?? [])
  const [json, setJson] = useState<string | null>(
    stored === null ? JSON.stringify(segment?.filter, null, 2) : null,
  )
  const fields = useQuery({
    queryKey: keys.recordFields(kind),
    queryFn: ({ signal }) => fetchData(call('GET /internal/record-fields', { query: { kind } }), { signal }),
  })
  const buildFilter = () => (json === null ? printFilter(groups) : parseJson(json))
  const preview = useMutation({
    mutationFn: async () =>
      send(call('POST /internal/segments/preview', { body: { kind, filter: buildFilter() } })),
  })
  const save = useSave(segment, () => ({ name, kind, filter: buildFilter() }), onClose)
  const error = save.error ?? preview.error
  const nameProblem = problemWithin(error, 'name')
  const isBuilt = json === null && groups.length > 0
  const isShown = nameProblem !== undefined || (isBuilt && problemWithin(error, 'filter') !== undefined)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={segment === null ? 'New segment' : `Edit ${segment.name}`}
      submit={{
        label: segment === null ? 'Create' : 'Save',
        onSubmit: () => {
          preview.reset()
          save.mutate()
        },
        busy: save.isPending,
      }}
      footer={
        <Button
          busy={preview.isPending}
          onClick={() => {
            save.reset()
            preview.mutate()
          }}
        >
          Preview
        </Button>
      }
      error={isShown ? null : error}
    >
      <TextField label="Name" value={name} onChange={setName} problem={nameProblem} />
      {segment === null && <Combobox label="Kind" value={kind} choices={KINDS} onChange={setKind} />}
      {fields.error !== null && <Problem error={fields.error} onRetry={() => void fields.refetch()} />}
      <FilterField
        groups={groups}
        onGroups={setGroups}
        json={json}
        onJson={setJson}
        fields={fields.data ?? []}
        error={error}
      />
      {preview.data !== undefined && (
        <Previewed
          preview={preview.data.data}
          warnings={preview.data.warnings.map(({ message }) => message)}
        />
      )}
    </Dialog>
  )
}

/** Returns the mutation that creates or changes a segment. `build` throws if the filter is not JSON. */
function useSave(
  segment: Segment | null,
  build: () => { name: string; kind: EntityKind; filter: unknown },
  onClose: () => void,
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const { kind, ...body } = build()
      if (segment === null) return send(call('POST /internal/segments', { body: { kind, ...body } }))
      return send(call('PATCH /internal/segments/:segment_id', { params: { segment_id: segment.id }, body }))
    },
    onSuccess: async ({ data, warnings }) => {
      await queries.invalidateQueries({ queryKey: keys.segments })
      notify(warnings[0]?.message ?? `${data.name} has ${plural(data.memberCount, 'member')}`)
      onClose()
    },
  })
}

/** The filter, as groups of conditions or as JSON. */
function FilterField({
  groups,
  onGroups,
  json,
  onJson,
  fields,
  error,
}: {
  groups: readonly Group[]
  onGroups: (groups: Group[]) => void
  /** The filter as JSON; null while it is edited as groups. */
  json: string | null
  onJson: (json: string | null) => void
  fields: readonly RecordField[]
  error: unknown
}) {
  const change = (isJson: boolean) => {
    if (isJson) return onJson(JSON.stringify(printFilter(groups), null, 2))
    const read = readFilter(tryJson(json ?? ''))
    if (read === null) return notify('This filter has conditions that can only be edited as JSON')
    onGroups(read)
    onJson(null)
  }
  return (
    <>
      {json === null ? (
        <FilterBuilder groups={groups} onChange={onGroups} fields={fields} error={error} />
      ) : (
        <TextArea
          label="Filter"
          value={json}
          onChange={onJson}
          rows={10}
          className="font-mono text-12"
          hint="Groups of conditions on fields, events and relationships, as JSON"
        />
      )}
      <Checkbox label="Edit the filter as JSON" checked={json !== null} onChange={change} />
    </>
  )
}

function Previewed({ preview, warnings }: { preview: SegmentPreview; warnings: readonly string[] }) {
  const { members, looked_at, complete, sample } = preview
  return (
    <section aria-label="Preview" className="flex flex-col gap-1 rounded-md bg-subtle px-3 py-2">
      <p role="status" className="font-medium">
        {`${complete ? '' : 'At least '}${figure(members)} of ${figure(looked_at)} match now`}
      </p>
      {sample.length > 0 && (
        <p className="break-words text-muted">
          {sample.map(getRecordName).join(', ')}
          {members > sample.length && ' …'}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="break-words text-out-of-credits">
          {warning}
        </p>
      ))}
    </section>
  )
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function parseJson(text: string): unknown {
  const read = tryJson(text)
  if (read !== null) return read
  throw new ApiError('filter: must be valid JSON', { status: 400, code: 'Validation Error' })
}
