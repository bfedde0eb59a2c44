import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'

/** A name in use: of a source, an event type, or a type of relationships from entities of that kind. */
export type Term = { topic: 'source' | 'event' | 'relationship'; kind: EntityKind; term: string }

/** Records which names exist. Known names are only read, so that ingests do not wait for each other. */
export async function addTerms(db: Db, orgId: string, terms: readonly Term[]): Promise<void> {
  if (terms.length === 0) return
  await sql`
    insert into record_terms (org_id, topic, kind, term)
    select ${orgId}, t.topic, t.kind, t.term
    from unnest(
      ${terms.map(({ topic }) => topic)}::text[], ${terms.map(({ kind }) => kind)}::text[],
      ${terms.map(({ term }) => term)}::text[]
    ) as t (topic, kind, term)
    where not exists (
      select from record_terms k
      where k.org_id = ${orgId} and k.topic = t.topic and k.kind = t.kind and k.term = t.term)
    order by 2, 3, 4
    on conflict do nothing`.execute(db)
}

/** Lists each name once, sorted. Without a kind, lists the names of all kinds. */
export async function listTerms(
  db: Db,
  orgId: string,
  topic: Term['topic'],
  kind?: EntityKind,
): Promise<string[]> {
  const { rows } = await sql<{ term: string }>`
    select distinct term from record_terms
    where org_id = ${orgId} and topic = ${topic} and (${kind ?? null}::text is null or kind = ${kind ?? null})
    order by term`.execute(db)
  return rows.map(({ term }) => term)
}
