import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { Pencil, Trash2 } from '../../ui/icons.tsx'
import { DeleteSource } from './delete-source.tsx'
import { PauseButton } from './pause-button.tsx'
import { SourceHealth } from './source-health.tsx'
import { sourceQuery } from './source-query.ts'
import { SourceRecords } from './source-records.tsx'
import { SourceSyncs } from './source-syncs.tsx'
import { SyncSource } from './sync-source.tsx'

export function Screen() {
  const { id } = useParams({ from: '/frame/sources/$id' })
  const source = useQuery({ ...sourceQuery(id), refetchInterval: 3000 })
  const [synced, setSynced] = useState<string | null>(null)
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
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
            {can('sources:write') && source.data.status !== 'expired' && (
              <Button
                icon={Pencil}
                onClick={() => void navigate({ to: '/sources/$id/edit', params: { id } })}
              >
                Edit
              </Button>
            )}
            {can('sources:write') && (
              <Button icon={Trash2} onClick={() => setDeleting(true)}>
                Delete
              </Button>
            )}
            {canSync && (
              <Button kind="primary" onClick={() => setSynced('')}>
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
          <SourceSyncs syncs={shown.syncs} {...(canSync ? { onEdit: setSynced } : {})} />
          <SourceRecords id={id} count={shown.lead_count} />
          {synced !== null && (
            <SyncSource key={synced} source={shown} workflow={synced} onClose={() => setSynced(null)} />
          )}
          {isDeleting && <DeleteSource source={shown} onClose={() => setDeleting(false)} />}
        </>
      )}
    </LoadedPage>
  )
}
