import { LRUCache } from 'lru-cache'
import { DatabaseError, type PoolClient, type QueryResult } from 'pg'
import { isOn } from '../../lib/fast-parts.ts'
import { ask } from './ask.ts'
import { beginWith } from './begin-with.ts'

const USES_BEFORE_NAMED = 10
const MAX_NAMED = 100
const MAX_COUNTED = 1000
const MAX_COUNTED_LENGTH = 4 * 1024 * 1024

/**
 * The tables that grow by one request at a time. A plan for a table that grows in leaps would be kept from the time
 * when it was small.
 */
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
/** The start of statements that look everything up by key. Their connections have settings that make sure of it. */
export const KEYED = '/* keyed */'
/**
 * The start of reads that look everything up by key. Outside a transaction they use connections whose plans are made
 * once, for tables of any size. Within a transaction they are planned each time.
 */
export const KEYED_READ = '/* keyed read */'
export const isKeyedRead = (text: string): boolean => text.startsWith(KEYED_READ)
/**
 * The start of transactions that nobody waits for and whose statements begin as above. They use connections of low
 * priority.
 */
export const KEYED_UNHURRIED = `${KEYED} /* unhurried */`
/** The start of transactions that read much of an organisation. They use connections of their own. */
export const ANALYSIS = '/* analysis */'
export const isAnalysis = (text: string): boolean => text.startsWith(ANALYSIS)
export const isUnhurried = (text: string): boolean => text.startsWith(KEYED_UNHURRIED)
const TABLE = /\b(?:from|join|into|update) "?(\w+)/g

export type NamingClient = {
  query(text: string, values: unknown[]): Promise<QueryResult>
  /** Sends the first statement of a transaction together with its `begin`. */
  beginWith(text: string, values: unknown[], onBegun: () => void): Promise<QueryResult>
  release(destroy?: boolean): void
}

/**
 * Names the statements that Kysely sends again and again. The server keeps the plan of a named statement, and
 * planning takes half the time of a small read. Texts that vary get no name, so the number of statements that a
 * connection keeps is bounded. List Rows: twice as many a second, won 7 of 7 rounds in turns (2 x86_64 cores beside
 * others, 2026-11-19).
 */
export function createStatementNaming(): (client: PoolClient, which: 'steady' | 'all') => NamingClient {
  const names = new Map<string, string>()
  const uses = new LRUCache<string, number>({
    max: MAX_COUNTED,
    maxSize: MAX_COUNTED_LENGTH,
    sizeCalculation: (_, text) => text.length,
  })
  const clients = new WeakMap<PoolClient, NamingClient>()

  function findName(text: string, which: 'steady' | 'all'): string | undefined {
    if (!isOn('statement-names') || (which === 'steady' && isKeyedRead(text))) return undefined
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
    // The server closes the connection after such an error. The next user of the pooled connection would fail too.
    let isBroken = false
    const noteBroken = (cause: unknown) => {
      if (cause instanceof DatabaseError && cause.severity === 'FATAL') isBroken = true
    }
    const watchForFatal = (asked: Promise<QueryResult>) => {
      asked.catch(noteBroken)
      return asked
    }
    const naming = (text: string, values: unknown[]) => {
      const name = findName(text, which)
      return name === undefined ? { text, values } : { name, text, values }
    }
    const made: NamingClient = {
      query: (text, values) => watchForFatal(ask(client, naming(text, values))),
      beginWith(text, values, onBegun) {
        // This holds until the transaction is known to have begun. A connection that cannot begin a transaction must
        // not be given to other callers.
        isBroken = true
        const noteBegun = () => {
          isBroken = false
          onBegun()
        }
        return watchForFatal(beginWith(client, naming(text, values), noteBegun))
      },
      release: (destroy) => client.release(destroy === true || isBroken),
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
