import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useEffect } from 'react'
import type { EntityKind } from '#contract/records.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { Page } from '../../frame/page.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { plural } from '../../ui/figure.ts'
import { Building2 } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { SearchBox } from '../../ui/text-field.tsx'
import { recordColumns } from './record-columns.tsx'
import { KINDS } from './record-kinds.ts'

/** The records that a search collects before it waits for `Show more`. */
const ENOUGH = 50

/** The lists of companies, people and contacts. The kind and the search are in the address. */
export function Screen() {
  const { kind = 'company', q: words = '' } = useSearch({ from: '/frame/records' })
  const navigate = useNavigate()
  const show = (next: { kind: string; q: string }) =>
    void navigate({
      to: '/records',
      search: {
        ...(next.kind === 'company' ? {} : { kind: next.kind }),
        ...(next.q === '' ? {} : { q: next.q }),
      },
      replace: true,
    })
  const shown = KINDS.find((one) => one.kind === kind) ?? KINDS[0]
  return (
    <Page title="Records">
      <SearchBox
        label="Search records"
        placeholder="Name, domain, title, city…"
        value={words}
        onChange={(q) => show({ kind, q })}
        className="md:max-w-[320px]"
      />
      <Tabs
        label="Kinds of records"
        value={shown.plural}
        onChange={(name) =>
          show({ kind: KINDS.find((one) => one.plural === name)?.kind ?? 'company', q: words })
        }
        tabs={KINDS.map((one) => ({
          name: one.plural,
          content: (
            <RecordList
              label={one.plural}
              kind={one.kind}
              words={words}
              clear={() => show({ kind, q: '' })}
            />
          ),
        }))}
      />
    </Page>
  )
}

function useRecords(kind: EntityKind, words: string) {
  const pages = useInfiniteQuery({
    queryKey: keys.records(kind, words),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const query = { kind, q: words === '' ? undefined : words, after: pageParam ?? undefined }
      return fetchData(call('GET /internal/records', { query }), { signal })
    },
    getNextPageParam: ({ next }) => next,
    // The results for the previous text stay until the new ones are loaded.
    placeholderData: keepPreviousData,
  })
  const all = pages.data?.pages.flatMap((page) => page.records) ?? []
  // A search may list a record twice.
  const records = [...new Map(all.map((record) => [record.entity_id, record])).values()]
  const { hasNextPage, isFetching, fetchNextPage, error } = pages
  const isSearching = words !== '' && hasNextPage && records.length < ENOUGH && error === null
  useEffect(() => {
    // A search looks at a part of the records each time, so it goes on until it has found enough.
    if (isSearching && !isFetching) void fetchNextPage()
  }, [isSearching, isFetching, fetchNextPage])
  return { pages, records, isSearching: isSearching || (words !== '' && pages.isPlaceholderData) }
}

function RecordList({
  label,
  kind,
  words,
  clear,
}: {
  label: string
  kind: EntityKind
  words: string
  clear: () => void
}) {
  const wanted = useDeferredValue(words.trim())
  const { pages, records, isSearching } = useRecords(kind, wanted)
  if (pages.data === undefined) {
    return pages.error === null ? (
      <Skeleton />
    ) : (
      <Problem error={pages.error} onRetry={() => void pages.refetch()} />
    )
  }
  if (records.length === 0 && !isSearching) return <NoRecords label={label} words={wanted} clear={clear} />
  return (
    <div className="flex flex-col gap-3">
      {wanted !== '' && (
        <p role="status" aria-label="Search" className="text-muted">
          {isSearching
            ? `Searching… ${plural(records.length, 'record')} so far`
            : `${plural(records.length, 'record')}${pages.hasNextPage ? ' so far' : ''}`}
        </p>
      )}
      {records.length > 0 && (
        <Table
          label={label}
          columns={recordColumns(kind, records)}
          items={records}
          getKey={({ entity_id }) => entity_id}
        />
      )}
      {pages.error !== null && <Problem error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.hasNextPage && !isSearching && (
        <Button
          className="self-start"
          busy={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </div>
  )
}

/** The text for an empty list: no record at all, or none that the search finds. */
function NoRecords({ label, words, clear }: { label: string; words: string; clear: () => void }) {
  const canSource = useCan()('sources:write')
  if (words !== '') {
    return (
      <EmptyState
        icon={Building2}
        title="No results"
        text={`No value of these ${label.toLowerCase()} contains “${words}”.`}
      >
        <Button onClick={clear}>Clear search</Button>
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={Building2}
      title={`No ${label.toLowerCase()} yet`}
      text="Records come from actions that save to Records, and from files imported by an administrator."
    >
      {canSource && (
        <Link to="/sources/new" search={{}} className={buttonClass('primary')}>
          Add a source
        </Link>
      )}
    </EmptyState>
  )
}
