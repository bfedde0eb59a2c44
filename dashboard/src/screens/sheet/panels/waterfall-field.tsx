import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type SheetId, sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { useSheet } from '../sheet-view.ts'
import { Group } from './panel.tsx'
import { ProviderLine } from './waterfall-line.tsx'
import {
  type Facts,
  getName,
  isAsked,
  type Offer,
  printPrice,
  readFacts,
  sortByPrice,
  type Step,
  stepsOf,
} from './waterfall-steps.ts'

type Props = {
  /** The action, or null while it is not added. */
  action: string | null
  /** The id of the template, by which the default list is asked before the action is added. */
  template: string
  field: { name: string; label: string; help?: string; group?: string }
  /** The steps as configured or edited; undefined while the default ones are asked. */
  value: readonly Step[] | undefined
  onChange: (steps: Step[] | undefined) => void
  loadOffers: () => Promise<readonly Offer[]>
}

/** The editor of a waterfall: the providers that are really asked, in their order, until it is changed. */
export function WaterfallField({ action, template, field, value, onChange, loadOffers }: Props) {
  const { sheet } = useSheet()
  const { name, label, group } = field
  const offers = useQuery({
    queryKey: keys.sheet(sheet.sheetId).options(action ?? template, name),
    queryFn: loadOffers,
  })
  const saved = useQuery({
    queryKey: keys.sheet(sheet.sheetId).waterfall(action ?? template, name),
    queryFn: ({ signal }) => fetchData(buildRead(sheet, { action, template }, name), { signal }),
  })
  const factsOf = readFacts(offers.data, saved.data)
  const steps = value ?? stepsOf(undefined, saved.data)
  const isDefault = value === undefined
  const error = offers.error ?? saved.error
  const list = (
    <Group name={`Providers of ${label}`} hideName>
      {error !== null && (
        <Problem error={error} onRetry={() => void Promise.all([offers.refetch(), saved.refetch()])} />
      )}
      <Steps label={label} steps={steps} onChange={onChange} factsOf={factsOf} />
      <Tools
        steps={steps}
        offers={(offers.data ?? []).filter(({ value: one }) => !steps.some((step) => getName(step) === one))}
        factsOf={factsOf}
        onChange={onChange}
      />
      {!isDefault && (
        <Button kind="ghost" size="small" className="self-start" onClick={() => onChange(undefined)}>
          Use the default list
        </Button>
      )}
    </Group>
  )
  const title = `${label}: ${steps.length === 0 ? 'built in' : steps.map(getName).join(', ')}${isDefault ? ' (default)' : ''}`
  return (
    <div data-field={name} className="flex min-w-0 flex-col gap-1.5">
      {group === 'advanced' ? (
        <details className="min-w-0">
          <summary className="cursor-pointer text-12 font-medium">{title}</summary>
          <div className="pt-1.5">{list}</div>
        </details>
      ) : (
        <>
          <h3 aria-hidden className="text-12 font-medium">
            {label}
          </h3>
          {list}
        </>
      )}
      {field.help !== undefined && <p className="text-12 text-muted">{field.help}</p>}
    </div>
  )
}

/** Returns the call that reads what is asked: by an action as it is saved, or by default before it is added. */
function buildRead(sheet: SheetId, { action, template }: Pick<Props, 'action' | 'template'>, name: string) {
  const query = { all: 'true' } as const
  return action === null
    ? sheetCall(sheet, 'GET /internal/templates/:action_id/waterfall/:field_name', {
        params: { action_id: template, field_name: name },
        query,
      })
    : sheetCall(sheet, 'GET /actions/:action_instance_id/waterfall/:field_name', {
        params: { action_instance_id: action, field_name: name },
        query,
      })
}

type Editing = {
  steps: readonly Step[]
  onChange: (steps: Step[]) => void
  factsOf: (name: string) => Facts
}

function Steps({ label, steps, onChange, factsOf }: Editing & { label: string }) {
  const [dragged, setDragged] = useState<number | null>(null)
  const move = (from: number, to: number) => {
    const step = steps[from]
    if (step === undefined || to < 0 || to >= steps.length) return
    onChange(steps.toSpliced(from, 1).toSpliced(to, 0, step))
  }
  return (
    <>
      <ul role="list" aria-label={label} className="flex min-w-0 flex-col rounded-md border empty:hidden">
        {steps.map((step, place) => (
          <ProviderLine
            key={getName(step)}
            step={step}
            facts={factsOf(getName(step))}
            place={place}
            isLast={place === steps.length - 1}
            isDragged={dragged === place}
            onDragStart={() => setDragged(place)}
            onDragOver={(event) => {
              event.preventDefault()
              if (dragged === null || dragged === place) return
              move(dragged, place)
              setDragged(place)
            }}
            onDragEnd={() => setDragged(null)}
            onMove={(to) => move(place, to)}
            onRemove={() => onChange(steps.toSpliced(place, 1))}
            onOwn={(use_own_key) => onChange(steps.with(place, { name: getName(step), use_own_key }))}
          />
        ))}
      </ul>
      {steps.length === 0 && (
        <p className="text-12 text-muted">
          An empty list asks the default providers. Add those to ask instead.
        </p>
      )}
    </>
  )
}

/** The buttons below the list. */
function Tools({ steps, offers, factsOf, onChange }: Editing & { offers: readonly Offer[] }) {
  const [isAdding, setAdding] = useState(false)
  const search = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isAdding) return
    const input = search.current?.querySelector('input')
    input?.focus()
    // A click opens the list.
    input?.click()
  }, [isAdding])
  const withKey = steps.filter((step) => isAsked(step, factsOf(getName(step))))
  const add = (name: string) => {
    if (!offers.some(({ value }) => value === name)) return
    const { key, requiresOwnKey } = factsOf(name)
    const takesOwn = requiresOwnKey || key === 'own'
    onChange([...steps, takesOwn ? { name, use_own_key: true } : name])
    setAdding(false)
  }
  return (
    <>
      <div className="flex flex-wrap gap-1">
        <Button size="small" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
          Add provider
        </Button>
        <Button
          size="small"
          kind="ghost"
          disabled={withKey.length === steps.length}
          onClick={() => onChange([...withKey])}
        >
          Only with a key
        </Button>
        <Button
          size="small"
          kind="ghost"
          disabled={steps.length < 2}
          onClick={() => onChange(sortByPrice(steps, factsOf))}
        >
          Cheapest first
        </Button>
        <Button size="small" kind="ghost" disabled={steps.length === 0} onClick={() => onChange([])}>
          Remove all
        </Button>
      </div>
      {isAdding && (
        <div ref={search}>
          <Combobox
            label="Search providers"
            hideLabel
            value=""
            placeholder="Search providers"
            choices={offers.map(({ value }) => {
              const facts = factsOf(value)
              const note = facts.key === 'none' ? 'no key' : printPrice(value, facts)
              return { value, note }
            })}
            onChange={add}
          />
        </div>
      )}
    </>
  )
}
