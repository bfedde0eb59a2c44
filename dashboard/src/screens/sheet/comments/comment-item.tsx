import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Comment } from '#contract/comments.ts'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { useCan, useSession } from '../../../api/session.ts'
import { Button } from '../../../ui/button.tsx'
import { TimeText } from '../../../ui/time-text.tsx'
import { notifyProblem } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'

/** A comment with its author and place. Everyone who may edit can resolve it; its author and administrators can delete it. */
export function CommentItem({
  sheet,
  comment,
  columns,
  children,
}: {
  sheet: SheetId
  comment: Comment
  columns: readonly Column[]
  /** Further words of the heading, such as a link to the row. */
  children?: ReactNode
}) {
  const { comment_id, author, text, made_at, edited_at, resolved_at, resolved_by } = comment
  const queries = useQueryClient()
  const can = useCan()
  const { email, role } = useSession()
  const params = { comment_id }
  const readAgain = () => queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).comments })
  const resolve = useMutation({
    mutationFn: () =>
      send(
        sheetCall(sheet, 'PATCH /comments/:comment_id', { params, body: { resolved: resolved_at === null } }),
      ),
    onSuccess: readAgain,
    onError: (error) => notifyProblem(error),
  })
  const remove = useMutation({
    mutationFn: () => send(sheetCall(sheet, 'DELETE /comments/:comment_id', { params })),
    onSuccess: readAgain,
    onError: (error) => notifyProblem(error),
  })
  const place = findPlace(comment, columns)
  return (
    <li className="flex flex-col gap-1 rounded-md border px-3 py-2">
      <p className="flex flex-wrap items-baseline gap-x-2 text-12 text-muted">
        <span className="font-medium wrap-anywhere text-text">{author}</span>
        {place !== null && <span className="wrap-anywhere">{`on ${place}`}</span>}
        {children}
        <TimeText at={made_at} />
        {edited_at !== null && <span>edited</span>}
      </p>
      <p className="wrap-anywhere whitespace-pre-wrap">{text}</p>
      {resolved_at !== null && (
        <p className="text-12 text-complete">{`Resolved by ${resolved_by ?? 'a former member'}`}</p>
      )}
      {can('workflows:data:write') && (
        <div className="-ml-2 flex gap-1">
          <Button kind="ghost" size="small" busy={resolve.isPending} onClick={() => resolve.mutate()}>
            {resolved_at === null ? 'Resolve' : 'Reopen'}
          </Button>
          {(author === email || role === 'admin') && (
            <Button kind="ghost" size="small" busy={remove.isPending} onClick={() => remove.mutate()}>
              Delete
            </Button>
          )}
        </div>
      )}
    </li>
  )
}

/** Returns the name of the column that a comment is about, or null if it is about the row. */
function findPlace({ action_instance_id, variable }: Comment, columns: readonly Column[]): string | null {
  const key = action_instance_id ?? variable?.slice(2, -2).trim()
  if (key === undefined) return null
  return columns.find((column) => column.key === key)?.name ?? key
}
