import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { SheetChange } from '#contract/changes.ts'
import type { Services } from '../../../api/services.ts'
import type { Db } from '../../../database/connection/db.ts'
import { randomText } from '../../../lib/security/keys.ts'
import { listRuns } from '../../../runs/store/runs.ts'
import { readSheetState, type SheetRecord } from '../../store/sheets.ts'

/** Several changes in quick succession are one event; the first of them is told at once. */
const GATHER_MS = 100
/** How long changes are counted on after the last reader left: one who comes back is told only of what was missed. */
const LINGER_MS = 5000
const PROCESS_NAME = 12

/** The readers of one sheet: what it is like after a change is read once, however many there are. */
type Audience = {
  readers: Set<ServerResponse>
  /** Those who could not take an event in; they are told as soon as they can. */
  behind: Set<ServerResponse>
  gathering: NodeJS.Timeout | undefined
  toldAt: number
  /** Changes heard so far. An event names those that it tells of. */
  heard: number
  /** Ends it a while after its last reader left. */
  lingering: NodeJS.Timeout | undefined
  unwatch: () => void
}

export type Reader = {
  sheet: SheetRecord
  db: Db
  response: ServerResponse
  /** The event that the reader saw last, on an earlier connection. */
  lastEventId: string | undefined
}

export function createAudiences({ store, log }: Pick<Services, 'store' | 'log'>, lingerMs = LINGER_MS) {
  const audiences = new Map<string, Audience>()
  /** Counts of other processes, and of this one before it was started anew, mean something else. */
  const process = randomText(PROCESS_NAME)
  const idOf = ({ heard }: Audience) => `${process}-${heard}`

  async function tell({ sheet, db }: Reader, audience: Audience, readers: Iterable<ServerResponse>) {
    // Before it is read: what changes meanwhile is told again.
    const id = idOf(audience)
    const data = JSON.stringify(await describe(db, sheet))
    const event = `id: ${id}\nevent: change\ndata: ${data}\n\n`
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
      toldAt: 0,
      heard: 0,
      lingering: undefined,
      unwatch: store.changes.watch(reader.sheet.sheet_id, () => {
        audience.heard += 1
        if (audience.readers.size === 0) return
        if (audience.gathering !== undefined) return
        const wait = Math.max(0, audience.toldAt + GATHER_MS - performance.now())
        audience.gathering = setTimeout(() => {
          audience.gathering = undefined
          audience.toldAt = performance.now()
          tell(reader, audience, audience.readers).catch(giveUp(audience.readers))
        }, wait)
      }),
    }
    audiences.set(reader.sheet.sheet_id, audience)
    return audience
  }

  function end(sheetId: string, audience: Audience): void {
    audiences.delete(sheetId)
    clearTimeout(audience.gathering)
    clearTimeout(audience.lingering)
    audience.unwatch()
  }

  return {
    /** Tells the reader where the sheet is, unless that is what it saw last, then of each change. */
    join(reader: Reader): void {
      const { response } = reader
      const audience = audiences.get(reader.sheet.sheet_id) ?? found(reader)
      audience.readers.add(response)
      clearTimeout(audience.lingering)
      response.on('drain', () => {
        if (audience.behind.delete(response)) tell(reader, audience, [response]).catch(giveUp([response]))
      })
      if (reader.lastEventId !== idOf(audience)) {
        tell(reader, audience, [response]).catch(giveUp([response]))
      }
    },
    leave(sheetId: string, response: ServerResponse): void {
      const audience = audiences.get(sheetId)
      if (audience === undefined) return
      audience.readers.delete(response)
      audience.behind.delete(response)
      if (audience.readers.size > 0) return
      clearTimeout(audience.gathering)
      audience.gathering = undefined
      audience.lingering = setTimeout(() => end(sheetId, audience), lingerMs)
      audience.lingering.unref()
    },
    /** The server ends, and with it what is counted. */
    close(): void {
      for (const [sheetId, audience] of audiences) end(sheetId, audience)
    },
  }
}

async function describe(
  db: Db,
  { org_id, sheet_id, revision }: SheetRecord,
): Promise<z.infer<typeof SheetChange>> {
  const now = await readSheetState(db, { org_id, sheet_id })
  const sheet = {
    sheet_id,
    revision: now?.revision ?? revision,
    names: now?.names ?? '',
    rows: now?.rows ?? 0,
  }
  const [run] = await listRuns(db, { org_id, sheet_id }, { limit: 1 })
  if (run === undefined) return { ...sheet, run: null }
  const { run_id, state, rows_queued, rows_done } = run
  return { ...sheet, run: { run_id, state, rows_queued, rows_done } }
}
