import type { RouteServices } from '../../http/event-streams.ts'
import type { Api } from '../../services.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { createAudiences } from './change-audiences.ts'

/** Proxies end connections on which nothing is heard. */
const KEEP_ALIVE_MS = 15_000

/** Server-sent events: one at the start, and one after each change of the sheet until the caller leaves or loses access. */
export function changeRoutes(api: Api, services: RouteServices): void {
  const audiences = createAudiences(services)

  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/changes',
    {
      config: { scope: 'workflows:data:read', waits: true, resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'Stream changes of a sheet',
        description: 'Server-sent events named `change`. Each means: read again what you show.',
        params: SheetParams,
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const { sheet, db } = request
      let keepAlive: NodeJS.Timeout | undefined
      const onEnd = () => {
        clearInterval(keepAlive)
        audiences.leave(sheet.sheet_id, reply.raw)
      }
      const response = services.streams.open(request, reply, { isEndless: true, onEnd })
      if (response === null) return reply
      keepAlive = setInterval(() => response.write(': \n\n'), KEEP_ALIVE_MS)
      audiences.join({ sheet, db, response })
      return reply
    },
  )
}
