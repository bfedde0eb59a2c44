import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { SheetChange } from '#contract/changes.ts'
import { listRuns } from '../../../store/runs/runs.ts'
import type { Api, Services } from '../../services.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'

/** Several changes in quick succession are one event. */
const GATHER_MS = 100
/** Proxies end connections on which nothing is heard. */
const KEEP_ALIVE_MS = 15_000

/** Server-sent events: one at the start, and one after each change of the sheet until the caller leaves. */
export function changeRoutes(api: Api, { store, log }: Services): void {
  const open = new Set<ServerResponse>()
  api.addHook('preClose', async () => {
    for (const response of open) response.end()
  })

  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/changes',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
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
      reply.hijack()
      const response = reply.raw
      response.writeHead(200, {
        ...reply.getHeaders(),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      } as Record<string, string>)
      open.add(response)

      const describe = async (): Promise<z.infer<typeof SheetChange>> => {
        const [run] = await listRuns(db, sheet, 1)
        if (run === undefined) return { sheet_id: sheet.sheet_id, run: null }
        const { run_id, state, rows_queued, rows_done } = run
        return { sheet_id: sheet.sheet_id, run: { run_id, state, rows_queued, rows_done } }
      }
      let gathering: NodeJS.Timeout | undefined
      const send = async () => {
        gathering = undefined
        const data = await describe()
        if (!response.writableEnded) response.write(`event: change\ndata: ${JSON.stringify(data)}\n\n`)
      }
      const onChange = () => {
        gathering ??= setTimeout(() => {
          send().catch((cause: unknown) => {
            log.warn({ err: cause }, 'a stream of changes was ended; its reader may open it again')
            response.end()
          })
        }, GATHER_MS)
      }
      const unwatch = store.changes.watch(sheet.sheet_id, onChange)
      const keepAlive = setInterval(() => response.write(': \n\n'), KEEP_ALIVE_MS)
      response.once('close', () => {
        open.delete(response)
        clearInterval(keepAlive)
        clearTimeout(gathering)
        unwatch()
      })
      onChange()
    },
  )
}
