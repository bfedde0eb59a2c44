import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData, LIVE } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { actionsQuery, inputsQuery } from '../../../api/sheet.ts'
import { LoadedPage } from '../../../frame/loaded-page.tsx'
import { SheetLink } from '../../../frame/sheet-link.tsx'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { buildColumns } from '../columns.ts'
import { CommentItem } from './comment-item.tsx'

const CHOICES = [
  { value: 'false', label: 'Open comments' },
  { value: 'true', label: 'Resolved comments' },
  { value: '', label: 'All comments' },
] as const

/** The comments of all rows of a sheet, newest first. */
export function Screen() {
  const { workflowId, sheetId } = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/comments' })
  const sheet = useMemo(() => ({ workflowId, sheetId }), [workflowId, sheetId])
  const [resolved, setResolved] = useState<'true' | 'false' | ''>('false')
  const inputs = useQuery(inputsQuery(sheet))
  const actions = useQuery(actionsQuery(sheet))
  const columns = buildColumns(inputs.data ?? [], actions.data ?? [])
  const feed = useInfiniteQuery({
    queryKey: keys.sheet(sheetId).commentFeed(resolved),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      fetchData(
        sheetCall(sheet, 'GET /comments', {
          query: {
            ...(resolved === '' ? {} : { resolved }),
            ...(pageParam === '' ? {} : { cursor: pageParam }),
          },
        }),
        { signal },
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (former) => former,
    ...LIVE,
  })
  return (
    <LoadedPage title="Comments" query={feed} actions={<SheetLink sheet={sheet} />}>
      {({ pages }) => (
        <>
          <div className="w-60 max-w-full">
            <Combobox label="Show" value={resolved} choices={CHOICES} onChange={setResolved} />
          </div>
          {pages[0]?.comments.length === 0 && (
            <p className="text-muted">None. Comments are added on the page of a row: click its number.</p>
          )}
          <ul aria-label="Comments" className="flex max-w-[720px] flex-col gap-3">
            {pages
              .flatMap(({ comments }) => comments)
              .map((comment) => (
                <CommentItem key={comment.comment_id} sheet={sheet} comment={comment} columns={columns}>
                  <Link
                    to="/workflows/$workflowId/sheets/$sheetId/rows/$rowId"
                    params={{ ...sheet, rowId: comment.row_id }}
                    className="text-accent-text underline"
                  >
                    Open row
                  </Link>
                </CommentItem>
              ))}
          </ul>
          {feed.hasNextPage && (
            <div>
              <Button busy={feed.isFetchingNextPage} onClick={() => void feed.fetchNextPage()}>
                Older comments
              </Button>
            </div>
          )}
        </>
      )}
    </LoadedPage>
  )
}
