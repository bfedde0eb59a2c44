import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { ShortcutInput, ShortcutRun } from '#contract/shortcuts.ts'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { valueText } from '../../ui/value-text.ts'
import { ShortcutResult } from './shortcut-result.tsx'
import { canBeRun, type Shortcut } from './shortcut.ts'

/** Returns typed values in the format of the API: numbers as numbers, empty fields omitted. */
export function readInputData(
  inputs: readonly ShortcutInput[],
  typed: Record<string, string>,
): Record<string, unknown> {
  return Object.fromEntries(
    inputs.flatMap(({ reference, type }) => {
      const text = typed[reference]?.trim() ?? ''
      if (text === '') return []
      const value = type === 'number' && Number.isFinite(Number(text)) ? Number(text) : text
      return [[reference, value]]
    }),
  )
}

function buildHint(description: string | undefined, required: boolean): { hint?: string } {
  const parts = [required ? 'Required' : '', description ?? ''].filter((part) => part !== '')
  return parts.length === 0 ? {} : { hint: parts.join('. ') }
}

const isOver = ({ status }: ShortcutRun) => status !== 'pending' && status !== 'inProgress'

export function ShortcutForm({ shortcut }: { shortcut: Shortcut }) {
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [cap, setCap] = useState('')
  const can = useCan()
  const request = call('POST /shortcuts/:id/run', {
    params: { id: shortcut.id },
    body: { input_data: readInputData(shortcut.input_schema, typed), ...spending(cap) },
  })
  const start = useMutation({ mutationFn: () => fetchData(request) })
  const run = useQuery({
    queryKey: keys.shortcutRun(shortcut.id, start.data?.id),
    queryFn: ({ signal }) =>
      fetchData(
        call('GET /shortcuts/:id/runs/:run_id', {
          params: { id: shortcut.id, run_id: start.data?.id ?? '' },
        }),
        { signal },
      ),
    enabled: start.data !== undefined,
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : 400),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate()
  }
  const problems = shortcut.input_schema.map(({ reference }) => fieldProblem(start.error, reference))
  const capProblem = fieldProblem(start.error, 'max_credits')
  return (
    <div className="flex flex-col gap-4">
      <form
        aria-label={`Run ${shortcut.name}`}
        onSubmit={onSubmit}
        className="flex max-w-[440px] flex-col gap-3"
      >
        {shortcut.input_schema.map((input, place) => (
          <FormField
            key={input.reference}
            input={input}
            value={typed[input.reference] ?? ''}
            onChange={(value) => setTyped({ ...typed, [input.reference]: value })}
            problem={problems[place]}
          />
        ))}
        <SpendAtMost value={cap} onChange={setCap} problem={capProblem} />
        <div className="flex flex-wrap gap-2">
          {can('shortcuts:run') && (
            <Button type="submit" kind="primary" busy={start.isPending} disabled={!canBeRun(shortcut)}>
              Run
            </Button>
          )}
          <CopyAsCurl call={request} />
        </div>
      </form>
      {start.error !== null && [...problems, capProblem].every((problem) => problem === undefined) && (
        <Problem error={start.error} />
      )}
      {run.error !== null && <Problem error={run.error} onRetry={() => void run.refetch()} />}
      {start.data !== undefined && (run.data === undefined || !isOver(run.data)) && (
        <ProgressBar label="Run progress" value={0} max={null} />
      )}
      {run.data !== undefined && isOver(run.data) && <ShortcutResult shortcut={shortcut} run={run.data} />}
    </div>
  )
}

/** The field for one input of the form, with the control for its type. */
function FormField({
  input: { name, description, type, choices, required, defaultValue },
  value,
  onChange,
  problem,
}: {
  input: ShortcutInput
  value: string
  onChange: (value: string) => void
  problem: string | undefined
}) {
  const shared = { label: name, value, onChange, problem, ...buildHint(description, required === true) }
  const placeholder =
    defaultValue === undefined || defaultValue === null ? {} : { placeholder: valueText(defaultValue) }
  const offered = type === 'boolean' ? ['true', 'false'] : type === 'select' ? (choices ?? []) : null
  if (offered !== null) return <Combobox {...shared} {...placeholder} choices={offered} />
  return (
    <TextField
      {...shared}
      {...placeholder}
      type={type === 'number' || type === 'date' ? type : 'text'}
      {...(type === 'number' ? { step: 'any' } : {})}
      {...(required === true ? { 'aria-required': true } : {})}
    />
  )
}
