import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { success } from '#contract/envelope.ts'
import { StoredFile, UploadQuery } from '#contract/imports.ts'
import { created } from '../../api/http/envelope.ts'
import { claimIdempotencyKey } from '../../api/http/idempotency.ts'
import type { Api, Services } from '../../api/services.ts'
import { inTransaction } from '../../database/connection/db.ts'
import { invalid, tooManyRequests } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import { recordAudit } from '../../organisation/store/audit.ts'
import {
  discardUpload,
  keepUpload,
  type ReceivedUpload,
  receiveUpload,
  type StoredUpload,
} from '../uploads.ts'

/**
 * The maximum number of files that one process accepts at once for an organisation. Each may fill the storage that is
 * left.
 */
export const MAX_UPLOADS_AT_ONCE = 4
const RETRY_SECONDS = 5

/** Accepts files unchanged, of any content type, and streams them into the storage. */
export function uploadRoutes(api: Api, { storage }: Services): void {
  const inTurn = createUploadTurns()

  void api.register(async (scope: Api) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', async (_request: unknown, payload: Readable) => payload)

    scope.post(
      '/files',
      {
        config: {
          scope: 'workflows:data:write',
          body: 'file',
          narrowedKeys: 'allowed',
          waits: true,
          claimsKeyItself: true,
        },
        schema: {
          tags: ['Rows'],
          summary: 'Upload a CSV or XLSX file for Import CSV',
          querystring: UploadQuery,
          response: { 201: success(201, StoredFile) },
        },
      },
      async (request, reply) => {
        const { caller, query, body } = request
        if (!(body instanceof Readable)) throw invalid('body', NO_BYTES)
        const { orgId, email } = caller
        const hash = createHash('sha256')
        const upload = { orgId, name: query.name, createdBy: email }
        const received = await inTurn(orgId, () =>
          receiveUpload({ db: request.db, storage }, upload, bytesOf(body, hash)),
        ).catch((cause: unknown) => {
          // The rest of the body is read and dropped, so that the client reads the refusal.
          body.resume()
          throw cause
        })
        request.bodyText = hash.digest('hex')
        const stored = await keepOnce(request, reply, received, query.name).catch(async (cause: unknown) => {
          await discardUpload(storage, received)
          throw cause
        })
        if (stored !== null) return created(stored)
        await discardUpload(storage, received)
        return reply
      },
    )
  })
}

/** Returns a function that runs uploads, at most so many at once for an organisation. */
function createUploadTurns() {
  const inProgress = new Map<string, number>()

  return async <Result>(orgId: string, upload: () => Promise<Result>): Promise<Result> => {
    const others = inProgress.get(orgId) ?? 0
    if (others >= MAX_UPLOADS_AT_ONCE) {
      const message = `Your organisation is uploading ${plural(others, 'file')}, which is the limit. Try again when one of them is complete`
      throw tooManyRequests(message, RETRY_SECONDS)
    }
    inProgress.set(orgId, others + 1)
    try {
      return await upload()
    } finally {
      const left = (inProgress.get(orgId) ?? 1) - 1
      if (left > 0) inProgress.set(orgId, left)
      else inProgress.delete(orgId)
    }
  }
}

/**
 * Keeps an upload. Returns null if the same file was sent before with the same idempotency key; then the reply is the
 * earlier one.
 */
async function keepOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  received: ReceivedUpload,
  name: string,
): Promise<StoredUpload | null> {
  await claimIdempotencyKey(request, reply)
  if (reply.sent) return null
  const { caller } = request
  return inTransaction(request.db, async (trx) => {
    const stored = await keepUpload(trx, received)
    await recordAudit(trx, caller.orgId, caller, {
      action: 'file.uploaded',
      target: stored.file_ref,
      details: { name, size_bytes: stored.size_bytes },
    })
    return stored
  })
}

const NO_BYTES = 'must be the bytes of the file'

/**
 * Yields the bytes of a body and adds them to the hash. If reading stops early, the body stays open, because a reply
 * follows.
 */
async function* bytesOf(body: Readable, hash: Hash): AsyncGenerator<Uint8Array> {
  let isEmpty = true
  const blocks: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await blocks.next().catch(() => {
      throw invalid('body', 'ended before it was complete; send the file again')
    })
    if (next.done === true) break
    isEmpty = false
    hash.update(next.value)
    yield next.value
  }
  if (isEmpty) throw invalid('body', NO_BYTES)
}
