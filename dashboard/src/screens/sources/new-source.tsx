import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Call, call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { buildCurl } from '../../api/curl.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { RecordTable, type SourceRow } from './record-table.tsx'
import { SourceFieldControl } from './source-field.tsx'
import { readFields, sourceTypesQuery } from './source-types.ts'

const PREVIEWED = 10

export function NewSource({ onClose }: { onClose: () => void }) {
  const types = useQuery(sourceTypesQuery)
  const [type, setType] = useState('')
  const [name, setName] = useState('')
  const [typed, setTyped] = useState<Record<string, string>>({})
  const chosen = types.data?.find(({ source_id }) => source_id === type)
  const fields = chosen?.fields ?? []
  const buildCall = () =>
    call('POST /sources/:source_id', {
      params: { source_id: type },
      body: { ...readFields(fields, typed), ...(name.trim() === '' ? {} : { name: name.trim() }) },
    })
  const preview = usePreview(type, () => readFields(fields, typed))
  const create = useCreateSource(buildCall, onClose)
  const error = create.error ?? preview.error
  const names = ['name', ...fields.map((field) => field.name)]
  const isShown = names.some((field) => problemWithin(error, field) !== undefined)
  const form = {
    sourceId: type,
    providers: chosen?.providers ?? [],
    typed,
    onType: (change: Record<string, string>) => setTyped({ ...typed, ...change }),
    error,
  }
  const choose = (next: string) => {
    setType(next)
    setTyped({})
    preview.reset()
    create.reset()
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New source"
      submit={{
        label: 'Create',
        onSubmit: () => {
          preview.reset()
          create.mutate()
        },
        busy: create.isPending,
        disabled: chosen === undefined,
      }}
      footer={
        <Footer
          disabled={chosen === undefined}
          buildCall={buildCall}
          busy={preview.isPending}
          onPreview={() => {
            create.reset()
            preview.mutate()
          }}
        />
      }
      error={isShown ? null : error}
    >
      {types.error !== null && <Problem error={types.error} onRetry={() => void types.refetch()} />}
      <Combobox
        label="Type"
        value={type}
        choices={(types.data ?? []).map((one) => ({ value: one.source_id, label: one.name }))}
        onChange={choose}
        {...(chosen === undefined ? {} : { hint: chosen.description })}
      />
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        problem={problemWithin(error, 'name')}
        {...(chosen === undefined ? {} : { placeholder: chosen.name })}
      />
      {fields.map((field) => (
        <SourceFieldControl key={`${type} ${field.name}`} field={field} form={form} />
      ))}
      {preview.data !== undefined && <Previewed rows={preview.data} />}
    </Dialog>
  )
}

function Footer({
  disabled,
  buildCall,
  busy,
  onPreview,
}: {
  disabled: boolean
  buildCall: () => Call<unknown>
  busy: boolean
  onPreview: () => void
}) {
  return (
    <>
      <CopyButton label="Copy as curl" disabled={disabled} text={() => buildCurl(buildCall())} />
      <Button disabled={disabled} busy={busy} onClick={onPreview}>
        Preview
      </Button>
    </>
  )
}

/** Returns the mutation that reads the first records. `read` throws if a field is not valid. */
function usePreview(type: string, read: () => Record<string, unknown>) {
  return useMutation({
    mutationFn: async () => {
      const body = { ...read(), limit: PREVIEWED }
      return fetchData(call('POST /sources/:source_id/preview', { params: { source_id: type }, body }))
    },
  })
}

/** Returns the mutation that creates a source and opens its screen. */
function useCreateSource(buildCall: () => Call<{ source_instance_id: string }>, onClose: () => void) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => fetchData(buildCall()),
    onSuccess: async ({ source_instance_id }) => {
      await queries.invalidateQueries({ queryKey: keys.sources })
      onClose()
      await navigate({ to: '/sources/$id', params: { id: source_instance_id } })
    },
  })
}

function Previewed({ rows }: { rows: readonly SourceRow[] }) {
  return (
    <>
      <p role="status" className="text-muted">
        {rows.length === 0
          ? 'No records found. Some sources receive their records only after they are created.'
          : `The first ${plural(rows.length, 'record')}. Nothing has been stored yet.`}
      </p>
      {rows.length > 0 && <RecordTable label="Preview" rows={rows} />}
    </>
  )
}
