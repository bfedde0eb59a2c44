import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { PauseButton } from './pause-button.tsx'
import { SourceHealth } from './source-health.tsx'
import { SourceRecords } from './source-records.tsx'
import { SourceSyncs } from './source-syncs.tsx'
import { SyncSource } from './sync-source.tsx'

export function Screen() {
  const { id } = useParams({ from: '/frame/sources/$id' })
  const source = useQuery({
    queryKey: keys.source(id),
    queryFn: ({ signal }) =>
      fetchData(call('GET /sources/:source_instance_id', { params: { source_instance_id: id } }), { signal }),
    refetchInterval: 3000,
  })
  const [isSyncing, setSyncing] = useState(false)
  const can = useCan()
  const canSync = can('sources:write') && can('workflows:read')
  return (
    <LoadedPage
      title={source.data?.name ?? 'Source'}
      query={source}
      actions={
        source.data !== undefined && (
          <>
            <PauseButton source={source.data} />
            {canSync && (
              <Button kind="primary" onClick={() => setSyncing(true)}>
                Sync to a workflow
              </Button>
            )}
          </>
        )
      }
    >
      {(shown) => (
        <>
          <SourceHealth source={shown} />
          <SourceSyncs syncs={shown.syncs} />
          <SourceRecords id={id} count={shown.lead_count} />
          {isSyncing && <SyncSource source={shown} onClose={() => setSyncing(false)} />}
        </>
      )}
    </LoadedPage>
  )
}
