import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import type { z } from 'zod'
import type { Connection } from '#contract/settings.ts'
import { ApiError, get, post } from '../../api/client.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { reasonOf } from '../../ui/problem.tsx'
import { TextArea } from '../../ui/text-field.tsx'
import type { SourceForm } from './source-form.ts'

type Given = {
  label: string
  value: string
  onChange: (value: string) => void
  problem: string | undefined
  hint?: string
  form: SourceForm
}

/** One of the accounts that are connected to a provider of this source. */
export function ConnectionField({ form, ...given }: Given) {
  const connections = useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => get<z.infer<typeof Connection>[]>('/internal/connections', signal),
  })
  const fitting = (connections.data ?? []).filter(({ provider }) => form.providers.includes(provider))
  return (
    <Combobox
      {...given}
      choices={[
        { value: '', label: 'The one that fits' },
        ...fitting.map(({ connection_id, name, provider_name }) => ({
          value: connection_id,
          label: name,
          note: provider_name,
        })),
      ]}
      {...(connections.data !== undefined && fitting.length === 0
        ? { hint: 'None is connected yet: Settings, Connections' }
        : {})}
    />
  )
}

type Option = { value: string | number; label?: string }

/** What the account offers; it can be typed as well, also while nobody can be asked. */
export function OptionField({ field, isList, form, ...given }: Given & { field: string; isList: boolean }) {
  // Only what decides the options: they are asked for again when another of these fields changes.
  const context = useDeferredValue(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(form.typed).filter(([name, value]) => name !== given.label && value.trim() !== ''),
      ),
    ),
  )
  const options = useQuery({
    queryKey: ['source-options', form.sourceId, field, context],
    queryFn: () =>
      post<{ options: Option[] }>(`/sources/${encodeURIComponent(form.sourceId)}/options/${field}`, {
        context: JSON.parse(context) as unknown,
      }),
    retry: false,
    staleTime: 60_000,
  })
  const choices = (options.data?.options ?? []).map(({ value, label }) => ({
    value: String(value),
    label: label ?? String(value),
  }))
  const hint = [given.hint ?? '', whyNoOptions(options.error)].filter((part) => part !== '').join('. ')
  const shown = { ...given, ...(hint === '' ? {} : { hint }) }
  if (!isList) return <Combobox {...shown} choices={choices} free />
  const lines = given.value.split('\n').filter((line) => line.trim() !== '')
  return (
    <div className="flex flex-col gap-1">
      <TextArea {...shown} rows={2} />
      {choices.length > 0 && (
        <Combobox
          label={`Choose for ${given.label}`}
          hideLabel
          placeholder="Choose…"
          value=""
          choices={choices.filter(({ value }) => !lines.includes(value))}
          onChange={(value) => given.onChange([...lines, value].join('\n'))}
        />
      )}
    </div>
  )
}

/** What decides the options may not be chosen yet; else the account could not be asked. */
function whyNoOptions(error: unknown): string {
  if (error === null) return ''
  const needed = (error instanceof ApiError ? error.fields : []).flatMap(({ field }) =>
    field.startsWith('context.') ? [field.slice('context.'.length)] : [],
  )
  return needed.length > 0
    ? `To choose from a list, fill in ${needed.join(' and ')} first`
    : `No list to choose from: ${reasonOf(error)}`
}
