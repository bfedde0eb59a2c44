import type { Row } from '../../../api/sheet.ts'
import { classNames } from '../../../ui/class-names.ts'
import { plural } from '../../../ui/figure.ts'
import {
  CircleX,
  Clock,
  Coins,
  LoaderCircle,
  type Icon,
  SkipForward,
  Square,
  TriangleAlert,
} from '../../../ui/icons.tsx'
import { type CellState, type CellText, cellText, NO_RESULT, shownText } from '../cell-text.ts'
import type { PlacedColumn } from '../columns.ts'
import { describeUnfit } from '../input-fit.ts'
import { CellEditor } from './cell-editor.tsx'
import { type Look, lookOf } from './look.ts'
import { fitsIn } from './text-fit.ts'

/** Widths in pixels: padding and border of a cell, padding of a pill in it, and the space for its icon. */
const CELL_EDGES = 17
const PILL_EDGES = 12
const ICON_ROOM = 16

/** Results are plain text. One colour is for cells that need somebody; whatever goes on or was left out is grey. */
const NEEDS_SOMEBODY = 'rounded px-1.5 bg-failed-bg text-failed'
const LOOKS: Record<CellState, { pill: string; icon: Icon | null }> = {
  not_run: { pill: '', icon: null },
  stopped: { pill: 'text-muted', icon: Square },
  queued: { pill: 'text-muted', icon: Clock },
  running: { pill: 'text-muted', icon: LoaderCircle },
  complete: { pill: '', icon: null },
  failed: { pill: NEEDS_SOMEBODY, icon: CircleX },
  error: { pill: NEEDS_SOMEBODY, icon: TriangleAlert },
  out_of_credits: { pill: NEEDS_SOMEBODY, icon: Coins },
  condition_not_met: { pill: 'text-muted', icon: SkipForward },
}

type CellProps = {
  column: PlacedColumn
  /** The index among all columns. The checkbox column is 0. */
  place: number
  /** The left offset of a frozen cell; null if it is not frozen. */
  left: number | null
  row: Row | undefined
  isActive: boolean
  isInRange: boolean
  editing: { text: string } | null
}

/**
 * Returns the element of a cell. It is called by its row instead of being a component, and it uses few elements, because
 * several rows come into view in each frame of scrolling.
 */
export function drawCell({ column, place, left, row, isActive, isInRange, editing }: CellProps) {
  const action = column.kind === 'action' ? cellText(row?.cells[column.key], column, row?.stopped) : null
  const text = column.kind === 'input' ? shownText(row?.inputs[column.name]) : ''
  const room = column.width - CELL_EDGES
  const look = lookOf(
    action?.state === 'complete' ? action.text : text,
    column.kind === 'input' ? column.type : typeOf(action),
  )
  const comments = countComments(row, column)
  const unfit = column.kind === 'input' ? describeUnfit(row?.inputs[column.name], column) : null
  return (
    <div
      key={column.key}
      role="gridcell"
      aria-colindex={place + 1}
      tabIndex={isActive ? 0 : -1}
      {...(row === undefined ? { 'aria-busy': true } : findLabel(action, text, look))}
      {...(unfit === null ? {} : { title: unfit, 'aria-invalid': true, 'aria-description': unfit })}
      aria-selected={isInRange || isActive}
      {...(comments === 0
        ? {}
        : { 'data-comments': comments, 'aria-description': plural(comments, 'open comment') })}
      className={
        'border-r px-2 whitespace-nowrap outline-offset-[-2px] select-none focus:outline-2 focus:outline-focus' +
        (fitsIn(text, room, 13) ? '' : ' faded') +
        (left !== null ? ' sticky z-1 bg-bg' : '') +
        (isInRange || isActive ? ' bg-selected' : '') +
        (comments === 0 ? '' : left === null ? ' relative commented' : ' commented') +
        (unfit === null ? '' : ' underline decoration-failed decoration-dotted underline-offset-3') +
        (column.kind === 'input' && column.type === 'number' ? ' text-right' : '')
      }
      {...(left === null ? {} : { style: { left } })}
    >
      {editing !== null && row !== undefined && column.kind === 'input' ? (
        <CellEditor column={column} row={row} initial={editing.text} />
      ) : action !== null ? (
        <StatePill state={action.state} text={action.text} room={room} look={look} />
      ) : (
        drawText(text, look)
      )}
    </div>
  )
}

/** Returns the number of open comments on a cell. */
function countComments(row: Row | undefined, column: PlacedColumn): number {
  if (row?.open_comments === undefined) return 0
  return row.open_comments.cells[column.kind === 'input' ? `{{${column.key}}}` : column.key] ?? 0
}

/** Returns the accessible name of a cell whose drawing says it otherwise: that of an action, or of a mark. */
function findLabel(action: CellText | null, text: string, look: Look): { 'aria-label'?: string } {
  if (action !== null) return { 'aria-label': action.name }
  return look !== null && 'mark' in look ? { 'aria-label': text } : {}
}

/** Returns the type of the text of an action: only `true` and `false` are told by their text. */
const typeOf = (action: CellText | null) =>
  action?.text === 'true' || action?.text === 'false' ? 'boolean' : 'string'

/** Returns the content of a cell. A link in the grid opens with Ctrl, because a click selects the cell. */
function drawText(text: string, look: Look) {
  if (look === null) return text
  if ('mark' in look) return <span aria-hidden>{look.mark ? '✓' : '✗'}</span>
  if ('utc' in look) return <time title={look.utc}>{look.local}</time>
  return (
    <a
      href={look.href}
      target="_blank"
      rel="noopener noreferrer"
      tabIndex={-1}
      draggable={false}
      title={`${text} (Ctrl + click opens it)`}
      className="text-accent-text hover:underline"
    >
      {text}
    </a>
  )
}

export function StatePill({
  state,
  text,
  room = 0,
  look = null,
}: {
  state: CellState
  text: string
  room?: number
  look?: Look
}) {
  const { pill, icon: Icon } = LOOKS[state]
  if (state === 'not_run') return null
  const textRoom = room - (pill === NEEDS_SOMEBODY ? PILL_EDGES : 0) - (Icon === null ? 0 : ICON_ROOM)
  return (
    <span
      aria-hidden
      {...(pill === NEEDS_SOMEBODY && { title: text })}
      className={classNames(
        '-mt-0.5 inline-block max-w-full align-middle leading-5',
        state === 'complete' ? 'text-13' : 'text-12',
        !fitsIn(text, textRoom, state === 'complete' ? 13 : 12) &&
          (state === 'complete' ? 'faded' : 'truncate'),
        text === NO_RESULT ? 'text-muted' : pill,
      )}
    >
      {Icon !== null && (
        <Icon
          className={classNames(
            'mr-1 inline size-3 align-[-1.5px]',
            state === 'running' && 'motion-safe:animate-spin',
          )}
        />
      )}
      {drawText(text, look)}
    </span>
  )
}
