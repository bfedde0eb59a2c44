import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RecordDetail } from '#contract/screens.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { plural } from '../../ui/figure.ts'
import { NameLink } from '../../ui/name-link.tsx'
import { nameWords } from '../../ui/name-words.ts'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { valueText } from '../../ui/value-text.ts'
import { kindWords } from './record-kinds.ts'
import { getRecordName, identifierText } from './record-name.ts'

/** The page of a record: its values with their sources, what it is related to, its segments and its history. */
export function Screen() {
  const { id } = useParams({ from: '/frame/records/$id' })
  const record = useQuery({
    queryKey: keys.record(id),
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/records/:entity_id', { params: { entity_id: id } }), { signal }),
  })
  return (
    <LoadedPage title={record.data === undefined ? 'Record' : getRecordName(record.data)} query={record}>
      {(shown) => (
        <>
          <Summary record={shown} />
          <Fields record={shown} />
          <Relations record={shown} />
          <Events record={shown} />
          <History record={shown} />
        </>
      )}
    </LoadedPage>
  )
}

function Summary({ record: { kind, identifiers, segments, created_at } }: { record: RecordDetail }) {
  const { one, plural: many } = kindWords(kind)
  return (
    <section aria-label="Summary">
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1">
        <dt className="text-muted">Kind</dt>
        <dd>
          <Link
            to="/records"
            search={kind === 'company' ? {} : { kind }}
            className="text-accent-text underline"
            aria-label={`${one}, all ${many.toLowerCase()}`}
          >
            {one}
          </Link>
        </dd>
        {identifiers.map((identifier) => (
          <div key={`${identifier.kind} ${identifier.value}`} className="contents">
            <dt className="text-muted">{identifierLabel(identifier)}</dt>
            <dd className="wrap-anywhere">{identifierText(identifier)}</dd>
          </div>
        ))}
        <dt className="text-muted">Segments</dt>
        <dd className="flex flex-wrap gap-x-3">
          {segments.length === 0 && <span className="text-muted">none</span>}
          {segments.map(({ segment_id, name }) => (
            <Link
              key={segment_id}
              to="/segments/$id"
              params={{ id: segment_id }}
              className="wrap-anywhere text-accent-text underline"
            >
              {name}
            </Link>
          ))}
        </dd>
        <dt className="text-muted">Added</dt>
        <dd>
          <TimeText at={created_at} />
        </dd>
      </dl>
    </section>
  )
}

/** Returns the name of an identifier: that of another system says which one. */
function identifierLabel({ kind, value }: { kind: string; value: string }): string {
  if (kind !== 'external') return nameWords(kind)
  const system = /^([^:]*):/.exec(value)?.[1] ?? ''
  return system === '' ? 'ID elsewhere' : `ID in ${nameWords(system)}`
}

function Fields({ record }: { record: RecordDetail }) {
  const fields = Object.entries(record.fields).map(([name, field]) => ({ name, ...field }))
  return (
    <Part title="Values" count={fields.length} none="No values yet.">
      <Table
        label="Values"
        items={fields}
        getKey={({ name }) => name}
        columns={[
          { name: 'Field', cell: ({ name }) => <span className="font-medium">{nameWords(name)}</span> },
          { name: 'Value', cell: ({ value }) => <Value value={value} /> },
          { name: 'Source', cell: ({ source }) => nameWords(source) },
          { name: 'When', wideOnly: true, cell: ({ at }) => <TimeText at={at === '' ? null : at} /> },
        ]}
      />
    </Part>
  )
}

