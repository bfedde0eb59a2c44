import { useQuery } from '@tanstack/react-query'
import { type DragEvent, useState } from 'react'
import { keys } from '../../../api/keys.ts'
import { fetchOptions } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { plural } from '../../../ui/figure.ts'
import { ArrowDown, ArrowUp, GripVertical, X } from '../../../ui/icons.tsx'
import { Menu, MenuItem } from '../../../ui/menu.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { useSheet } from '../sheet-view.ts'
import { Group } from './panel.tsx'

export type Step = string | { name: string; use_own_key?: boolean }
type Offer = Awaited<ReturnType<typeof fetchOptions>>[number]

/** Returns the extras of an offer that are shown: its price, its keys and how often it found an answer. */
function readExtras({ extras = {} }: Offer) {
  const { credits, supports_own_key, requires_own_key, last_30_days: recent } = extras
  const rate = typeof recent === 'object' && recent !== null && 'hit_rate' in recent ? recent.hit_rate : null
  return {
    credits: typeof credits === 'number' ? credits : undefined,
    supportsOwnKey: supports_own_key === true,
    requiresOwnKey: requires_own_key === true,
    rate: typeof rate === 'number' ? rate : undefined,
  }
}

const getName = (step: Step) => (typeof step === 'string' ? step : step.name)
const usesOwnKey = (step: Step) => typeof step !== 'string' && step.use_own_key === true

type Props = {
  action: string
  field: string
  value: readonly Step[]
  onChange: (steps: Step[]) => void
  defaults: readonly string[]
}

/** The editor of a waterfall: the order of the providers, their prices and keys. */
export function ProvidersField({ action, field, value, onChange, defaults }: Props) {
  const { sheet } = useSheet()
  const offers = useQuery({
    queryKey: keys.sheet(sheet.sheetId).options(action, field),
    queryFn: () => fetchOptions(sheet, action, field),
  })
  const [dragged, setDragged] = useState<number | null>(null)
  // Without a configured list, the action uses its default providers.
  const steps: readonly Step[] = value.length > 0 ? value : defaults
  const move = (from: number, to: number) => {
    const step = steps[from]
    if (step === undefined || to < 0 || to >= steps.length) return
    onChange(steps.toSpliced(from, 1).toSpliced(to, 0, step))
  }
  const rest = (offers.data ?? []).filter(({ value }) => !steps.some((step) => getName(step) === value))
  return (
    <Group name={`Providers of ${field}`} hideName>
      <h3 aria-hidden className="text-12 font-medium">
        {field}
      </h3>
      {offers.error !== null && <Problem error={offers.error} onRetry={() => void offers.refetch()} />}
      <ul aria-label={field} className="flex flex-col rounded-md border">
        {steps.map((step, place) => (
          <ProviderLine
            key={getName(step)}
            step={step}
            offer={offers.data?.find(({ value }) => value === getName(step))}
            isDragged={dragged === place}
            onDragStart={() => setDragged(place)}
            onDragOver={(event) => {
              event.preventDefault()
              if (dragged === null || dragged === place) return
              move(dragged, place)
              setDragged(place)
            }}
            onDragEnd={() => setDragged(null)}
            onUp={place === 0 ? undefined : () => move(place, place - 1)}
            onDown={place === steps.length - 1 ? undefined : () => move(place, place + 1)}
            onRemove={() => onChange(steps.toSpliced(place, 1))}
            onOwn={(own) =>
              onChange(
                steps.with(
                  place,
                  own
                    ? { name: getName(step), use_own_key: true }
                    : { name: getName(step), use_own_key: false },
                ),
              )
            }
          />
        ))}
      </ul>
      <Menu trigger={<Button size="small">Add provider</Button>}>
        {rest.map((offer) => {
          const { value } = offer
          const { credits, requiresOwnKey } = readExtras(offer)
          return (
            <MenuItem
              key={value}
              {...(credits === undefined ? {} : { note: plural(credits, 'credit') })}
              onSelect={() =>
                onChange([...steps, requiresOwnKey ? { name: value, use_own_key: true } : value])
              }
            >
              {value}
            </MenuItem>
          )
        })}
        {rest.length === 0 && (
          <MenuItem disabled onSelect={() => {}}>
            All providers are listed
          </MenuItem>
        )}
      </Menu>
    </Group>
  )
}

function ProviderLine({
  step,
  offer,
  isDragged,
  onUp,
  onDown,
  onRemove,
  onOwn,
  ...drag
}: {
  step: Step
  offer: Offer | undefined
  isDragged: boolean
  onUp: (() => void) | undefined
  onDown: (() => void) | undefined
  onRemove: () => void
  onOwn: (own: boolean) => void
  onDragStart: () => void
  onDragOver: (event: DragEvent) => void
  onDragEnd: () => void
}) {
  const name = getName(step)
  const { credits, rate, supportsOwnKey, requiresOwnKey } = readExtras(offer ?? { value: name, label: name })
  const own = usesOwnKey(step) || requiresOwnKey
  return (
    <li
      draggable
      {...drag}
      className={classNames(
        'flex items-center gap-1 border-b px-2 py-1 last:border-b-0',
        isDragged && 'bg-selected',
      )}
    >
      <GripVertical aria-hidden className="size-3.5 shrink-0 cursor-grab text-muted" />
      <div className="min-w-0 flex-1">
        <p className="truncate">{name}</p>
        <p className="text-11 text-muted">
          {own ? '0 credits, own key' : credits === undefined ? 'price unknown' : plural(credits, 'credit')}
          {rate !== undefined && `, ${Math.round(rate * 100)}% found`}
        </p>
      </div>
      {(supportsOwnKey || requiresOwnKey) && (
        <button
          type="button"
          role="switch"
          aria-checked={own}
          aria-label={`Own key for ${name}`}
          disabled={requiresOwnKey}
          onClick={() => onOwn(!own)}
          className={classNames(
            'h-4 w-7 shrink-0 rounded-full border border-control p-px transition-colors',
            own ? 'bg-accent' : 'bg-hover',
          )}
        >
          <span className={classNames('block size-3 rounded-full bg-bg', own && 'translate-x-3')} />
        </button>
      )}
      <Button kind="ghost" size="small" icon={ArrowUp} iconOnly disabled={onUp === undefined} onClick={onUp}>
        {`Move ${name} up`}
      </Button>
      <Button
        kind="ghost"
        size="small"
        icon={ArrowDown}
        iconOnly
        disabled={onDown === undefined}
        onClick={onDown}
      >
        {`Move ${name} down`}
      </Button>
      <Button kind="ghost" size="small" icon={X} iconOnly onClick={onRemove}>
        {`Remove ${name}`}
      </Button>
    </li>
  )
}
