import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { SheetChange } from '#contract/changes.ts'
import type { Db } from '../../../store/connection/db.ts'
import { listRuns } from '../../../store/runs/runs.ts'
import type { SheetRecord } from '../../../store/sheets/sheets.ts'
import type { Services } from '../../services.ts'

/** Several changes in quick succession are one event. */
const GATHER_MS = 100

/** The readers of one sheet: what it is like after a change is read once, however many there are. */
type Audience = {
  readers: Set<ServerResponse>
  /** Those who could not take an event in; they are told as soon as they can. */
  behind: Set<ServerResponse>
  gathering: NodeJS.Timeout | undefined
  unwatch: () => void
}

export type Reader = { sheet: SheetRecord; db: Db; response: ServerResponse }

export function createAudiences({ store, log }: Pick<Services, 'store' | 'log'>) {
  const audiences = new Map<string, Audience>()

  async function tell({ sheet, db }: Reader, audience: Audience, readers: Iterable<ServerResponse>) {
    const event = `event: change\ndata: ${JSON.stringify(await describe(db, sheet))}\n\n`
    for (const reader of readers) {
      if (!audience.readers.has(reader) || reader.writableEnded) continue
      if (reader.writableNeedDrain) audience.behind.add(reader)
      else reader.write(event)
    }
  }

  /** Readers whose state is unknown are better off without a stream: they open it again. */
  const giveUp = (readers: Iterable<ServerResponse>) => (cause: unknown) => {
    log.warn({ err: cause }, 'streams of changes were ended; their readers may open them again')
    for (const reader of readers) reader.end()
  }

  function found(reader: Reader): Audience {
    const audience: Audience = {
      readers: new Set(),
      behind: new Set(),
      gathering: undefined,
      unwatch: store.changes.watch(reader.sheet.sheet_id, () => {
        audience.gathering ??= setTimeout(() => {
          audience.gathering = undefined
          tell(reader, audience, audience.readers).catch(giveUp(audience.readers))
        }, GATHER_MS)
      }),
    }
    audiences.set(reader.sheet.sheet_id, audience)
    return audience
  }

  return {
    /** Tells the reader where the sheet is, then of each change. */
    join(reader: Reader): void {
      const { response } = reader
      const audience = audiences.get(reader.sheet.sheet_id) ?? found(reader)
      audience.readers.add(response)
      response.on('drain', () => {
        if (audience.behind.delete(response)) tell(reader, audience, [response]).catch(giveUp([response]))
      })
      tell(reader, audience, [response]).catch(giveUp([response]))
    },
    leave(sheetId: string, response: ServerResponse): void {
      const audience = audiences.get(sheetId)
      if (audience === undefined) return
      audience.readers.delete(response)
      audience.behind.delete(response)
      if (audience.readers.size > 0) return
      audiences.delete(sheetId)
      clearTimeout(audience.gathering)
      audience.unwatch()
    },
  }
}

async function describe(db: Db, sheet: SheetRecord): Promise<z.infer<typeof SheetChange>> {
  const [run] = await listRuns(db, sheet, 1)
  if (run === undefined) return { sheet_id: sheet.sheet_id, run: null }
  const { run_id, state, rows_queued, rows_done } = run
  return { sheet_id: sheet.sheet_id, run: { run_id, state, rows_queued, rows_done } }
}
