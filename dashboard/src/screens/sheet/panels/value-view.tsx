import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { SearchBox } from '../../../ui/text-field.tsx'
import { buildLines, printPath, type ValueLine } from '../value-path.ts'

/** Returns what can be done with the value of a line. */
export type LineActions = (line: ValueLine) => ReactNode

/** The outputs as a tree that is searched by path or value, or as raw JSON. Each scrolls in a box of its own. */
export function ValueView({ value, actionsOf }: { value: unknown; actionsOf?: LineActions }) {
  const [words, setWords] = useState('')
  const json = useMemo(() => JSON.stringify(value, null, 2), [value])
  return (
    // The box keeps its height: the panel scrolls as a whole.
    <div className="shrink-0">
      <Tabs
        label="Outputs"
        tabs={[
          {
            name: 'Values',
            content: (
              <div className="flex flex-col gap-2">
                <SearchBox label="Search value" value={words} onChange={setWords} />
                <ValueTree label="Value" value={value} words={words} {...(actionsOf && { actionsOf })} />
              </div>
            ),
          },
          {
            name: 'Raw JSON',
            content: (
              <div className="flex flex-col items-start gap-2">
                <CopyButton size="small" label="Copy JSON" text={() => json} />
                <pre
                  tabIndex={0}
                  className="max-h-[45vh] w-full overflow-auto rounded-md border bg-subtle p-2 font-mono text-12"
                >
                  {json}
                </pre>
              </div>
            ),
          },
        ]}
      />
    </div>
  )
}

/** Values as a tree. The actions of a line are shown while the pointer or the focus is on it. */
export function ValueTree({
  label,
  value,
  words = '',
  actionsOf,
}: {
  label: string
  value: unknown
  words?: string
  actionsOf?: LineActions
}) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [active, setActive] = useState(0)
  const searched = words.trim().toLowerCase()
  const all = useMemo(() => buildLines(value, searched), [value, searched])
  const lines = all.filter(({ key }) => ![...closed].some((one) => key.startsWith(`${one} › `)))
  const toggle = (key: string) => {
    const next = new Set(closed)
    if (!next.delete(key)) next.add(key)
    setClosed(next)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const line = lines[active]
    const isOpen = line !== undefined && !closed.has(line.key)
    const to = nextPlace(event.key, active, lines.length)
    // At its ends the arrows go on to the next row.
    if (to !== null && to !== active) {
      event.preventDefault()
      setActive(to)
      event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')[to]?.focus()
    } else if (line?.hasChildren === true && event.key === (isOpen ? 'ArrowLeft' : 'ArrowRight')) {
      event.preventDefault()
      toggle(line.key)
    }
  }
  return (
    <div
      role="tree"
      aria-label={label}
      onKeyDown={onKeyDown}
      className="max-h-[45vh] shrink-0 overflow-y-auto rounded-md border p-1 text-13"
    >
      {lines.map((line, place) => (
        <Line
          key={line.key}
          line={line}
          isActive={place === Math.min(active, lines.length - 1)}
          isClosed={closed.has(line.key)}
          onChoose={() => {
            setActive(place)
            if (line.hasChildren) toggle(line.key)
          }}
          {...(actionsOf && { actionsOf })}
        />
      ))}
      {lines.length === 0 && (
        <div role="treeitem" aria-selected={false} aria-level={1} tabIndex={0} className="px-1 text-muted">
          {searched === '' ? 'No outputs' : 'No results'}
        </div>
      )}
    </div>
  )
}

function nextPlace(key: string, active: number, count: number): number | null {
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: count - 1 }[key]
  return to === undefined ? null : Math.min(count - 1, Math.max(0, to))
}

function Line({
  line,
  isActive,
  isClosed,
  onChoose,
  actionsOf,
}: {
  line: ValueLine
  isActive: boolean
  isClosed: boolean
  onChoose: () => void
  actionsOf?: LineActions
}) {
  const { path, key, level, text, value, hasChildren } = line
  const isEmpty = value === null || value === undefined || value === ''
  return (
    <div
      role="treeitem"
      aria-level={level}
      {...(hasChildren ? { 'aria-expanded': !isClosed } : {})}
      aria-selected={isActive}
      tabIndex={isActive ? 0 : -1}
      onClick={onChoose}
      className="group rounded px-1 py-0.5 hover:bg-hover"
      style={{ paddingLeft: level * 12 - 8 }}
    >
      <div className="flex gap-2">
        <span aria-hidden className="w-3 shrink-0 text-muted">
          {hasChildren ? (isClosed ? '▸' : '▾') : ''}
        </span>
        <span className="max-w-[45%] shrink-0 break-words text-muted">
          {path.length > 1 && <span className="sr-only">{`${printPath(path.slice(0, -1))} › `}</span>}
          {path.at(-1)}
        </span>
        <span
          className={`min-w-0 break-words whitespace-pre-wrap ${hasChildren || isEmpty ? 'text-muted' : ''}`}
        >
          {text}
        </span>
      </div>
      {actionsOf !== undefined && (
        <div
          onClick={(event) => event.stopPropagation()}
          onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
          role="group"
          aria-label={`Actions for ${key}`}
          className={`flex flex-wrap gap-1 pl-5 ${isActive ? '' : 'not-group-hover:not-group-focus-within:sr-only'}`}
        >
          {actionsOf(line)}
        </div>
      )}
    </div>
  )
}
