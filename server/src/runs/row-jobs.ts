import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/connection/db.ts'
import { KEYED } from '../database/connection/statement-names.ts'
import { type HandedRow, type HandingOver, reservePlaces } from '../database/queue/hand-over.ts'
import { handOverStatement } from '../database/queue/handed-jobs.ts'
import { addJobsStatement } from '../database/queue/jobs.ts'
import { RUN_FACTS, type RunFacts } from '../database/queue/run-facts.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { isOn } from '../lib/fast-parts.ts'
import { NO_ID } from '../lib/ids.ts'
import { selectPlaces } from '../sheets/store/row-orders.ts'
import type { StoredOrder } from './row-choice.ts'
import { CELL_RESULTS, DATA } from './store/flight-row.ts'
import { moveToFormer } from './store/former-cells.ts'

const keyed = sql.raw(KEYED)
/** The number of flights that get their jobs in one statement. All statements are in the one transaction of the run. */
const CHUNK = 10_000
/**
 * The number of first rows of every run that are taken by workers which do nothing else, so that a short run is over at
 * once.
 */
const EXPRESS_ROWS = 50
/** The number of rows that begin as soon as they are committed, if a worker of the same process has room. */
const HANDED_ROWS = 16
/** The number of later rows that share a job, so that the cost of a job is paid once for many rows. */
const GROUP_ROWS = 16
export const groupRows = (): number => (isOn('row-groups') ? GROUP_ROWS : 1)
const EXPRESS_TASK = 'row_express'
/** The number of rows of a run that share one step of virtual time. */
const ROWS_PER_STEP = 64

/** Flights of a run that wait for jobs, and their place in the order of runs. */
export type QueuedFlights = VirtualTime & {
  org_id: string
  run_id: string
  ticket: number
  count: number
  /** The number of rows of the run that were enqueued before. */
  earlier?: number
  /**
   * A row that none of the flights comes before. Without it the scan passes all earlier flights of the organisation.
   */
  start?: string | null
  /** The actions whose cells are moved to former_cells. */
  actions: string[]
  /** Unset if rows skip actions: the cells of these stay. */
  isWhole: boolean
  /** Set if the first rows may be handed over to a worker of this process. */
  mayHandOver: boolean
  /** The order in which the rows start. Without it they start in the order of insertion. */
  order?: StoredOrder | undefined
  /** The sheet of the rows, if they have an order. */
  sheet?: SheetKey
}
export type VirtualTime = { base: number; weight: number }

/** Gives every flight of a run a job: one for each of the first rows and one for each group of later rows. */
export async function addRowJobs(db: Db, flights: QueuedFlights): Promise<void> {
  const { count, mayHandOver, earlier = 0, start, order } = flights
  if (order !== undefined) return addOrderedJobs(db, flights, order)
  let places = mayHandOver && count > 0 ? reservePlaces(db, Math.min(count, HANDED_ROWS)) : null
  let from = start ?? NO_ID
  for (let done = 0; done < count; done += CHUNK) {
    const isNext = done > 0
    const ids = nextFlights(flights, from, isNext)
    from = (await addChunk(db, flights, { ids, done: earlier + done, places })).last ?? from
    places = null
  }
}

/** Gives flights their jobs in the order in which they are to start. Some rows of the order may have no flight of the run. */
async function addOrderedJobs(
  db: Db,
  flights: QueuedFlights,
  { order_id, total }: StoredOrder,
): Promise<void> {
  const { org_id, run_id, ticket } = flights
  let done = 0
  for (let place = 0; place < total; place += CHUNK) {
    const ids = sql`select f.row_id from (${selectPlaces({ org_id, order_id }, place, CHUNK)}) p,
      lateral (select * from rows where org_id = ${org_id} and sheet_id = ${flights.sheet?.sheet_id} and seq = p.seq offset 0) r,
      lateral (select * from flights where org_id = ${org_id} and row_id = r.row_id offset 0) f
      where f.run_id = ${run_id} and f.ticket = ${ticket}::int order by p.place`
    done += (await addChunk(db, flights, { ids, done, places: null })).count ?? 0
  }
}

/** Selects the next flights in the order of their rows: those from a row on, or after it. */
const nextFlights = ({ org_id, run_id, ticket }: QueuedFlights, from: string, isNext: boolean) =>
  sql`select row_id from flights
        where org_id = ${org_id} and run_id is not distinct from ${run_id} and ticket = ${ticket}::int and ${isNext ? sql`row_id > ${from}` : sql`row_id >= ${from}`}
        order by row_id limit ${sql.lit(CHUNK)}`

const HAND_OVER = sql.raw(handOverStatement(EXPRESS_TASK, 'specified'))
const ADD_SINGLY = sql.raw(
  addJobsStatement('jobs', {
    task: EXPRESS_TASK,
    payload: 'payload',
    priority: 'priority',
    from: `queued where n < ${EXPRESS_ROWS}`,
    orderBy: 'n',
  }),
)
const ADD_GROUPS = sql.raw(
  addJobsStatement('groups', {
    task: 'rows',
    payload: 'payload',
    priority: 'priority',
    from: `queued where n >= ${EXPRESS_ROWS}`,
    orderBy: 'n',
  }),
)

