import type { DragEvent } from 'react'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { ArrowDown, ArrowUp, GripVertical, X } from '../../../ui/icons.tsx'
import {
  type Facts,
  getName,
  isAsked,
  printKey,
  printPrice,
  printRecord,
  type Step,
  usesOwnKey,
} from './waterfall-steps.ts'

type Props = {
  step: Step
  facts: Facts
  place: number
  isLast: boolean
  isDragged: boolean
  onMove: (to: number) => void
  onRemove: () => void
  onOwn: (own: boolean) => void
  onDragStart: () => void
  onDragOver: (event: DragEvent) => void
  onDragEnd: () => void
}

/** One provider of a waterfall: its price, its key and what it did lately. */
export function ProviderLine({
  step,
  facts,
  place,
  isLast,
  isDragged,
  onMove,
  onRemove,
  onOwn,
  ...drag
}: Props) {
  const name = getName(step)
  const own = usesOwnKey(step)
  const key = printKey(step, facts)
  const record = printRecord(facts)
  const isSkipped = !isAsked(step, facts)
  return (
    <li
      draggable
      {...drag}
      className={classNames(
        'flex min-w-0 items-start gap-1.5 border-b px-2 py-1.5 last:border-b-0',
        isDragged && 'bg-selected',
      )}
    >
      <GripVertical aria-hidden className="mt-1 size-3.5 shrink-0 cursor-grab text-muted" />
      <div className="min-w-0 flex-1">
        <p className={classNames('truncate', isSkipped && 'text-muted')} title={name}>
          {name}
        </p>
        <p className="text-11 break-words text-muted">
          {printPrice(step, facts)}
          {key !== null && (
            <>
              {' · '}
              <span className={isSkipped ? 'text-out-of-credits' : ''}>{key}</span>
            </>
          )}
          {record !== null && ` · ${record}`}
        </p>
      </div>
      {facts.supportsOwnKey && (
        <OwnKey name={name} isOn={own} isFixed={facts.requiresOwnKey && own} onChange={onOwn} />
      )}
      <div className="flex shrink-0">
        <Button
          kind="ghost"
          size="small"
          icon={ArrowUp}
          iconOnly
          disabled={place === 0}
          onClick={() => onMove(place - 1)}
        >
          {`Move ${name} up`}
        </Button>
        <Button
          kind="ghost"
          size="small"
          icon={ArrowDown}
          iconOnly
          disabled={isLast}
          onClick={() => onMove(place + 1)}
        >
          {`Move ${name} down`}
        </Button>
        <Button kind="ghost" size="small" icon={X} iconOnly onClick={onRemove}>
          {`Remove ${name}`}
        </Button>
      </div>
    </li>
  )
}

/** The switch between the key of the installation and one's own, with its label beside it. */
function OwnKey({
  name,
  isOn,
  isFixed,
  onChange,
}: {
  name: string
  isOn: boolean
  isFixed: boolean
  onChange: (own: boolean) => void
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={`Own key for ${name}`}
      disabled={isFixed}
      onClick={() => onChange(!isOn)}
      className="flex h-6 shrink-0 items-center gap-1.5 text-11 text-muted disabled:opacity-60"
    >
      Own key
      <span
        className={classNames(
          'h-4 w-7 shrink-0 rounded-full border border-control p-px transition-colors',
          isOn ? 'bg-accent' : 'bg-hover',
        )}
      >
        <span className={classNames('block size-3 rounded-full bg-bg', isOn && 'translate-x-3')} />
      </span>
    </button>
  )
}
