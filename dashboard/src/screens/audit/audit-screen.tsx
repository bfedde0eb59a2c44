import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Fragment, useDeferredValue, useState } from 'react'
import type { z } from 'zod'
import type { AuditEntry as AuditEntrySchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useGo } from '../../frame/go.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ScrollText } from '../../ui/icons.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { AUDIT_AREAS, describeEntry } from './audit-words.ts'

type AuditEntry = z.infer<typeof AuditEntrySchema>

export function Screen() {
  const [actorTyped, setActor] = useState('')
  const [action, setAction] = useState('')
  const actor = useDeferredValue(actorTyped.trim())
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
        <Combobox label="Action" value={action} choices={AUDIT_AREAS} onChange={setAction} />
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
  { name: 'What happened', cell: (entry) => <Sentence entry={entry} /> },
  {
    name: 'With',
    cell: ({ key }) => <span className="whitespace-nowrap text-muted">{describeKey(key)}</span>,
  },
  { name: 'Time', cell: ({ at }) => <TimeText at={at} /> },
  { name: 'Details', hideName: true, cell: (entry) => <Details entry={entry} /> },
]

/** Shows an entry as a sentence, with a link to its subject. */
function Sentence({ entry }: { entry: AuditEntry }) {
  return (
    <span className="long-text">
      <span className="font-medium">{entry.actor === 'operator' ? 'The operator' : entry.actor}</span>{' '}
      {describeEntry(entry).map(({ text, path }, place) => (
        <Fragment key={place}>{isNothing(path) ? text : <PageLink path={path} text={text} />}</Fragment>
      ))}
    </span>
  )
}

const isNothing = (path: string | null | undefined): path is null | undefined =>
  path === null || path === undefined

function PageLink({ path, text }: { path: string; text: string }) {
  const go = useGo()
  return (
    <a
      href={path}
      className="text-accent-text hover:underline"
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        go(path)
      }}
    >
      {text}
    </a>
  )
}

function describeKey(key: string | null): string {
  return key === null ? 'the command line' : key === 'session' ? 'the dashboard' : `key ${key}`
}

/** The name, the id and the details of an entry as they are recorded. */
function Details({ entry: { action, target, details } }: { entry: AuditEntry }) {
  return (
    <details className="text-12">
      <summary className="cursor-pointer text-muted">Details</summary>
      <pre className="max-w-[360px] pt-1 break-all whitespace-pre-wrap">
        {[
          action,
          target,
          ...(Object.keys(details).length > 0 ? [JSON.stringify(details, null, 2)] : []),
        ].join('\n')}
      </pre>
    </details>
  )
}
