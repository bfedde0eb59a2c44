import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type Definition, EMPTY_DEFINITION } from '../../catalog/chain/definition.ts'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { notFound } from '../../lib/errors.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { Actor } from '../../organisation/store/audit.ts'
import { forgetRevisions, requireRoomForRevision } from './old-revisions.ts'
import { lockWorkflow, touchWorkflow } from './workflows.ts'

/** The definitions that this process has read. Revisions never change, so they may be kept. */
const known = new LRUCache<string, Definition>({
  max: 500,
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (definition) => JSON.stringify(definition).length,
})

/** Selects the definition as text, so that configured numbers keep all digits. */
const definitionText = sql<string>`definition::text`.as('definition')
const parseDefinition = (text: string) => parseLossless(text) as Definition

type RevisionKey = SheetKey & { revision: number }

export async function getDefinition(db: Db, of: RevisionKey): Promise<Definition> {
  const key = `${of.sheet_id} ${of.revision}`
  const cached = known.get(key)
  if (cached !== undefined) return cached
  const stored = await db
    .selectFrom('chain_revisions')
    .select(definitionText)
    .where('org_id', '=', of.org_id)
    .where('sheet_id', '=', of.sheet_id)
    .where('revision', '=', of.revision)
    .executeTakeFirstOrThrow()
  const definition = parseDefinition(stored.definition)
  // A transaction may read its own writes and then not commit them.
  if (db.isTransaction) return definition
  known.set(key, definition)
  return definition
}

/** Returns a definition; undefined if it has been deleted. */
export async function findDefinition(
  db: Db,
  { org_id, sheet_id, revision }: RevisionKey,
): Promise<Definition | undefined> {
  const found = await db
    .selectFrom('chain_revisions')
    .select(definitionText)
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('revision', '=', revision)
    .executeTakeFirst()
  return found === undefined ? undefined : parseDefinition(found.definition)
}

export type Revision = {
  revision: number
  definition: Definition
  created_by: string
  by_session: boolean
  created_at: Date
}

/** Lists the latest stored revisions, the earliest of them first. */
export async function listRevisions(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  limit: number,
): Promise<Revision[]> {
  const found = await db
    .selectFrom('chain_revisions')
    .select(['revision', definitionText, 'created_by', 'by_session', 'created_at'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .orderBy('revision', 'desc')
    .limit(sql.lit(limit))
    .execute()
  return found.map((each) => ({ ...each, definition: parseDefinition(each.definition) })).toReversed()
}

/** Returns the highest epoch of each action in any stored revision, by the action's id. */
export async function listEpochs(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; epoch: number }>`
    select action ->> 'id' as id, max((action ->> 'epoch')::int) as epoch
    from chain_revisions, jsonb_array_elements(definition -> 'actions') as action
    where org_id = ${org_id} and sheet_id = ${sheet_id} group by 1`.execute(db)
  return new Map(rows.map(({ id, epoch }) => [id, epoch]))
}

async function insertRevision(db: Db, of: RevisionKey, definition: Definition, actor: Actor): Promise<void> {
  await db
    .insertInto('chain_revisions')
    .values({
      ...of,
      definition: JSON.stringify(definition),
      created_by: actor.email,
      by_session: actor.isSession === true,
    })
    .execute()
}

/** Stores the first revision of a new sheet. */
export async function startDefinition(
  db: Db,
  actor: Actor,
  sheet: SheetKey,
  definition: Definition = EMPTY_DEFINITION,
): Promise<void> {
  await insertRevision(db, { ...sheet, revision: 1 }, definition, actor)
}

export type SheetState = {
  revision: number
  definition: Definition
  nextColumn: number
  actionSerials: Record<string, number>
}
export type Edit<Result> = Partial<Omit<SheetState, 'revision'>> & { result: Result }

/**
 * Changes the definition of a sheet. Under the locks of its workflow and of the sheet, `edit` makes the next definition from
 * the current one. Without a new definition nothing is written. Call it in a transaction.
 */
export async function editDefinition<Result>(
  db: Db,
  actor: Actor,
  sheet: SheetKey & { workflow_id: string },
  edit: (state: SheetState) => Edit<Result> | Promise<Edit<Result>>,
): Promise<Result> {
  const { org_id, sheet_id, workflow_id } = sheet
  await lockWorkflow(db, org_id, workflow_id)
  const locked = await db
    .selectFrom('sheets')
    .select(['revision', 'next_column', 'action_serials'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (locked === undefined) throw notFound('Sheet')
  const { definition, nextColumn, actionSerials, result } = await edit({
    revision: locked.revision,
    definition: await getDefinition(db, { org_id, sheet_id, revision: locked.revision }),
    nextColumn: locked.next_column,
    actionSerials: locked.action_serials,
  })
  if (definition === undefined) return result
  const revision = locked.revision + 1
  await requireRoomForRevision(db, { org_id, sheet_id }, definition)
  await insertRevision(db, { org_id, sheet_id, revision }, definition, actor)
  await db
    .updateTable('sheets')
    .set({
      revision,
      ...(nextColumn === undefined ? {} : { next_column: nextColumn }),
      ...(actionSerials === undefined ? {} : { action_serials: JSON.stringify(actionSerials) }),
    })
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .returning(announcing(sheet_id).as('announced'))
    .execute()
  await touchWorkflow(db, org_id, workflow_id)
  await forgetRevisions(db, { org_id, sheet_id })
  return result
}
