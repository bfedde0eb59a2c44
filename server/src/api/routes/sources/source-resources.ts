import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { AppError, notFound } from '../../../lib/errors.ts'
import type { Source } from '../../../sources/define.ts'
import type { SourceCatalogue } from '../../../sources/registry.ts'
import { findSource, type SourceRecord } from '../../../store/sources/sources.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The type of source that the path names. Set by `sourceOfPath`. */
    source: Source
    /** The instance that the path names. Set by `instanceOfPath`. */
    sourceRecord: SourceRecord
  }
}

export const SourceParams = z.object({ source_id: z.string() })
export const SourceFieldParams = z.object({ source_id: z.string(), field_name: z.string() })
export const InstanceParams = z.object({ source_instance_id: Uuid })

/** An unknown slug is 404, and says which there are. */
export function sourceOfPath(sources: SourceCatalogue) {
  return async (request: FastifyRequest): Promise<void> => {
    const { source_id: slug } = request.params as z.infer<typeof SourceParams>
    const source = sources.get(slug)
    if (source === undefined) {
      const slugs = sources.list().map((one) => one.slug)
      throw new AppError(
        'Not Found',
        `There is no source ${slug.slice(0, 100)}; there are: ${slugs.join(', ')}`,
      )
    }
    request.source = source
  }
}

export async function instanceOfPath(request: FastifyRequest): Promise<void> {
  const { source_instance_id } = request.params as z.infer<typeof InstanceParams>
  const { caller, db } = request
  const found = await findSource(db, { org_id: caller.orgId, instance_id: source_instance_id.toLowerCase() })
  if (found === undefined) throw notFound('Source')
  request.sourceRecord = found
}
