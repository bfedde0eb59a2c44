import { LRUCache } from 'lru-cache'
import { DatabaseError, type PoolClient, type QueryResult } from 'pg'
import { ask } from './ask.ts'
import { beginWith } from './begin-with.ts'

const USES_BEFORE_NAMED = 10
const MAX_NAMED = 100
const MAX_COUNTED = 1000
const MAX_COUNTED_LENGTH = 4 * 1024 * 1024

/** Tables that grow one request at a time. The plan for one that grows in leaps would be kept from when it was small. */
const STEADY = new Set([
  'organisations',
  'org_knowledge',
  'members',
  'api_keys',
  'workflows',
  'workflow_shares',
  'sheets',
  'sheet_counters',
  'chain_revisions',
])
/** Begins statements that look everything up by key, and are sent with settings that make sure of it. */
export const KEYED = '/* keyed */'
/**
 * Begins reads that look everything up by key. Outside of a transaction they have connections whose plans are made once, for any
 * size; within one they are planned each time.
 */
export const KEYED_READ = '/* keyed read */'
export const isKeyedRead = (text: string): boolean => text.startsWith(KEYED_READ)
/** Begins transactions that nobody waits for, of statements as above: they have connections that give way to all others. */
export const KEYED_UNHURRIED = `${KEYED} /* unhurried */`
export const isUnhurried = (text: string): boolean => text.startsWith(KEYED_UNHURRIED)
const TABLE = /\b(?:from|join|into|update) "?(\w+)/g

export type NamingClient = {
  query(text: string, values: unknown[]): Promise<QueryResult>
  /** The first statement of a transaction, which begins on the way. */
  beginWith(text: string, values: unknown[], onBegun: () => void): Promise<QueryResult>
  release(destroy?: boolean): void
}

/**
 * Gives names to the statements that Kysely sends again and again: the server keeps the plan of a named one, and planning
 * is half of the time of a small read. Texts that vary stay without a name, so what a connection keeps is bounded.
 */
export function createStatementNaming(): (client: PoolClient, which: 'steady' | 'all') => NamingClient {
  const names = new Map<string, string>()
  const uses = new LRUCache<string, number>({
    max: MAX_COUNTED,
    maxSize: MAX_COUNTED_LENGTH,
    sizeCalculation: (_, text) => text.length,
  })
  const clients = new WeakMap<PoolClient, NamingClient>()

  function nameOf(text: string, which: 'steady' | 'all'): string | undefined {
    if (which === 'steady' && isKeyedRead(text)) return undefined
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_NAMED || (which === 'steady' && !isSteady(text)))
      return known
    const count = (uses.get(text) ?? 0) + 1
    uses.set(text, count)
    if (count <= USES_BEFORE_NAMED) return undefined
    uses.delete(text)
    const name = `loam-${names.size}`
    names.set(text, name)
    return name
  }

  return (client, which) => {
    const known = clients.get(client)
    if (known !== undefined) return known
    // The server closes the connection after such an error. Whoever got it from the pool before that would fail too.
    let isOver = false
    const noteOver = (cause: unknown) => {
      if (cause instanceof DatabaseError && cause.severity === 'FATAL') isOver = true
    }
    const watch = (asked: Promise<QueryResult>) => {
      asked.catch(noteOver)
      return asked
    }
    const naming = (text: string, values: unknown[]) => {
      const name = nameOf(text, which)
      return name === undefined ? { text, values } : { name, text, values }
    }
    const made: NamingClient = {
      query: (text, values) => watch(ask(client, naming(text, values))),
      beginWith(text, values, onBegun) {
        // Until it is known that it has begun. What cannot even begin a transaction is in no state to be given to others.
        isOver = true
        const note = () => {
          isOver = false
          onBegun()
        }
        return watch(beginWith(client, naming(text, values), note))
      },
      release: (destroy) => client.release(destroy === true || isOver),
    }
    clients.set(client, made)
    return made
  }
}

function isSteady(text: string): boolean {
  if (text.startsWith(KEYED)) return true
  const tables = [...text.matchAll(TABLE)]
  return tables.length > 0 && tables.every(([, table = '']) => STEADY.has(table))
}
