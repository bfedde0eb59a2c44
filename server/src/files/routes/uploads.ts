import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { success } from '#contract/envelope.ts'
import { StoredFile, UploadQuery } from '#contract/files.ts'
import { created } from '../../api/http/envelope.ts'
import { claimIdempotencyKey } from '../../api/http/idempotency.ts'
import type { Api, Services } from '../../api/services.ts'
import { inTransaction } from '../../database/connection/db.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import { recordAudit } from '../../organisation/store/audit.ts'
import { discardUpload, keepUpload, receiveUpload } from '../uploads.ts'

/** Files of one organisation that one process takes in at once: each may fill the room that is left. */
export const MAX_UPLOADS_AT_ONCE = 4
const RETRY_SECONDS = 5

/** Files as they are, of any type that the sender names, streamed into the storage. */
export function uploadRoutes(api: Api, { storage }: Services): void {
  const underWay = new Map<string, number>()

  async function inTurn<Result>(orgId: string, upload: () => Promise<Result>): Promise<Result> {
    const others = underWay.get(orgId) ?? 0
    if (others >= MAX_UPLOADS_AT_ONCE) {
      const message = `Your organisation is uploading ${plural(others, 'file')}, which is the limit. Try again when one has arrived`
      throw new AppError('Too Many Requests', message, { retryAfter: RETRY_SECONDS })
    }
    underWay.set(orgId, others + 1)
    try {
      return await upload()
    } finally {
      const left = (underWay.get(orgId) ?? 1) - 1
      if (left > 0) underWay.set(orgId, left)
      else underWay.delete(orgId)
    }
  }

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
          // What is still on its way is passed over, so that the refusal is read.
          body.resume()
          throw cause
        })
        request.bodyText = hash.digest('hex')
        try {
          await claimIdempotencyKey(request, reply)
          // The same file came with the same key before, and was answered with that one.
          if (reply.sent) {
            await discardUpload(storage, received)
            return reply
          }
          return created(
            await inTransaction(request.db, async (trx) => {
              const stored = await keepUpload(trx, received)
              const details = { name: query.name, size_bytes: stored.size_bytes }
              await recordAudit(trx, orgId, caller, {
                action: 'file.uploaded',
                target: stored.file_ref,
                details,
              })
              return stored
            }),
          )
        } catch (cause) {
          await discardUpload(storage, received)
          throw cause
        }
      },
    )
  })
}

const NO_BYTES = 'must be the bytes of the file'

/** The bytes of a body, counted into the hash. It is left open where it is not read to its end: an answer follows. */
async function* bytesOf(body: Readable, hash: Hash): AsyncGenerator<Uint8Array> {
  let isEmpty = true
  const blocks: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await blocks.next().catch(() => {
      throw invalid('body', 'ended before all of it had arrived; send the file again')
    })
    if (next.done === true) break
    isEmpty = false
    hash.update(next.value)
    yield next.value
  }
  if (isEmpty) throw invalid('body', NO_BYTES)
}
