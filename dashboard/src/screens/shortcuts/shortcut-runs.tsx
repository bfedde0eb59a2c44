import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ShortcutRun } from '#contract/shortcuts.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { NameButton } from '../../ui/name-link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { valueText } from '../../ui/value-text.ts'
import { RunStatus, ShortcutResult } from './shortcut-result.tsx'
import type { Shortcut } from './shortcut.ts'

const PAGE = 20

/** The runs of a shortcut, newest first. */
export function ShortcutRuns({ shortcut }: { shortcut: Shortcut }) {
  const [offset, setOffset] = useState(0)
  const [opened, setOpened] = useState<string | null>(null)
  const runs = useQuery({
    queryKey: keys.shortcutRunPage(shortcut.id, offset),
    queryFn: ({ signal }) =>
      fetchData(
        call('GET /shortcuts/:id/runs', {
          params: { id: shortcut.id },
          query: { limit: String(PAGE), offset: String(offset) },
        }),
        { signal },
      ),
    refetchInterval: 3000,
  })
  if (runs.error !== null) return <Problem error={runs.error} onRetry={() => void runs.refetch()} />
  if (runs.data === undefined || (runs.data.runs.length === 0 && offset === 0)) return null
  const { runs: list, pagination } = runs.data
  const shown = list.find(({ id }) => id === opened)
  return (
    <section aria-label="Earlier runs" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Runs</h2>
      {shown !== undefined && <ShortcutResult shortcut={shortcut} run={shown} />}
      <Table label="Runs" columns={buildColumns(opened, setOpened)} items={list} getKey={({ id }) => id} />
      <div className="flex items-center gap-2">
        <Button size="small" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
          Newer
        </Button>
        <Button
          size="small"
          disabled={offset + PAGE >= pagination.total}
          onClick={() => setOffset(offset + PAGE)}
        >
          Older
        </Button>
        <span className="text-muted">{plural(pagination.total, 'run')}</span>
      </div>
    </section>
  )
}

/** Returns inputs as text, such as `email: ada@example.com, size: 3`. */
function describeInputs(inputs: unknown): string {
  if (typeof inputs !== 'object' || inputs === null) return valueText(inputs)
  return Object.entries(inputs)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ')
}

function buildColumns(
  opened: string | null,
  open: (id: string | null) => void,
): readonly Column<ShortcutRun>[] {
  return [
    {
      name: 'Started',
      cell: ({ id, created_at }) => (
        <NameButton aria-pressed={id === opened} onClick={() => open(id === opened ? null : id)}>
          <TimeText at={created_at} />
        </NameButton>
      ),
    },
    { name: 'Status', cell: ({ status }) => <RunStatus status={status} /> },
    {
      name: 'Started by',
      wideOnly: true,
      cell: ({ user_email }) => <span className="long-text">{user_email}</span>,
    },
    { name: 'Kind', wideOnly: true, cell: ({ batch_id }) => (batch_id === null ? 'single' : 'batch') },
    {
      name: 'Inputs',
      cell: ({ input_data }) => (
        <span className="line-clamp-2 text-12 wrap-anywhere">{describeInputs(input_data)}</span>
      ),
    },
  ]
}
