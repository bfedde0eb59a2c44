import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import {
  AddCommentBody,
  Comment,
  Comments,
  DeletedComment,
  EditCommentBody,
  ListCommentsQuery,
  MAX_MENTIONS,
} from '#contract/comments.ts'
import { success, Uuid } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { forbidden, invalid, notFound, validationError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { recordAudit } from '../../../organisation/store/audit.ts'
import { putMails } from '../../../organisation/store/mail-outbox.ts'
import { findMentions, placeOfVariable, viewComment } from '../../rows/comment-text.ts'
import { readValue } from '../../rows/unknown-names.ts'
import {
  type CommentPlace,
  type CommentRecord,
  deleteComment,
  findReaders,
  insertComment,
  listComments,
  lockComment,
  updateComment,
} from '../../store/comments.ts'
import { getDefinition } from '../../store/definitions.ts'
import { findRowIds } from '../../store/rows.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { faultsInColumn } from './row-selection.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/comments'
const CommentParams = SheetParams.extend({ comment_id: Uuid })
const config = { scope: 'workflows:data:write' as const, resource: sheetOfPath, body: 'document' as const }

/** Registers the endpoints of comments on rows and cells (G9). */
export function commentRoutes(api: Api, services: Services): void {
  defineList(api)
  defineAdd(api, services)
  defineEdit(api, services)
  defineDelete(api)
}

function defineList(api: Api): void {
  api.get(
    BASE,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Rows'],
        summary: 'List the comments of a sheet or a row, newest first',
        params: SheetParams,
        querystring: ListCommentsQuery,
        response: { 200: success(200, Comments) },
      },
    },
    async ({ db, sheet, query }) => {
      const { row_id: rowId, resolved, limit, cursor: before } = query
      const found = await listComments(db, sheet, { rowId, resolved, before }, limit + 1)
      const definition = await getDefinition(db, sheet)
      const comments = found.slice(0, limit).map((comment) => viewComment(comment, definition))
      return ok({
        comments,
        next_cursor: found.length > limit ? (comments.at(-1)?.comment_id ?? null) : null,
      })
    },
  )
}

function defineAdd(api: Api, services: Services): void {
  api.post(
    BASE,
    {
      config: { ...config, furtherErrors: faultsInComment },
      schema: {
        tags: ['Rows'],
        summary: 'Add a comment to a row or a cell',
        params: SheetParams,
        body: AddCommentBody,
        response: { 201: success(201, Comment) },
      },
    },
    async (request) => {
      const { db, sheet, body, caller } = request
      const errors = await faultsInComment(request)
      if (errors.length > 0) throw validationError(errors)
      const definition = await getDefinition(db, sheet)
      const mentions = await readMentions(request, body.text, [])
      const made = await inTransaction(db, async (trx) => {
        const comment = await insertComment(trx, sheet, {
          row_id: body.row_id,
          ...placeOf(body, definition),
          content: body.text,
          mentions,
          author_id: caller.memberId,
          author: caller.email,
        })
        if (comment === undefined) throw validationError([UNKNOWN_ROW])
        await mailMentions(trx, request, services, { comment, emails: mentions })
        return comment
      })
      return created(viewComment(made, definition))
    },
  )
}

function defineEdit(api: Api, services: Services): void {
  api.patch(
    `${BASE}/:comment_id`,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'Change a comment, or mark it as resolved',
        params: CommentParams,
        body: EditCommentBody,
        response: { 200: success(200, Comment) },
      },
    },
    async (request) => {
      const { db, sheet, body, caller, params } = request
      const changed = await inTransaction(db, async (trx) => {
        const comment = await requireComment(trx, request, params.comment_id)
        if (body.text !== undefined && comment.author_id !== caller.memberId)
          throw forbidden('Only the author of a comment may change its text')
        const before = comment.mentions
        const text =
          body.text === undefined
            ? undefined
            : { content: body.text, mentions: await readMentions(request, body.text, before) }
        const resolved =
          body.resolved === undefined ? {} : { resolvedBy: body.resolved ? caller.email : null }
        const written = await updateComment(trx, sheet, comment.comment_id, { text, ...resolved })
        if (written === undefined) throw notFound('Comment')
        const emails = (text?.mentions ?? []).filter((email) => !before.includes(email))
        await mailMentions(trx, request, services, { comment: written, emails })
        return written
      })
      return ok(viewComment(changed, await getDefinition(db, sheet)))
    },
  )
}

