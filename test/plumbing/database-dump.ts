import type { Store } from '#server/database/connection/db.ts'

/** Returns every record of every table, as text. */
export async function dump(store: Store): Promise<string> {
  const tables = await store.query<{ name: string }>({
    text: `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'graphile_worker', 'graphile_groups', 'graphile_long')`,
  })
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await store.query<{ text: string }>({ text: `select t::text as text from ${name} t` })
    texts.push(name, ...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}
