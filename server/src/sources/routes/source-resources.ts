import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Caller } from '../../api/http/caller.ts'
import { AppError, forbidden, notFound } from '../../lib/errors.ts'
import type { Source } from '../define.ts'
import type { SourceCatalogue } from '../registry.ts'
import { listSyncs } from '../store/source-syncs.ts'
import { findSource, type SourceRecord } from '../store/sources.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The type of source named in the path. Set by `sourceOfPath`. */
    source: Source
    /** The instance named in the path. Set by `instanceOfPath`. */
    sourceRecord: SourceRecord
  }
}

export const SourceParams = z.object({ source_id: z.string() })
export const SourceFieldParams = z.object({ source_id: z.string(), field_name: z.string() })
export const InstanceParams = z.object({ source_instance_id: Uuid })

/** Finds the type of source in the path. An unknown slug is a 404 that lists the known ones. */
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

/**
 * Finds the instance in the path. A narrowed key can read the sources that deliver into its workflows, and no others
 * (D13).
 */
export async function instanceOfPath(request: FastifyRequest): Promise<void> {
  const { reached } = await findOfPath(request)
  if (reached === 0)
    throw forbidden('This key is limited to certain workflows; this source feeds none of them')
}

/** Does the same for changes that affect every workflow of the source: a narrowed key must reach all of them. */
export async function wholeInstanceOfPath(request: FastifyRequest): Promise<void> {
  const { reached, all } = await findOfPath(request)
  if (reached === 0 || reached < all) {
    throw forbidden('This key is limited to certain workflows; this source also delivers into others')
  }
}

async function findOfPath(request: FastifyRequest): Promise<{ reached: number; all: number }> {
  const { source_instance_id } = request.params as z.infer<typeof InstanceParams>
  const { caller, db } = request
  const found = await findSource(db, { org_id: caller.orgId, instance_id: source_instance_id.toLowerCase() })
  if (found === undefined) throw notFound('Source')
  request.sourceRecord = found
  if (caller.allowedWorkflowIds === null) return { reached: 1, all: 1 }
  const syncs = await listSyncs(db, found)
  return { reached: syncs.filter((sync) => isKnownTo(caller, sync)).length, all: syncs.length }
}

/** Returns true if a key may see a workflow that a source delivers to. */
export function isKnownTo({ allowedWorkflowIds }: Caller, { workflow_id }: { workflow_id: string }): boolean {
  return allowedWorkflowIds === null || allowedWorkflowIds.has(workflow_id)
}