function Relations({ record }: { record: RecordDetail }) {
  const { relationships, related_count } = record
  return (
    <Part title="Relations" count={relationships.length} none="Not related to other records yet.">
      <Table
        label="Relations"
        items={relationships}
        getKey={({ direction, type, source, record: other }) =>
          [direction, type, source, other.entity_id].join(' ')
        }
        columns={[
          {
            name: 'Record',
            cell: ({ record: other }) => (
              <NameLink to="/records/$id" params={{ id: other.entity_id }}>
                {getRecordName(other)}
              </NameLink>
            ),
          },
          { name: 'Kind', cell: ({ record: other }) => kindWords(other.kind).one },
          {
            name: 'Relation',
            cell: ({ direction, type, record: other }) =>
              direction === 'to'
                ? `${nameWords(type)} ${getRecordName(other)}`
                : `${getRecordName(other)} ${lowerFirst(nameWords(type))} ${getRecordName(record)}`,
          },
          { name: 'Source', wideOnly: true, cell: ({ source }) => nameWords(source) },
          { name: 'Last seen', wideOnly: true, cell: ({ last_seen }) => <TimeText at={last_seen} /> },
        ]}
      />
      {related_count > relationships.length && (
        <p className="text-muted">
          {`The first ${relationships.length} of ${related_count === 1000 ? 'at least ' : ''}${plural(related_count, 'relation')}.`}
        </p>
      )}
    </Part>
  )
}

function Events({ record: { events } }: { record: RecordDetail }) {
  if (events.length === 0) return null
  return (
    <Part title="Events" count={events.length} none="">
      <Table
        label="Events"
        items={events.map((event, place) => ({ ...event, place }))}
        getKey={({ place }) => String(place)}
        columns={[
          { name: 'Event', cell: ({ type }) => <span className="font-medium">{nameWords(type)}</span> },
          { name: 'Details', cell: ({ data }) => <Value value={data} /> },
          { name: 'Source', wideOnly: true, cell: ({ source }) => nameWords(source) },
          { name: 'When', cell: ({ at }) => <TimeText at={at} /> },
        ]}
      />
    </Part>
  )
}

type Entry = { at: string; what: string; value: unknown; source: string; note: string }

function History({ record: { values, merges } }: { record: RecordDetail }) {
  const entries: Entry[] = [
    ...values.map(({ field, value, source, first_seen, current }) => ({
      at: first_seen,
      what: nameWords(field),
      value,
      source: nameWords(source),
      note: current ? 'Current' : 'Replaced',
    })),
    ...merges.flatMap(({ at, undone_at, by_person }) => [
      {
        at,
        what: 'Merged with another record',
        value: '',
        source: '',
        note: by_person ? 'By a person' : 'Same identifier',
      },
      ...(undone_at === null
        ? []
        : [{ at: undone_at, what: 'Separated again', value: '', source: '', note: 'By a person' }]),
    ]),
  ]
  const latestFirst = entries.toSorted((one, other) => (one.at < other.at ? 1 : -1))
  return (
    <Part title="History" count={entries.length} none="Nothing has happened yet.">
      <Table
        label="History"
        items={latestFirst.map((entry, place) => ({ ...entry, place }))}
        getKey={({ place }) => String(place)}
        columns={[
          { name: 'What', cell: ({ what }) => <span className="font-medium">{what}</span> },
          { name: 'Value', cell: ({ value }) => <Value value={value} /> },
          { name: 'State', cell: ({ note }) => note },
          { name: 'Source', wideOnly: true, cell: ({ source }) => source },
          { name: 'When', cell: ({ at }) => <TimeText at={at} /> },
        ]}
      />
    </Part>
  )
}

function Part({
  title,
  count,
  none,
  children,
}: {
  title: string
  count: number
  none: string
  children: ReactNode
}) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">{title}</h2>
      {count === 0 ? <p className="text-muted">{none}</p> : children}
    </section>
  )
}

const MAX_SHOWN = 500

/** A value in words: the parts of an object by name, the items of a list beside each other. */
function Value({ value }: { value: unknown }) {
  const text = describeValue(value)
  return (
    <span className="line-clamp-4 max-w-[480px] wrap-anywhere" title={text.slice(0, MAX_SHOWN)}>
      {text}
    </span>
  )
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeValue).join(', ')
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value !== 'object' || value === null) return valueText(value)
  return Object.entries(value)
    .map(([name, part]) => `${nameWords(name)}: ${describeValue(part)}`)
    .join('; ')
}

const lowerFirst = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
