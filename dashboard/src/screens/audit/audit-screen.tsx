import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { AuditPage as AuditPageSchema } from '#contract/settings.ts'
import { get } from '../../api/client.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'

type AuditPage = z.infer<typeof AuditPageSchema>

export function Screen() {
  const [actor, setActor] = useState('')
  const [action, setAction] = useState('')
  const filter = new URLSearchParams({
    ...(actor === '' ? {} : { actor }),
    ...(action === '' ? {} : { action }),
  })
  const pages = useInfiniteQuery({
    queryKey: ['audit', actor, action],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams(filter)
      if (pageParam !== null) query.set('before', pageParam)
      return get<AuditPage>(`/internal/audit?${query}`, signal)
    },
    getNextPageParam: ({ next }) => next,
  })
  if (pages.data === undefined && pages.error !== null) {
    return <Refusal error={pages.error} title="Audit log" onRetry={() => void pages.refetch()} />
  }
  return (
    <Page title="Audit log">
      <div className="flex flex-wrap gap-3">
        <TextField label="Actor" value={actor} onChange={setActor} placeholder="Email address" />
        <TextField label="Action" value={action} onChange={setAction} placeholder="Such as member" />
      </div>
      {pages.data === undefined ? (
        <Skeleton />
      ) : (
        <Table
          label="Audit log"
          items={pages.data.pages.flatMap(({ entries }) => entries)}
          keyOf={({ entry_id }) => entry_id}
          columns={[
            { name: 'When', cell: ({ at }) => <TimeText at={at} /> },
            {
              name: 'Who',
              cell: ({ actor, key }) => (
                <span className="break-words">
                  {actor}
                  {key !== null && <span className="text-muted max-md:hidden">{` (${key})`}</span>}
                </span>
              ),
            },
            { name: 'What', cell: ({ action }) => action },
            {
              name: 'Which',
              wideOnly: true,
              cell: ({ target }) => <span className="break-all">{target}</span>,
            },
            {
              name: 'Details',
              wideOnly: true,
              cell: ({ details }) => (
                <code className="line-clamp-2 text-12 break-all">{JSON.stringify(details)}</code>
              ),
            },
          ]}
        />
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
