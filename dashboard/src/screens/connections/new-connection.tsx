import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ConnectableProvider as ProviderSchema, NewConnectionBody } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'

type Provider = z.infer<typeof ProviderSchema>
const NONE: Provider = { provider: '', name: '', field_sets: [['secret']], optional_fields: [], fields: [] }

/** The words of the field that is shown before a provider is chosen. */
const SECRET = { label: 'Secret', help: 'Choose a provider first.', placeholder: null }

export function NewConnection({
  provider: fixed,
  onMade,
  onClose,
}: {
  /** The provider to connect. Without it a person chooses one. */
  provider?: string
  onMade: () => void
  onClose: () => void
}) {
  const providers = useQuery({
    queryKey: keys.providers,
    queryFn: ({ signal }) => fetchData(call('GET /internal/providers'), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [provider, setProvider] = useState(fixed ?? '')
  const [name, setName] = useState('')
  const [way, setWay] = useState(0)
  const [fields, setFields] = useState<Record<string, string>>({})
  const [shared, setShared] = useState(true)
  const chosen = providers.data?.find((one) => one.provider === provider) ?? NONE
  const names = [...(chosen.field_sets[way] ?? chosen.field_sets[0] ?? []), ...chosen.optional_fields]
  const given = Object.fromEntries(names.flatMap((field) => (fields[field] ? [[field, fields[field]]] : [])))
  const title = name.trim() === '' ? {} : { name: name.trim() }
  const connect = useConnect({ provider, ...title, fields: given, shared }, (warning) => {
    onMade()
    notify(warning ?? `Connected ${chosen.name}`)
    onClose()
  })
  const findProblem = (field: string) => fieldProblem(connect.error, field)
  const isShown = ['provider', 'name', ...names].some((field) => findProblem(field) !== undefined)
  return (
    <Dialog
      open
      onClose={onClose}
      title={fixed === undefined ? 'New connection' : `Connect ${chosen.name}`}
      submit={{
        label: 'Connect',
        onSubmit: () => connect.mutate(),
        busy: connect.isPending,
        disabled: provider === '',
      }}
      error={isShown ? null : connect.error}
    >
      {fixed === undefined && (
        <Combobox
          label="Provider"
          value={provider}
          choices={(providers.data ?? []).map((one) => ({ value: one.provider, label: one.name }))}
          onChange={(next) => {
            setProvider(next)
            setWay(0)
          }}
          problem={findProblem('provider')}
        />
      )}
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        problem={findProblem('name')}
        placeholder={chosen.name}
      />
      <Credentials
        provider={chosen}
        way={way}
        onWay={setWay}
        names={names}
        fields={fields}
        onChange={(change) => setFields({ ...fields, ...change })}
        findProblem={findProblem}
      />
      <Checkbox label="Share with everybody in the organisation" checked={shared} onChange={setShared} />
    </Dialog>
  )
}

/** Returns the mutation that makes a connection. `onMade` gets the first warning. */
function useConnect(body: z.input<typeof NewConnectionBody>, onMade: (warning: string | undefined) => void) {
  return useMutation({
    mutationFn: () => send(call('POST /internal/connections', { body })),
    onSuccess: ({ warnings }) => onMade(warnings[0]?.message),
  })
}

/** The fields of an account, and the choice between ways to authenticate if there are several. */
function Credentials({
  provider,
  way,
  onWay,
  names,
  fields,
  onChange,
  findProblem,
}: {
  provider: Provider
  way: number
  onWay: (way: number) => void
  names: readonly string[]
  fields: Readonly<Record<string, string>>
  onChange: (change: Record<string, string>) => void
  findProblem: (field: string) => string | undefined
}) {
  const wordsOf = (field: string) => provider.fields.find(({ name }) => name === field) ?? SECRET
  return (
    <>
      {provider.field_sets.length > 1 && (
        <Combobox
          label="Authentication"
          value={String(way)}
          choices={provider.field_sets.map((set, place) => ({
            value: String(place),
            label: set.map((field) => wordsOf(field).label).join(', '),
          }))}
          onChange={(place) => onWay(Number(place))}
        />
      )}
      {names.map((field) => {
        const { label, help, placeholder } = wordsOf(field)
        const isOptional = provider.optional_fields.includes(field)
        return (
          <TextField
            key={field}
            data-field={field}
            label={label}
            className={isOptional && !/secret|token/.test(field) ? undefined : 'masked'}
            spellCheck={false}
            autoComplete="off"
            value={fields[field] ?? ''}
            onChange={(value) => onChange({ [field]: value })}
            problem={findProblem(field)}
            hint={isOptional ? `${help} Optional.` : help}
            {...(placeholder === null ? {} : { placeholder })}
          />
        )
      })}
    </>
  )
}
