import { z } from 'zod'
import { Variable } from './columns.ts'
import { DateTime, Uuid } from './envelope.ts'
import { wholeNumber } from './numbers.ts'
import { crossCheck } from './schema-checks.ts'
import { Storable } from './text.ts'

/** The characters of a comment. */
export const MAX_COMMENT = 10_000
/** The number of members that one comment can mention. */
export const MAX_MENTIONS = 50
const MAX_COMMENTS_PAGE = 200

const CommentText = Storable.max(MAX_COMMENT).refine((text) => text.trim() !== '', 'must not be blank')

export const ListCommentsQuery = z.strictObject({
  row_id: Uuid.optional(),
  resolved: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  limit: wholeNumber(1, MAX_COMMENTS_PAGE).default(50),
  cursor: Uuid.optional().describe('`next_cursor` of the previous page'),
})

export const AddCommentBody = z
  .strictObject({
    row_id: Uuid,
    action_instance_id: z.string().max(200).optional().describe('A cell of the row'),
    variable: Variable.optional(),
    text: CommentText.describe(
      'Members with access who are named as `@<email>` get a mail, if the installation has a mail server',
    ),
  })
  .check(
    crossCheck((context) => {
      const { action_instance_id, variable } = context.value
      if (action_instance_id === undefined || variable === undefined) return
      const message = 'cannot be combined with `action_instance_id`'
      context.issues.push({ code: 'custom', input: variable, path: ['variable'], message })
    }),
  )

export const EditCommentBody = z
  .strictObject({
    text: CommentText.optional().describe('Only of the author'),
    resolved: z.boolean().optional(),
  })
  .refine(({ text, resolved }) => text !== undefined || resolved !== undefined, 'takes `text` or `resolved`')

export const Comment = z
  .object({
    comment_id: Uuid,
    row_id: Uuid,
    action_instance_id: z.string().nullable(),
    variable: z.string().nullable(),
    text: z.string(),
    mentions: z.array(z.string()).describe('The addresses of members with access whom the text names'),
    author: z.string(),
    made_at: DateTime,
    edited_at: DateTime.nullable(),
    resolved_at: DateTime.nullable(),
    resolved_by: z.string().nullable(),
  })
  .meta({ id: 'Comment' })
export type Comment = z.infer<typeof Comment>

export const Comments = z.object({
  comments: z.array(Comment).describe('Newest first'),
  next_cursor: Uuid.nullable(),
})

export const DeletedComment = z.object({ comment_id: Uuid, deleted: z.literal(true) })
