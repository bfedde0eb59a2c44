import { z } from 'zod'
import { readRange } from '../../api/http/byte-range.ts'
import type { Api, Services } from '../../api/services.ts'
import { AppError, forbidden, notFound } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import type { Sealer } from '../../lib/security/secrets.ts'
import { createLinkSigner, type LinkSigner } from '../../lib/security/signed-links.ts'
import { exportFileKey } from '../exports/export-job.ts'
import { CONTENT_TYPES, contentDisposition } from '../exports/export-name.ts'
import { findExportFile } from '../store/exports.ts'

const Params = z.object({ token: z.string() })

export function exportLinks(sealer: Sealer): LinkSigner {
  return createLinkSigner(sealer.derive('export links v1'))
}

/** Serves export files to anyone with a valid link (D10). */
export function exportFilePages(app: Api, { store, storage, sealer }: Services): void {
  const links = exportLinks(sealer)
  app.route({
    // HEAD has its own handling: the default one of GET would read the whole file to find its size.
    method: ['GET', 'HEAD'],
    url: '/files/:token',
    config: { scope: 'public' },
    schema: { hide: true, params: Params },
    handler: async ({ params, headers, method }, reply) => {
      const link = links.read(params.token)
      if (link === null || link.expiresAt.getTime() <= Date.now()) {
        throw forbidden('This link is invalid or has expired. Get Export returns a new one')
      }
      const found = await findExportFile(store.org(link.orgId), {
        org_id: link.orgId,
        export_id: link.fileId,
      })
      if (found === undefined || found.size_bytes === null) throw notFound('File')
      const size = found.size_bytes
      const etag = `"${found.export_id}"`
      const range = readRange(headers, size, etag)
      void reply.headers({
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        etag,
      })
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${size}`)
        throw new AppError('Range Not Satisfiable', `The file has ${plural(size, 'byte')}`)
      }
      const { start, end } = range ?? { start: 0, end: size }
      void reply.headers({
        'content-type': CONTENT_TYPES[found.format],
        'content-disposition': contentDisposition(found.file_name, found.format),
        'content-length': end - start,
      })
      if (range !== undefined) {
        void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`)
      }
      if (method === 'HEAD') return reply.send()
      const file = await storage.read(exportFileKey(found, found.attempt), { start, end })
      if (file === null) throw notFound('File')
      return reply.send(file)
    },
  })
}
