import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Link2 } from '../../ui/icons.tsx'
import { NewConnection } from '../connections/new-connection.tsx'
import type { SourceForm, SourceType } from './source-form.ts'

type Account = SourceType['accounts'][number]

/** Returns true if a source can be read now, or needs no account. */
export const isConnected = ({ accounts, receives }: SourceType): boolean =>
  receives || accounts.some(({ key }) => key !== 'none')

/** Returns true if a person can connect an account for a type of source. */
export const takesAccount = ({ accounts }: SourceType): boolean => accounts.some(({ connects }) => connects)

/** The choice of the account that a source reads from, with a button to connect each provider. */
export function AccountChoice({ type, form }: { type: SourceType; form: SourceForm }) {
  const queries = useQueryClient()
  const [connecting, setConnecting] = useState<Account | null>(null)
  const connections = useQuery({
    queryKey: keys.connections,
    queryFn: ({ signal }) => fetchData(call('GET /internal/connections'), { signal }),
  })
  const own = (connections.data ?? []).filter(({ provider }) => type.providers.includes(provider))
  const ready = type.accounts.find(({ key }) => key !== 'none')
  const chosen = form.typed['connection_id'] ?? ''
  const problem = problemWithin(form.error, 'connection_id')
  const isIncluded = ready !== undefined && ready.key !== 'own'
  return (
    <div className="flex max-w-[560px] flex-col gap-3">
      <p className="text-muted">{describeAccounts(type, own.length)}</p>
      <div role="radiogroup" aria-label="Account" className="flex flex-col gap-1">
        {isIncluded && (
          <AccountOption
            label={ready.key === 'installation' ? `${ready.name}, through this server` : 'No account'}
            note={ready.key === 'installation' ? 'Records cost credits.' : 'Nothing to connect.'}
            checked={chosen === ''}
            onChoose={() => form.onType({ connection_id: '' })}
          />
        )}
        {own.map(({ connection_id: id, name, provider_name }, place) => (
          <AccountOption
            key={id}
            label={name === provider_name ? name : `${name} (${provider_name})`}
            note="Your own account. Records cost no credits."
            checked={chosen === id || chosen === name || (chosen === '' && !isIncluded && place === 0)}
            onChoose={() => form.onType({ connection_id: id })}
          />
        ))}
      </div>
      {problem !== undefined && own.length > 0 && (
        <p role="alert" className="text-12 text-failed">
          The account that was chosen is gone. Choose another one.
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {type.accounts
          .filter(({ connects }) => connects)
          .map((account) => (
            <Button key={account.provider} icon={Link2} onClick={() => setConnecting(account)}>
              {`Connect ${account.name}`}
            </Button>
          ))}
      </div>
      {connecting !== null && (
        <NewConnection
          provider={connecting.provider}
          onMade={() => {
            void queries.invalidateQueries({ queryKey: keys.connections })
            void queries.invalidateQueries({ queryKey: keys.sourceTypes })
          }}
          onClose={() => setConnecting(null)}
        />
      )}
    </div>
  )
}

function describeAccounts({ accounts, receives }: SourceType, own: number): string {
  const names = accounts.filter(({ connects }) => connects).map(({ name }) => name)
  if (receives) return `Optional: connect ${listWords(names)} to identify more visitors.`
  if (own > 0) return 'Choose the account to read from, or connect another one.'
  if (accounts.some(({ key }) => key !== 'none')) {
    return `It works without an account of yours. You can also connect ${listWords(names)}.`
  }
  return `This source needs an account with ${listWords(names)}. Connect it to go on.`
}

const listWords = (names: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(names)

function AccountOption({
  label,
  note,
  checked,
  onChoose,
}: {
  label: string
  note: string
  checked: boolean
  onChoose: () => void
}) {
  return (
    <label className="flex items-start gap-2 rounded-md border px-3 py-2 has-checked:border-accent">
      <input
        type="radio"
        name="account"
        aria-label={label}
        checked={checked}
        onChange={onChoose}
        className="mt-0.5"
      />
      <span className="flex min-w-0 flex-col">
        <span className="font-medium wrap-anywhere">{label}</span>
        <span className="text-12 text-muted">{note}</span>
      </span>
    </label>
  )
}
