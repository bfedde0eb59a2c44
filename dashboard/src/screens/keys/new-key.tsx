import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Scope } from '#contract/scopes.ts'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/text-field.tsx'

const PRESETS = [
  { value: 'full', label: 'Full access' },
  { value: 'read', label: 'Read only' },
  { value: 'run', label: 'Run only' },
  { value: 'custom', label: 'Custom' },
] as const
const DAY_MS = 86_400_000
const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]
const EVERY_WORKFLOW = ''

export function NewKey({ onMade, onClose }: { onMade: (secret: string) => void; onClose: () => void }) {
  const { scopes: own } = useSession()
  const workflows = useQuery(workflowsQuery)
  const [preset, setPreset] = useState<(typeof PRESETS)[number]['value']>('full')
  const [scopes, setScopes] = useState<readonly Scope[]>([])
  const [workflow, setWorkflow] = useState(EVERY_WORKFLOW)
  const [days, setDays] = useState('')
  const create = useMutation({
    mutationFn: () =>
      fetchData(
        call('POST /internal/keys', {
          body: {
            preset,
            ...(preset === 'custom' ? { scopes } : {}),
            ...(workflow === EVERY_WORKFLOW ? {} : { allowed_workflow_ids: [workflow] }),
            ...(days === ''
              ? {}
              : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
          },
        }),
      ),
    onSuccess: ({ key }) => onMade(key),
  })
  const scopeProblem = fieldProblem(create.error, 'scopes')
  return (
    <Dialog
      open
      onClose={onClose}
      title="New key"
      submit={{
        label: 'Create key',
        onSubmit: () => create.mutate(),
        busy: create.isPending,
        disabled: preset === 'custom' && scopes.length === 0,
      }}
      error={scopeProblem === undefined ? create.error : null}
    >
      <Combobox label="Preset" value={preset} choices={PRESETS} onChange={setPreset} />
      {preset === 'custom' && (
        <fieldset className="grid grid-cols-2 gap-1">
          <legend className="mb-1 text-12 font-medium">Scopes</legend>
          {own.map((scope) => (
            <Checkbox
              key={scope}
              label={scope}
              checked={scopes.includes(scope)}
              onChange={(checked) =>
                setScopes(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
          ))}
          {scopeProblem !== undefined && <p className="col-span-2 text-12 text-failed">{scopeProblem}</p>}
        </fieldset>
      )}
      <Combobox
        label="Workflows"
        value={workflow}
        choices={[
          { value: EVERY_WORKFLOW, label: 'All workflows' },
          ...(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
        ]}
        onChange={setWorkflow}
      />
      <Combobox label="Expires" value={days} choices={EXPIRIES} onChange={setDays} />
    </Dialog>
  )
}