const QUEUED = sql`, queued as (select specified.* from specified, taker where n >= taker.places),
    singly as (${ADD_SINGLY}), together as (${ADD_GROUPS})`

/**
 * Selects a job for each row of a chunk. A chunk that is handed over as a whole has no groups, and each part of a
 * statement takes time.
 */
const handedJobs = (flights: QueuedFlights) => sql`
      select place - 1 as n, ${payloadOf(flights, sql`to_json(row_id)`)} as payload, ${priorityOf(flights, sql`(place - 1)`)} as priority
      from chunk, unnest(ids) with ordinality as t (row_id, place)`

/** Selects a job for each of the first rows of a run, and one for each group of later rows. */
const jobsOf = (flights: QueuedFlights) => sql`
      select n, ${payloadOf(
        flights,
        sql`case when n < ${EXPRESS_ROWS} then to_json(ids[place]) else array_to_json(ids[place : place + ${groupRows() - 1}]) end`,
      )} as payload, ${priorityOf(flights, sql`n`)} as priority
      from chunk, lateral (
        select n, (n - done + 1)::int as place from (
          select generate_series(done, least(${EXPRESS_ROWS}, done + cardinality(ids)) - 1) as n
          union all
          select generate_series(greatest(${EXPRESS_ROWS}, done), done + cardinality(ids) - 1, ${groupRows()})) starts
      ) job`

const payloadOf = ({ org_id, ticket, run_id }: QueuedFlights, rows: RawBuilder<unknown>) =>
  sql`json_build_object('o', ${org_id}::uuid, 't', ${ticket}::int, 'run', ${run_id}::uuid, 'r', ${rows})`

const priorityOf = ({ base, weight }: QueuedFlights, n: RawBuilder<unknown>) =>
  sql`least(32000, ${base} + ${n} * ${weight} / ${ROWS_PER_STEP})::int`

/** A chunk of flights: the rows that a statement selects. `done` is the number of flights before it. */
type Chunk = { ids: RawBuilder<unknown>; done: number; places: HandingOver | null }
type AddedJobs = { last: string; count: number; handed: HandedRow[] | null; facts: RunFacts | null }

/**
 * Enqueues the jobs of some flights, or hands the flights over, and moves the cells that will run again to
 * former_cells. Returns the last row.
 *
 * This is a statement of its own after the one that made the flights, so that it also sees a cell that an earlier
 * flight settled a moment ago. `is not distinct from` keeps to the primary key, which has the flights in order: by the
 * run all of them would be sorted for every chunk. Jobs are cut out of one list of rows, which costs half of numbering
 * and grouping them. Rows handed over are looked up one by one: a join, planned before statistics exist, read all rows
 * of the organisation.
 */
async function addChunk(
  db: Db,
  flights: QueuedFlights,
  { ids, done, places }: Chunk,
): Promise<Partial<AddedJobs>> {
  const { org_id, run_id, ticket, count, actions, isWhole } = flights
  const reached = isWhole
    ? sql``
    : sql`and array_position(${actions}::text[], c.action) > (select skipped from flights f where f.org_id = c.org_id and f.row_id = c.row_id)`
  const isHandedWhole = places !== null && places.count === count
  const { rows } = await sql<AddedJobs>`${keyed}
    with chunk as materialized (
      select ${done}::bigint as done, array(${ids}) as ids
    ), cleared as (
      delete from cells c where c.org_id = ${org_id} and c.row_id = any((select ids from chunk)::uuid[])
        and c.action = any(${actions}::text[]) ${reached} returning c.*
    ), former as (${moveToFormer(run_id)}
    ), run_again as (
      delete from stopped_rows s where s.org_id = ${org_id} and s.row_id = any((select ids from chunk)::uuid[])
    ), specified as (${isHandedWhole ? handedJobs(flights) : jobsOf(flights)}
    ), taker as (select ${places?.workerId ?? null}::text as id, ${places?.count ?? 0}::int as places),
    handed as (
      ${HAND_OVER}
    )
    ${isHandedWhole ? sql`` : QUEUED}
    select (select ids[cardinality(ids)] from chunk) as last, (select cardinality(ids) from chunk) as count,
      (select json_agg(json_build_object('job', i.id, 'r', i.r, 'data', ${sql.raw(DATA)}, 'cells', (
          select ${sql.raw(CELL_RESULTS)} from cells c
          where c.org_id = i.o and c.row_id = i.r and c.action <> all(${actions}::text[]))::text))
        from (select id, r::uuid as r, ${org_id}::uuid as o from handed) i
        left join lateral (select r.data from rows r where r.org_id = i.o and r.row_id = i.r offset 0) r on true) as handed,
      (select row_to_json(f) from (${sql.raw(RUN_FACTS)} where r.org_id = ${org_id} and r.run_id = ${run_id}) f
        where exists (select from handed)) as facts
    ${isHandedWhole ? sql`` : sql`from singly, together`}`.execute(db)
  const [added] = rows
  if (added?.handed && added.facts) places?.made({ facts: added.facts, ticket, rows: added.handed })
  return added ?? {}
}
