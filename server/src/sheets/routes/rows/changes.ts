import type { RouteServices } from '../../../api/http/event-streams.ts'
import type { Api } from '../../../api/services.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { createAudiences } from './change-audiences.ts'

/** The interval of comments that keep a stream open: proxies end silent connections. */
const KEEP_ALIVE_MS = 15_000
/** The time after which browsers reconnect. Missed changes are counted for longer. */
const RECONNECT_MS = 1000

/**
 * Registers the stream of server-sent events: one event at the start, and one after each change of the sheet until the caller
 * leaves or loses access.
 */
export function changeRoutes(api: Api, services: RouteServices): void {
  const audiences = createAudiences(services)
  api.addHook('onClose', async () => audiences.close())

  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/changes',
    {
      config: { scope: 'workflows:data:read', waits: true, resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'Stream changes of a sheet',
        params: SheetParams,
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
      response.write(`retry: ${RECONNECT_MS}\n\n`)
      keepAlive = setInterval(() => response.write(': \n\n'), KEEP_ALIVE_MS)
      const { 'last-event-id': lastEventId } = request.headers
      audiences.join({
        sheet,
        db,
        response,
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      })
      return reply
    },
  )
}
