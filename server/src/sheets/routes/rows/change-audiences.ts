import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { SheetChange } from '#contract/changes.ts'
import type { Services } from '../../../api/services.ts'
import type { Db } from '../../../database/connection/db.ts'
import { randomText } from '../../../lib/security/keys.ts'
import { listRuns } from '../../../runs/store/runs.ts'
import { readSheetState, type SheetRecord } from '../../store/sheets.ts'

/** The time within which several changes become one event. The first of them is sent at once. */
const GATHER_MS = 100
/**
 * The time for which changes are still counted after the last reader left: a reader that comes back gets only what it missed.
 */
const LINGER_MS = 5000
const PROCESS_NAME = 12

/** The readers of one sheet. The state of the sheet after a change is read once for all of them. */
type Audience = {
  readers: Set<ServerResponse>
  /** The readers whose connection was full when an event was sent. They get the next event as soon as they can take it. */
  behind: Set<ServerResponse>
  gathering: NodeJS.Timeout | undefined
  toldAt: number
  /** The number of changes so far. The id of an event contains it. */
  heard: number
  /** The timer that ends the audience a while after its last reader left. */
  lingering: NodeJS.Timeout | undefined
  unwatch: () => void
}

export type Reader = {
  sheet: SheetRecord
  db: Db
  response: ServerResponse
  /** The id of the last event that the reader got on an earlier connection. */
  lastEventId: string | undefined
}

export function createAudiences({ store, log }: Pick<Services, 'store' | 'log'>, lingerMs = LINGER_MS) {
  const audiences = new Map<string, Audience>()
  const announcer = createAnnouncer(log)

  function open(reader: Reader): Audience {
    const audience = createAudience(store, reader, announcer)
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
    /** Adds a reader. It gets the state of the sheet, unless it saw that last, and then each change. */
    join(reader: Reader): void {
      const { response } = reader
      const audience = audiences.get(reader.sheet.sheet_id) ?? open(reader)
      audience.readers.add(response)
      clearTimeout(audience.lingering)
      response.on('drain', () => {
        if (audience.behind.delete(response)) announcer.announce(reader, audience, [response])
      })
      if (!announcer.hasSeenLatest(reader, audience)) announcer.announce(reader, audience, [response])
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
    /** Ends all audiences and their counts when the server ends. */
    close(): void {
      for (const [sheetId, audience] of audiences) end(sheetId, audience)
    },
  }
}

/** Creates the audience of a sheet, which counts changes and announces them to its readers from now on. */
function createAudience(store: Services['store'], reader: Reader, { announce }: Announcer): Audience {
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
        announce(reader, audience, audience.readers)
      }, wait)
    }),
  }
  return audience
}

type Announcer = ReturnType<typeof createAnnouncer>

/** Creates the part that sends the state of a sheet to readers. */
function createAnnouncer(log: Services['log']) {
  /** The name of this process in ids of events: counts of other processes, or from before a restart, mean something else. */
  const process = randomText(PROCESS_NAME)
  const createEventId = ({ heard }: Audience) => `${process}-${heard}`

  async function send({ sheet, db }: Reader, audience: Audience, readers: Iterable<ServerResponse>) {
    // The id is made before the state is read, so a change in between is announced again.
    const id = createEventId(audience)
    const data = JSON.stringify(await describe(db, sheet))
    const event = `id: ${id}\nevent: change\ndata: ${data}\n\n`
    for (const reader of readers) {
      if (!audience.readers.has(reader) || reader.writableEnded) continue
      if (reader.writableNeedDrain) audience.behind.add(reader)
      else reader.write(event)
    }
  }

  return {
    hasSeenLatest: ({ lastEventId }: Reader, audience: Audience) => lastEventId === createEventId(audience),
    /** Sends the state to these readers. Ends their streams if the state cannot be read; they open them again. */
    announce: (reader: Reader, audience: Audience, readers: Iterable<ServerResponse>): void => {
      send(reader, audience, readers).catch((cause: unknown) => {
        log.warn(
          { err: cause },
          'cannot read the state of a sheet; its streams of changes were ended, and readers may open them again',
        )
        for (const one of readers) one.end()
      })
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
