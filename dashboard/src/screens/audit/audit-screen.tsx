import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { z } from 'zod'
import type { AuditEntry as AuditEntrySchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ScrollText } from '../../ui/icons.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'

type AuditEntry = z.infer<typeof AuditEntrySchema>

export function Screen() {
  const [actorTyped, setActor] = useState('')
  const [actionTyped, setAction] = useState('')
  const actor = useDeferredValue(actorTyped.trim())
  const action = useDeferredValue(actionTyped.trim())
  const filter = { actor: actor === '' ? undefined : actor, action: action === '' ? undefined : action }
  const pages = useInfiniteQuery({
    queryKey: keys.audit(actor, action),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      fetchData(call('GET /internal/audit', { query: { ...filter, before: pageParam ?? undefined } }), {
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    // Refetched only while a single page is shown, so that new entries do not move the older ones being read.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? LIVE.refetchInterval : false),
  })
  if (pages.data === undefined && pages.error !== null) {
    return <Refusal error={pages.error} title="Audit log" onRetry={() => void pages.refetch()} />
  }
  const entries = pages.data?.pages.flatMap((page) => page.entries)
  const clear = () => {
    setActor('')
    setAction('')
  }
  return (
    <Page title="Audit log">
      <div className="flex flex-wrap gap-3">
        <TextField label="Actor" value={actorTyped} onChange={setActor} placeholder="Email address" />
        <TextField label="Action" value={actionTyped} onChange={setAction} placeholder="Such as member" />
      </div>
      {entries === undefined ? (
        <Skeleton />
      ) : entries.length === 0 ? (
        <EmptyState icon={ScrollText} title="No results" text="No entry matches this actor and action.">
          <Button onClick={clear}>Clear search</Button>
        </EmptyState>
      ) : (
        <Table label="Audit log" items={entries} getKey={({ entry_id }) => entry_id} columns={COLUMNS} />
      )}
      {pages.hasNextPage && (
        <Button
          busy={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
          className="self-start"
        >
          Show older entries
        </Button>
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    name: 'Action',
    cell: ({ action: done }) => <span className="font-medium whitespace-nowrap">{done}</span>,
  },
  {
    name: 'Actor',
    cell: ({ actor: who, key }) => (
      <span className="long-text">
        {who}
        {key !== null && <span className="text-muted">{` (${key})`}</span>}
      </span>
    ),
  },
  { name: 'Time', cell: ({ at }) => <TimeText at={at} /> },
  {
    name: 'Target',
    cell: ({ target }) => <span className="long-text text-12">{target}</span>,
  },
  {
    name: 'Details',
    cell: ({ details }) =>
      Object.keys(details).length > 0 && (
        <code className="line-clamp-2 text-12 break-all" title={JSON.stringify(details)}>
          {JSON.stringify(details)}
        </code>
      ),
  },
]
