import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { SourceState } from '#contract/sources.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { AccountChoice, takesAccount } from './account-choice.tsx'
import { readFields, typeFields } from './field-texts.ts'
import { explainError, PreviewPane, usePreview } from './preview.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { SourceFields } from './source-fields.tsx'
import type { SourceForm, SourceType } from './source-form.ts'
import { sourceQuery } from './source-query.ts'
import { sourceTypesQuery } from './source-types.ts'

/** The screen that edits a source: what it reads, from which account, and when. */
export function Screen() {
  const { id } = useParams({ from: '/frame/sources/$id/edit' })
  // Loaded once: a pull that goes on must not reset what a person types.
  const source = useQuery({ ...sourceQuery(id), staleTime: Number.POSITIVE_INFINITY })
  const types = useQuery(sourceTypesQuery)
  const type = types.data?.find(({ source_id }) => source_id === source.data?.source_id)
  return (
    <LoadedPage title={source.data === undefined ? 'Edit source' : `Edit ${source.data.name}`} query={source}>
      {(shown) => {
        if (types.error !== null) return <Problem error={types.error} onRetry={() => void types.refetch()} />
        return type === undefined ? null : <EditForm key={id} source={shown} type={type} />
      }}
    </LoadedPage>
  )
}

/** Returns the texts of the form for a source as it is. */
function typeSource(source: SourceState, type: SourceType): Record<string, string> {
  return typeFields(type.fields, {
    ...source.fields,
    ...(type.accounts.length > 1 ? { provider: source.provider } : {}),
    connection_id: source.connection_id,
    schedule: source.schedule,
    stop_at: source.expiration_date,
    max_count: source.max_count,
    max_credits: source.max_credits,
    ...(source.pull_existing ? {} : { pull_existing: false }),
  })
}

function EditForm({ source, type }: { source: SourceState; type: SourceType }) {
  const id = source.source_instance_id
  const [before] = useState(() => typeSource(source, type))
  const [typed, setTyped] = useState(before)
  const [name, setName] = useState(source.name)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const preview = usePreview(type, { typed })
  const leave = () => navigate({ to: '/sources/$id', params: { id } })
  const save = useMutation({
    mutationFn: async () =>
      fetchData(
        call('PATCH /internal/sources/:source_instance_id', {
          params: { source_instance_id: id },
          body: { ...readFields(type.fields, typed), ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
      ),
    onSuccess: async ({ reads_again }) => {
      await queries.invalidateQueries({ queryKey: keys.sources })
      notify(reads_again ? 'Saved. The source reads everything again now' : 'Saved')
      await leave()
    },
  })
  const form: SourceForm = {
    sourceId: type.source_id,
    providers: type.providers,
    labels: Object.fromEntries(type.fields.map((field) => [field.name, field.label])),
    typed,
    onType: (change) => setTyped((now) => ({ ...now, ...change })),
    error: save.error ?? preview.error,
  }
  return (
    <form
      noValidate
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <TextField
        label="Name"
        className="max-w-[440px]"
        value={name}
        onChange={setName}
        problem={problemWithin(save.error, 'name')}
      />
      {takesAccount(type) && <AccountChoice type={type} form={form} />}
      <div className="grid min-w-0 gap-6 lg:grid-cols-[minmax(280px,400px)_minmax(0,1fr)]">
        <SourceFields type={type} form={form} />
        {!type.receives && <PreviewPane preview={preview} form={form} />}
      </div>
      <ScheduleFields type={type} form={form} />
      {save.error !== null && (
        <Problem error={new Error(`Nothing was saved. ${explainError(save.error, form).join('. ')}`)} />
      )}
      <div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-2 border-t bg-bg px-4 py-3 md:-mx-6 md:px-6">
        <p role="status" aria-label="Impact" className="min-w-0 flex-1 text-12 text-muted">
          {describeImpact(source, type, { before, typed })}
        </p>
        <Button onClick={() => void leave()}>Cancel</Button>
        <Button type="submit" kind="primary" busy={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  )
}

const TIMING = new Set(['schedule', 'stop_at', 'pull_existing', 'max_count', 'max_credits', 'custom'])

/** Says what saving means: whether the source reads again, and that what it has stays. */
function describeImpact(
  source: SourceState,
  type: SourceType,
  { before, typed }: { before: Readonly<Record<string, string>>; typed: Readonly<Record<string, string>> },
): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(typed)])]
  const changed = names.filter((path) => (before[path] ?? '') !== (typed[path] ?? ''))
  const kept = `The ${plural(source.lead_count, 'imported record')} and their rows stay`
  if (changed.some((path) => !TIMING.has(path)) && !type.receives) {
    return `Saving reads everything again from the beginning. ${kept}; records that are already here are not added twice.`
  }
  if (changed.length === 0) return 'Nothing that the source reads has changed.'
  return `Saving changes when the source imports, and how much. ${kept}.`
}
