import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { SourceInstance } from '#contract/sources.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Plug } from '../../ui/icons.tsx'
import { NameLink } from '../../ui/name-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { PauseButton, SourceStatus } from './pause-button.tsx'
import type { SourceType } from './source-form.ts'
import { sourceTypesQuery } from './source-types.ts'

export function Screen() {
  const sources = useQuery({
    queryKey: keys.sources,
    queryFn: ({ signal }) => fetchData(call('GET /sources'), { signal }),
    refetchInterval: 5000,
  })
  const types = useQuery(sourceTypesQuery)
  const navigate = useNavigate()
  const create = () => void navigate({ to: '/sources/new', search: {} })
  const canWrite = useCan()('sources:write')
  return (
    <LoadedPage
      title="Sources"
      query={sources}
      actions={
        canWrite && (
          <Button kind="primary" icon={Plug} onClick={create}>
            New source
          </Button>
        )
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={Plug}
              title="No sources yet"
              text="Pull records from other tools, once or on a schedule."
            >
              {canWrite && <Button onClick={create}>Add the first source</Button>}
            </EmptyState>
          ) : (
            <Table
              label="Sources"
              columns={buildColumns(types.data ?? [])}
              items={list}
              getKey={({ source_instance_id }) => source_instance_id}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

const buildColumns = (types: readonly SourceType[]): readonly Column<SourceInstance>[] => [
  {
    name: 'Name',
    cell: ({ source_instance_id, name }) => (
      <NameLink to="/sources/$id" params={{ id: source_instance_id }}>
        {name}
      </NameLink>
    ),
  },
  {
    name: 'Type',
    wideOnly: true,
    cell: ({ source_id }) => types.find((type) => type.source_id === source_id)?.name,
  },
  { name: 'Status', cell: ({ status }) => <SourceStatus status={status} /> },
  { name: 'Records', align: 'right', cell: ({ lead_count }) => lead_count.toLocaleString('en') },
  { name: 'Created', wideOnly: true, cell: ({ created_at }) => <TimeText at={created_at} /> },
  {
    name: 'Actions',
    hideName: true,
    align: 'right',
    cell: (source) => <PauseButton source={source} size="small" />,
  },
]
