import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData, LIVE, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { useCan } from '../../../api/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { problemWithin } from '../../../ui/field-problem.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { TextArea } from '../../../ui/text-field.tsx'
import { notify } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'
import { CommentItem } from './comment-item.tsx'

/** The most comments of a row that are shown at once. */
const SHOWN = '200'

/** The comments of a row and of its cells, and a field for a new one. */
export function RowComments({
  sheet,
  rowId,
  columns,
}: {
  sheet: SheetId
  rowId: string
  columns: readonly Column[]
}) {
  const can = useCan()
  const comments = useQuery({
    queryKey: keys.sheet(sheet.sheetId).commentsOf(rowId),
    queryFn: ({ signal }) =>
      fetchData(sheetCall(sheet, 'GET /comments', { query: { row_id: rowId, limit: SHOWN } }), { signal }),
    ...LIVE,
  })
  return (
    <section aria-label="Comments" className="flex flex-col gap-3">
      <h2 className="text-14 font-semibold">Comments</h2>
      {can('workflows:data:write') && <NewComment sheet={sheet} rowId={rowId} columns={columns} />}
      {comments.error !== null && <Problem error={comments.error} onRetry={() => void comments.refetch()} />}
      {comments.isPending && <Skeleton lines={2} />}
      {comments.data !== undefined && (
        <ul className="flex flex-col gap-3">
          {comments.data.comments.map((comment) => (
            <CommentItem key={comment.comment_id} sheet={sheet} comment={comment} columns={columns} />
          ))}
        </ul>
      )}
      {comments.data?.comments.length === 0 && <p className="text-muted">No comments yet.</p>}
    </section>
  )
}

/** The value of the choice of the row as a whole. No column has an empty key. */
const WHOLE_ROW = ''

function NewComment({
  sheet,
  rowId,
  columns,
}: {
  sheet: SheetId
  rowId: string
  columns: readonly Column[]
}) {
  const queries = useQueryClient()
  const [text, setText] = useState('')
  const [about, setAbout] = useState(WHOLE_ROW)
  const column = columns.find(({ key }) => key === about)
  const add = useMutation({
    mutationFn: () =>
      send(sheetCall(sheet, 'POST /comments', { body: { row_id: rowId, text, ...placeOf(column) } })),
    onSuccess: ({ warnings }) => {
      setText('')
      for (const { message } of warnings) notify(message)
      void queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).comments })
    },
  })
  const problem = problemWithin(add.error, 'text')
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '' && !add.isPending) add.mutate()
      }}
    >
      <TextArea
        label="Comment"
        hint="Name members as @address to send them a mail."
        problem={problem}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      <div className="flex items-end justify-between gap-2">
        <div className="min-w-0 flex-1">
          <Combobox
            label="About"
            value={about}
            choices={[
              { value: WHOLE_ROW, label: 'The row' },
              ...columns.map(({ key, name }) => ({ value: key, label: name })),
            ]}
            onChange={setAbout}
          />
        </div>
        <Button
          kind="primary"
          type="submit"
          busy={add.isPending}
          disabled={text.trim() === ''}
          className="h-8"
        >
          Send
        </Button>
      </div>
      {add.error !== null && problem === undefined && <Problem error={add.error} />}
    </form>
  )
}

/** Returns the fields that name the cell of a comment. */
function placeOf(column: Column | undefined) {
  if (column === undefined) return {}
  return column.kind === 'input' ? { variable: `{{${column.key}}}` } : { action_instance_id: column.key }
}
