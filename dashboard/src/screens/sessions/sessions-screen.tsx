import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ListedSession as ListedSessionSchema } from '#contract/sessions.ts'
import { type Call, call } from '../../api/calls.ts'
import { fetchData, LIVE, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { RowAction } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'

type ListedSession = z.infer<typeof ListedSessionSchema>
const formatId = ({ session_id }: ListedSession) => `...${session_id.slice(-4)}`

export function Screen() {
  const sessions = useQuery({
    queryKey: keys.sessions,
    queryFn: ({ signal }) => fetchData(call('GET /internal/sessions'), { signal }),
    ...LIVE,
  })
  const [revoked, setRevoked] = useState<ListedSession | 'others' | null>(null)
  const queries = useQueryClient()
  const end = async (sessions: Call<unknown>) => {
    await send(sessions)
    await queries.invalidateQueries({ queryKey: keys.sessions })
  }
  return (
    <LoadedPage
      title="Sessions"
      query={sessions}
      actions={
        <Button disabled={(sessions.data?.length ?? 0) < 2} onClick={() => setRevoked('others')}>
          Revoke all others
        </Button>
      }
    >
      {(list) => (
        <>
          <Table
            label="Sessions"
            items={list}
            getKey={({ session_id }) => session_id}
            columns={buildColumns(setRevoked)}
          />
          {revoked === 'others' && (
            <ConfirmDialog
              title="Revoke all others"
              description="All other browsers are signed out at once."
              verb="Revoke"
              run={() => end(call('DELETE /internal/sessions'))}
              onClose={() => setRevoked(null)}
            />
          )}
          {revoked !== null && revoked !== 'others' && (
            <ConfirmDialog
              title={`Revoke session ${formatId(revoked)}`}
              description="This browser session is signed out at once."
              verb="Revoke"
              run={() =>
                end(
                  call('DELETE /internal/sessions/:session_id', {
                    params: { session_id: revoked.session_id },
                  }),
                )
              }
              onClose={() => setRevoked(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

function buildColumns(revoke: (session: ListedSession) => void): readonly Column<ListedSession>[] {
  return [
    {
      name: 'Browser',
      cell: ({ browser }) => (
        <span className="line-clamp-2 font-medium break-words">{browser === '' ? 'unknown' : browser}</span>
      ),
    },
    { name: 'Signed in', wideOnly: true, cell: ({ created_at }) => <TimeText at={created_at} /> },
    { name: 'Last used', cell: ({ last_used_at }) => <TimeText at={last_used_at} /> },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (session) =>
        session.current ? (
          <Badge tone="good">This session</Badge>
        ) : (
          <RowAction verb="Revoke" of={`session ${formatId(session)}`} onClick={() => revoke(session)} />
        ),
    },
  ]
}
