import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { EntityKind } from '#contract/records.ts'
import type { ListedRecord } from '#contract/screens.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { Page } from '../../frame/page.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Building2 } from '../../ui/icons.tsx'
import { NameButton } from '../../ui/name-link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { SearchBox } from '../../ui/text-field.tsx'
import { RecordFields } from './record-fields.tsx'
import { getRecordName } from './record-name.ts'

const KINDS: readonly { name: string; kind: EntityKind }[] = [
  { name: 'Companies', kind: 'company' },
  { name: 'People', kind: 'person' },
  { name: 'Contacts', kind: 'contact' },
]

export function Screen() {
  const [words, setWords] = useState('')
  return (
    <Page title="Records">
      <SearchBox
        label="Search records"
        placeholder="Domain, email address or identifier"
        value={words}
        onChange={setWords}
        className="md:max-w-[320px]"
      />
      <Tabs
        label="Kinds of records"
        tabs={KINDS.map(({ name, kind }) => ({
          name,
          content: <RecordList label={name} kind={kind} words={words} clear={() => setWords('')} />,
        }))}
      />
    </Page>
  )
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
  const [opened, setOpened] = useState<string | null>(null)
  const pages = useInfiniteQuery({
    queryKey: keys.records(kind, wanted),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const query = { kind, q: wanted === '' ? undefined : wanted, after: pageParam ?? undefined }
      return fetchData(call('GET /internal/records', { query }), { signal })
    },
    getNextPageParam: ({ next }) => next,
    // The results for the previous text stay until the new ones are loaded.
    placeholderData: keepPreviousData,
  })
  if (pages.data === undefined) {
    return pages.error === null ? (
      <Skeleton />
    ) : (
      <Problem error={pages.error} onRetry={() => void pages.refetch()} />
    )
  }
  const close = () => {
    document.querySelector<HTMLElement>('[aria-pressed=true]')?.focus()
    setOpened(null)
  }
  const records = pages.data.pages.flatMap((page) => page.records)
  const shown = records.find(({ entity_id }) => entity_id === opened)
  if (records.length === 0) {
    return <NoRecords label={label} words={wanted} clear={clear} />
  }
  return (
    <div className="flex flex-col gap-3">
      {shown !== undefined && <RecordFields key={shown.entity_id} record={shown} onClose={close} />}
      <Table
        label={label}
        columns={buildColumns(opened, setOpened)}
        items={records}
        getKey={({ entity_id }) => entity_id}
      />
      {pages.hasNextPage && (
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
  const canSource = useCan()('sources:read')
  if (words !== '') {
    return (
      <EmptyState icon={Building2} title="No results" text={`No identifier starts with “${words}”.`}>
        <Button onClick={clear}>Clear search</Button>
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={Building2}
      title={`No ${label.toLowerCase()} yet`}
      text="Records come from sources, from actions that save to Records, and from files imported by an administrator."
    >
      {canSource && (
        <Link to="/sources" className={buttonClass('primary')}>
          Add a source
        </Link>
      )}
    </EmptyState>
  )
}

function buildColumns(
  opened: string | null,
  open: (id: string | null) => void,
): readonly Column<ListedRecord>[] {
  return [
    {
      name: 'Name',
      cell: (record) => (
        <NameButton
          aria-pressed={record.entity_id === opened}
          onClick={() => open(record.entity_id === opened ? null : record.entity_id)}
        >
          {getRecordName(record)}
        </NameButton>
      ),
    },
    {
      name: 'Identifier',
      cell: ({ identifiers }) => (
        <span className="line-clamp-2 break-all">{identifiers.map(({ value }) => value).join(', ')}</span>
      ),
    },
    { name: 'Fields', align: 'right', wideOnly: true, cell: ({ fields }) => Object.keys(fields).length },
  ]
}
