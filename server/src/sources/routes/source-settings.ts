import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { ChangedSource } from '#contract/screens.ts'
import { SourceBody } from '#contract/sources.ts'
import { ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import type { Api } from '../../api/services.ts'
import { AppError } from '../../lib/errors.ts'
import { changeSource } from '../pulls/change.ts'
import { openRequest } from '../pulls/create.ts'
import { deleteSource } from '../pulls/status.ts'
import { createLending, type LendingParts } from './lending.ts'
import { InstanceParams, wholeInstanceOfPath } from './source-resources.ts'

type Parts = LendingParts & Pick<RouteServices, 'sources'>

const write = { scope: 'sources:write', resource: wholeInstanceOfPath } as const

/** Edits and deletes sources. Creating, pausing and syncing them is part of the public API. */
export function sourceSettings(api: Api, parts: Parts): void {
  const lend = createLending(parts)
  api.patch(
    '/sources/:source_instance_id',
    {
      config: { ...write, body: 'document' },
      schema: { params: InstanceParams, body: SourceBody, response: { 200: success(200, ChangedSource) } },
    },
    async (request) => {
      const { sourceRecord: record, caller, db, body } = request
      const source = parts.sources.get(record.slug)
      if (source === undefined) {
        throw new AppError('Conflict', `The source type ${record.slug} no longer exists; delete the source`)
      }
      const { keys, services } = lend(request)
      const opened = await openRequest(source, body, keys, services)
      const again = await changeSource(db, caller, record, { source, ...opened })
      return ok({ source_instance_id: record.instance_id, reads_again: again })
    },
  )

  api.delete(
    '/sources/:source_instance_id',
    {
      config: { ...write, body: 'control' },
      schema: {
        params: InstanceParams,
        response: { 200: success(200, z.object({ source_instance_id: Uuid, deleted: z.literal(true) })) },
      },
    },
    async ({ db, caller, sourceRecord }) => {
      await deleteSource(db, caller, sourceRecord)
      return ok({ source_instance_id: sourceRecord.instance_id, deleted: true as const })
    },
  )
}
