import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
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
  const navigate = useNavigate()
  const queries = useQueryClient()
  const chosen = types.data?.find(({ source_id }) => source_id === type)
  const fields = chosen?.fields ?? []
  const params = { source_id: type }
  const preview = useMutation({
    mutationFn: async () =>
      fetchData(
        call('POST /sources/:source_id/preview', {
          params,
          body: { ...readFields(fields, typed), limit: PREVIEWED },
        }),
      ),
  })
  const buildCall = () =>
    call('POST /sources/:source_id', {
      params,
      body: { ...readFields(fields, typed), ...(name.trim() === '' ? {} : { name: name.trim() }) },
    })
  const create = useMutation({
    mutationFn: async () => fetchData(buildCall()),
    onSuccess: async ({ source_instance_id }) => {
      await queries.invalidateQueries({ queryKey: keys.sources })
      onClose()
      await navigate({ to: '/sources/$id', params: { id: source_instance_id } })
    },
  })
  const error = create.error ?? preview.error
  const isShown = ['name', ...fields.map((field) => field.name)].some(
    (field) => problemWithin(error, field) !== undefined,
  )
  const clearResults = () => {
    preview.reset()
    create.reset()
  }
  const choose = (next: string) => {
    setType(next)
    setTyped({})
    clearResults()
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
        <>
          <CopyButton
            label="Copy as curl"
            disabled={chosen === undefined}
            text={() => buildCurl(buildCall())}
          />
          <Button
            disabled={chosen === undefined}
            busy={preview.isPending}
            onClick={() => {
              create.reset()
              preview.mutate()
            }}
          >
            Preview
          </Button>
        </>
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
        <SourceFieldControl
          key={`${type} ${field.name}`}
          field={field}
          form={{
            sourceId: type,
            providers: chosen?.providers ?? [],
            typed,
            onType: (change) => setTyped({ ...typed, ...change }),
            error,
          }}
        />
      ))}
      {preview.data !== undefined && <Previewed rows={preview.data} />}
    </Dialog>
  )
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
