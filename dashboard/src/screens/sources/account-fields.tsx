import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { call } from '../../api/calls.ts'
import { ApiError, fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { getErrorText } from '../../ui/problem.tsx'
import { TextArea } from '../../ui/text-field.tsx'
import type { SourceForm } from './source-form.ts'

type FieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  problem: string | undefined
  hint?: string
  placeholder?: string
  /** The name of the field in the API. */
  field: string
  form: SourceForm
}

/** The field for the connection of a source. It lists the connections of the source's providers. */
export function ConnectionField({ form, ...fieldProps }: FieldProps) {
  const connections = useQuery({
    queryKey: keys.connections,
    queryFn: ({ signal }) => fetchData(call('GET /internal/connections'), { signal }),
  })
  const fitting = (connections.data ?? []).filter(({ provider }) => form.providers.includes(provider))
  return (
    <Combobox
      {...fieldProps}
      choices={[
        { value: '', label: fitting.length === 1 ? 'Your only account' : 'The first account' },
        ...fitting.map(({ connection_id, name, provider_name }) => ({
          value: connection_id,
          label: name,
          note: provider_name,
        })),
      ]}
    />
  )
}

/** A field with options from the account. A value can also be typed, even if the account cannot be reached. */
export function OptionField({ field, isList, form, ...fieldProps }: FieldProps & { isList: boolean }) {
  // The values of the other fields. The options depend on them and are reloaded when one of them changes.
  const context = useDeferredValue(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(form.typed).filter(([name, value]) => name !== field && value.trim() !== ''),
      ),
    ),
  )
  const options = useQuery({
    queryKey: keys.sourceOptions(form.sourceId, field, context),
    queryFn: () =>
      fetchData(
        call('POST /sources/:source_id/options/:field_name', {
          params: { source_id: form.sourceId, field_name: field },
          body: { context: JSON.parse(context) },
        }),
      ),
    retry: false,
    staleTime: 60_000,
  })
  const choices = (options.data?.options ?? []).map(({ value, label }) => ({ value, label }))
  const hint = [fieldProps.hint ?? '', explainNoOptions(options.error, form)]
    .filter((part) => part !== '')
    .join(' ')
  const shown = { ...fieldProps, ...(hint === '' ? {} : { hint }) }
  if (!isList) return <Combobox {...shown} field={field} choices={choices} free />
  const lines = fieldProps.value.split('\n').filter((line) => line.trim() !== '')
  return (
    <div className="flex flex-col gap-1">
      <TextArea {...shown} data-field={field} rows={2} />
      {choices.length > 0 && (
        <Combobox
          label={`Choose for ${fieldProps.label}`}
          hideLabel
          placeholder="Choose…"
          value=""
          choices={choices.filter(({ value }) => !lines.includes(value))}
          onChange={(value) => fieldProps.onChange([...lines, value].join('\n'))}
        />
      )}
    </div>
  )
}

/** Returns why there are no options: fields they depend on are empty, or the account could not be reached. */
function explainNoOptions(error: unknown, { labels }: SourceForm): string {
  if (error === null) return ''
  const fields = error instanceof ApiError ? error.fields : []
  const needed = fields.flatMap(({ field }) =>
    field.startsWith('context.') ? [labels[field.slice('context.'.length)] ?? field] : [],
  )
  if (needed.length > 0) return `To choose from a list, fill in ${needed.join(' and ')} first.`
  if (fields.some(({ field }) => field === 'connection_id'))
    return 'To choose from a list, connect an account.'
  return `The choices could not be loaded: ${getErrorText(error)}`
}
