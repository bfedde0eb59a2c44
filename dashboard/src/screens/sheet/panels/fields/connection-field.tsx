import { useQuery } from '@tanstack/react-query'
import { call } from '../../../../api/calls.ts'
import { fetchData } from '../../../../api/client.ts'
import { keys } from '../../../../api/keys.ts'
import { Combobox } from '../../../../ui/combobox.tsx'
import { FieldShell } from './field-shell.tsx'
import { type FieldProps, usePanel } from './panel-context.ts'

/** The connection of an action, by name. Those of the action's own provider come first. */
export function ConnectionField({ field, text, onChange, problem }: FieldProps & { text: string }) {
  const { template } = usePanel()
  const connections = useQuery({
    queryKey: keys.connections,
    queryFn: () => fetchData(call('GET /internal/connections')),
  })
  const isOwn = (provider: string) => template.action_id.startsWith(provider.replaceAll('-', '_'))
  const all = connections.data ?? []
  const own = all.filter(({ provider }) => isOwn(provider))
  const choices = (own.length > 0 ? own : all).map(({ name, provider_name }) => ({
    value: name,
    note: provider_name,
  }))
  return (
    <FieldShell field={field} problem={problem}>
      {(ties) => (
        <Combobox
          label={field.label}
          ties={ties}
          field={field.name}
          free
          value={text}
          choices={choices}
          placeholder={field.placeholder ?? 'Your only connection'}
          onChange={(chosen) => onChange(chosen === '' ? null : chosen)}
        />
      )}
    </FieldShell>
  )
}
