import { type KeyboardEvent, useMemo, useState } from 'react'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { SearchBox } from '../../../ui/text-field.tsx'

/** The outputs as a searchable tree, or as raw JSON. */
export function ValueView({ value }: { value: unknown }) {
  const [words, setWords] = useState('')
  const json = useMemo(() => JSON.stringify(value, null, 2), [value])
  return (
    <Tabs
      label="Outputs"
      tabs={[
        {
          name: 'Values',
          content: (
            <div className="flex flex-col gap-2">
              <SearchBox label="Search value" value={words} onChange={setWords} />
              <Tree value={value} words={words.trim().toLowerCase()} />
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
                className="max-h-[360px] w-full overflow-auto rounded-md border bg-subtle p-2 font-mono text-12"
              >
                {json}
              </pre>
            </div>
          ),
        },
      ]}
    />
  )
}

type Line = { path: string; level: number; name: string; text: string; hasChildren: boolean }

/** The maximum number of lines in the tree. The rest can be read as JSON. */
const MAX_LINES = 500

function Tree({ value, words }: { value: unknown; words: string }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [active, setActive] = useState(0)
  const all = useMemo(() => buildLines(value, words), [value, words])
  const lines = all.filter(({ path }) => ![...closed].some((one) => path.startsWith(`${one}/`)))
  const toggle = (path: string) => {
    const next = new Set(closed)
    if (!next.delete(path)) next.add(path)
    setClosed(next)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const line = lines[active]
    const isOpen = line !== undefined && !closed.has(line.path)
    const to =
      event.key === 'ArrowDown'
        ? active + 1
        : event.key === 'ArrowUp'
          ? active - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? lines.length - 1
              : null
    if (to !== null) {
      event.preventDefault()
      const next = Math.min(lines.length - 1, Math.max(0, to))
      setActive(next)
      event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')[next]?.focus()
    } else if (line?.hasChildren === true && event.key === (isOpen ? 'ArrowLeft' : 'ArrowRight')) {
      event.preventDefault()
      toggle(line.path)
    }
  }
  return (
    <div
      role="tree"
      aria-label="Value"
      onKeyDown={onKeyDown}
      className="overflow-x-auto rounded-md border p-1 font-mono text-12"
    >
      {lines.map(({ path, level, name, text, hasChildren }, place) => (
        <div
          key={path}
          role="treeitem"
          aria-level={level}
          {...(hasChildren ? { 'aria-expanded': !closed.has(path) } : {})}
          aria-selected={place === active}
          tabIndex={place === Math.min(active, lines.length - 1) ? 0 : -1}
          onClick={() => {
            setActive(place)
            if (hasChildren) toggle(path)
          }}
          className="flex gap-2 rounded px-1 py-0.5 hover:bg-hover"
          style={{ paddingLeft: level * 12 - 8 }}
        >
          <span aria-hidden className="shrink-0 text-muted">
            {hasChildren ? (closed.has(path) ? '▸' : '▾') : ' '}
          </span>
          <span className="shrink-0 text-accent-text">{name}</span>
          <span className="break-all">{text}</span>
        </div>
      ))}
      {lines.length === 0 && (
        <div role="treeitem" aria-selected={false} aria-level={1} tabIndex={0} className="px-1 text-muted">
          {words === '' ? 'No outputs' : 'No results'}
        </div>
      )}
    </div>
  )
}

/** Returns the lines of the tree. Branches that do not contain the search words are omitted. */
function buildLines(value: unknown, words: string): Line[] {
  const lines: Line[] = []
  const visit = (one: unknown, name: string, path: string, level: number): boolean => {
    if (lines.length >= MAX_LINES) return false
    const at = lines.length
    const entries = typeof one === 'object' && one !== null ? Object.entries(one) : []
    const text = entries.length > 0 ? summarize(one, entries.length) : printLeaf(one)
    lines.push({ path, level, name, text, hasChildren: entries.length > 0 })
    let isFound = words === '' || `${name} ${entries.length > 0 ? '' : text}`.toLowerCase().includes(words)
    for (const [key, child] of entries) isFound = visit(child, key, `${path}/${key}`, level + 1) || isFound
    if (!isFound) lines.length = at
    return isFound
  }
  if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) visit(child, key, key, 1)
  } else visit(value, 'value', 'value', 1)
  return lines
}

const summarize = (value: unknown, count: number) =>
  Array.isArray(value)
    ? `${count} ${count === 1 ? 'item' : 'items'}`
    : `${count} ${count === 1 ? 'field' : 'fields'}`

function printLeaf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
}