function defineDelete(api: Api): void {
  api.delete(
    `${BASE}/:comment_id`,
    {
      config: { ...config, body: 'control' },
      schema: {
        tags: ['Rows'],
        summary: 'Delete a comment',
        params: CommentParams,
        response: { 200: success(200, DeletedComment) },
      },
    },
    async (request) => {
      const { db, sheet, caller, params } = request
      const { comment_id } = await inTransaction(db, async (trx) => {
        const comment = await requireComment(trx, request, params.comment_id)
        const isOwn = comment.author_id === caller.memberId
        if (!isOwn && caller.role !== 'admin')
          throw forbidden('Only the author of a comment and administrators may delete it')
        await deleteComment(trx, sheet, comment.comment_id)
        if (!isOwn) {
          const details = { comment_id: comment.comment_id, author: comment.author }
          const entry = { action: 'comment.deleted', target: sheet.sheet_id, details }
          await recordAudit(trx, sheet.org_id, caller, entry)
        }
        return comment
      })
      return ok({ comment_id, deleted: true as const })
    },
  )
}

const UNKNOWN_ROW = { field: 'row_id', message: 'is not a row of this sheet' }

/** Finds the row and the column of a body that the sheet does not have, also if the shape of the body was refused. */
async function faultsInComment(request: FastifyRequest): Promise<FieldError[]> {
  const { db, sheet, body } = request
  const rowId = readValue(body, 'row_id')
  const isId = typeof rowId === 'string' && isUuid(rowId)
  const isUnknown = isId && (await findRowIds(db, sheet, [rowId])).size === 0
  return [...(isUnknown ? [UNKNOWN_ROW] : []), ...(await faultsInColumn(request))]
}

async function requireComment(
  trx: Db,
  { sheet }: Pick<FastifyRequest, 'sheet'>,
  commentId: string,
): Promise<CommentRecord> {
  const comment = await lockComment(trx, sheet, commentId)
  if (comment === undefined) throw notFound('Comment')
  return comment
}

type Body = z.infer<typeof AddCommentBody>

function placeOf(
  { action_instance_id, variable }: Body,
  definition: Parameters<typeof placeOfVariable>[1],
): CommentPlace {
  if (variable !== undefined) return placeOfVariable(variable, definition)
  return { action: action_instance_id ?? null, input_column: null, variable: null }
}

/** Returns the members with access whom a text mentions, and warns of the others. */
async function readMentions(
  request: FastifyRequest,
  text: string,
  known: readonly string[],
): Promise<string[]> {
  const named = findMentions(text)
  if (named.length > MAX_MENTIONS) throw invalid('text', `mentions more than ${MAX_MENTIONS} members`)
  const { db, sheet, workflow, warnings } = request
  const readers = await findReaders(db, { org_id: sheet.org_id, workflow_id: workflow.workflow_id }, named)
  for (const email of named) {
    if (readers.has(email) || known.includes(email)) continue
    const message = `${email} is no member with access to this workflow and gets no mail`
    warnings.push({ field: 'text', code: 'unknown_member', message })
  }
  return named.filter((email) => readers.has(email))
}

/** Puts mails to members who are mentioned for the first time into the outbox. */
async function mailMentions(
  trx: Db,
  { sheet, workflow, caller }: Pick<FastifyRequest, 'sheet' | 'workflow' | 'caller'>,
  { publicUrl }: Pick<Services, 'publicUrl'>,
  { comment, emails }: { comment: CommentRecord; emails: readonly string[] },
): Promise<void> {
  const { workflow_id, sheet_id } = sheet
  const url = `${publicUrl()}/workflows/${workflow_id}/sheets/${sheet_id}/rows/${comment.row_id}`
  const content = `${caller.email} mentioned you in a comment:\n\n${comment.content}\n\nOpen the row: ${url}\n`
  const subject = `${caller.email} mentioned you in ${workflow.name}`
  await putMails(
    trx,
    sheet.org_id,
    emails.map((email) => ({ email, subject, content })),
  )
}
