import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from '../ui/problem.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Page } from './page.tsx'
import { Refusal } from './refusal.tsx'

/** A screen that shows the result of one query: a skeleton while it loads, an error if it fails. */
export function LoadedPage<Data>({
  title,
  query,
  actions,
  hasNoControls = false,
  children,
}: {
  title: string
  query: UseQueryResult<Data>
  actions?: ReactNode
  hasNoControls?: boolean
  children: (data: Data) => ReactNode
}) {
  if (query.data === undefined && query.error !== null) {
    return <Refusal error={query.error} title={title} onRetry={() => void query.refetch()} />
  }
  return (
    <Page title={title} actions={actions} hasNoControls={hasNoControls}>
      {query.error !== null && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === undefined ? <Skeleton /> : children(query.data)}
    </Page>
  )
}
