import { type DragEvent, type KeyboardEvent, useRef, useState } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { plural } from '../../ui/figure.ts'
import { CircleX, Filter, Plus, Zap } from '../../ui/icons.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { moveInChain } from './chain-changes.ts'
import { chainOf, planMove } from './chain.ts'
import { useFailures } from './column-progress.ts'
import type { ActionColumn } from './columns.ts'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { useSheet } from './sheet-view.ts'

const DRAGGED_ACTION = 'application/x-loam-action'

/** The actions in the order in which they run, in one line. Columns of the grid may stand in another order. */
export function ChainStrip() {
  const { columns } = useSheet()
  const failures = useFailures()
  const chain = chainOf(columns)
  const list = useRef<HTMLUListElement>(null)
  if (chain.length === 0) return null
  return (
    <div className="flex items-center border-b bg-subtle text-12 max-md:hidden">
      <span aria-hidden className="shrink-0 pl-3 text-muted">
        Runs
      </span>
      <ul
        ref={list}
        aria-label="Action chain"
        className="flex min-w-0 flex-1 items-center overflow-x-auto px-2 py-1 [scrollbar-width:none]"
      >
        {chain.map((action, place) => (
          <Link
            key={action.key}
            chain={chain}
            action={action}
            place={place}
            failed={failures[action.key] ?? 0}
          />
        ))}
      </ul>
    </div>
  )
}

type LinkProps = { chain: readonly ActionColumn[]; action: ActionColumn; place: number; failed: number }

function Link({ chain, action, place, failed }: LinkProps) {
  const { address, can } = useSheet()
  const move = useMove(chain)
  const [isOver, setOver] = useState(false)
  const onDrop = (event: DragEvent) => {
    setOver(false)
    const key = event.dataTransfer.getData(DRAGGED_ACTION)
    if (key !== '') move(key, place)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0
    if (step === 0) return
    event.preventDefault()
    if (event.altKey && can.editActions) move(action.key, place + step)
    else if (!event.altKey) focusLink(event.currentTarget, step)
  }
  const isOpen = address.opened.action === action.key
  return (
    <li
      className={classNames('group flex shrink-0 items-center rounded', isOver && 'bg-selected')}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED_ACTION)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <button
        type="button"
        aria-label={action.name}
        aria-current={isOpen ? 'true' : undefined}
        aria-keyshortcuts={can.editActions ? 'Alt+ArrowLeft Alt+ArrowRight' : undefined}
        title={describeLink(action, place, failed, can.editActions)}
        draggable={can.editActions}
        onDragStart={({ dataTransfer }) => {
          dataTransfer.setData(DRAGGED_ACTION, action.key)
          dataTransfer.effectAllowed = 'move'
        }}
        onKeyDown={onKeyDown}
        onClick={() => address.openAction(action.key)}
        className={classNames(
          'flex h-6 max-w-48 items-center gap-1 rounded px-1.5 hover:bg-hover',
          isOpen && 'bg-selected',
        )}
      >
        <Zap aria-hidden className="size-3 shrink-0 text-accent-text" />
        <span className="truncate">{action.name}</span>
        {action.node.run_if !== undefined && <Filter aria-hidden className="size-3 shrink-0 text-muted" />}
        {failed > 0 && (
          // The count is no text of the button, whose name is that of the action.
          <span
            aria-hidden
            data-count={failed}
            className="flex shrink-0 items-center gap-0.5 text-failed after:content-[attr(data-count)]"
          >
            <CircleX className="size-3" />
          </span>
        )}
      </button>
      {can.editActions ? <InsertAfter action={action} /> : <Arrow isLast={place === chain.length - 1} />}
    </li>
  )
}

/** The button between two actions: an arrow that becomes a plus sign. */
function InsertAfter({ action: { key, name } }: { action: ActionColumn }) {
  const { address } = useSheet()
  return (
    <button
      type="button"
      aria-label={`Insert after ${name}`}
      title={`Insert an action after ${name}`}
      onClick={() => address.openAdd(key)}
      className="mx-0.5 flex size-5 items-center justify-center rounded text-muted hover:bg-hover hover:text-accent-text"
    >
      <Plus aria-hidden className="size-3" />
    </button>
  )
}

function Arrow({ isLast }: { isLast: boolean }) {
  return (
    <span aria-hidden className="mx-1 text-muted">
      {isLast ? '' : '\u2192'}
    </span>
  )
}

/** Returns the function that moves an action to a place. It asks first if references would break. */
function useMove(chain: readonly ActionColumn[]): (key: string, to: number) => void {
  const view = useSheet()
  const { open } = useSheetDialogs()
  return (key, to) => {
    const move = planMove(chain, key, to)
    if (move === null) return
    if (move.broken.length > 0) open({ kind: 'move action', move })
    else moveInChain(view, move).catch(notifyProblem)
  }
}

function focusLink(from: Element, step: number): void {
  const links = [...(from.closest('ul')?.querySelectorAll<HTMLElement>('button[draggable]') ?? [])]
  links[links.findIndex((link) => link === from) + step]?.focus()
}

function describeLink({ name, node }: ActionColumn, place: number, failed: number, canMove: boolean): string {
  return [
    `${name}: step ${place + 1}`,
    ...(node.run_if === undefined ? [] : ['runs on some rows only']),
    ...(failed === 0 ? [] : [plural(failed, 'failed cell')]),
    ...(canMove ? ['drag to change the order in which actions run'] : []),
  ].join(', ')
}
