import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Zap } from '../../ui/icons.tsx'
import { NameLink } from '../../ui/name-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { PublishShortcut } from './publish-shortcut.tsx'
import { canBeRun, type Shortcut, describeState } from './shortcut.ts'

export function Screen() {
  const shortcuts = useQuery({
    queryKey: keys.shortcuts,
    queryFn: ({ signal }) => fetchData(call('GET /shortcuts'), { signal }),
    ...LIVE,
  })
  const { publish: requestedWorkflow } = useSearch({ from: '/frame/shortcuts' })
  const [isPublishing, setPublishing] = useState(requestedWorkflow !== undefined)
  const can = useCan()
  const canPublish = can('workflows:write')
  return (
    <LoadedPage
      title="Shortcuts"
      query={shortcuts}
      actions={
        canPublish && (
          <Button kind="primary" icon={Zap} onClick={() => setPublishing(true)}>
            Publish shortcut
          </Button>
        )
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={Zap}
              title="No shortcuts yet"
              text="A shortcut publishes a workflow as a form for people and as a single API request for programs."
            >
              {canPublish && <Button onClick={() => setPublishing(true)}>Publish a workflow</Button>}
            </EmptyState>
          ) : (
            <Table label="Shortcuts" columns={COLUMNS} items={list} getKey={({ id }) => id} />
          )}
          {isPublishing && (
            <PublishShortcut workflowId={requestedWorkflow ?? ''} onClose={() => setPublishing(false)} />
          )}
        </>
      )}
    </LoadedPage>
  )
}

const COLUMNS: readonly Column<Shortcut>[] = [
  {
    name: 'Name',
    cell: ({ id, name, icon_emoji }) => (
      <span className="flex items-center gap-2">
        {icon_emoji !== null && <span aria-hidden>{icon_emoji}</span>}
        <NameLink to="/shortcuts/$id" params={{ id }}>
          {name}
        </NameLink>
      </span>
    ),
  },
  {
    name: 'State',
    cell: (shortcut) => <Badge tone={canBeRun(shortcut) ? 'good' : 'quiet'}>{describeState(shortcut)}</Badge>,
  },
  { name: 'Inputs', align: 'right', cell: ({ input_schema }) => input_schema.length },
  { name: 'Outputs', align: 'right', wideOnly: true, cell: ({ output_schema }) => output_schema.length },
  {
    name: 'Published by',
    cell: ({ creator_email }) => <span className="long-text">{creator_email}</span>,
  },
  { name: 'Changed', wideOnly: true, cell: ({ updated_at }) => <TimeText at={updated_at} /> },
]
