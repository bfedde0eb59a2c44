import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { PURSE_LATE } from './budget-matches.ts'
import { lockPurses } from './purse-locks.ts'
import { PURSE_LIMIT, PURSE_UNFOLDED } from './purses.ts'

/** The need of a cell: it wants `more` thousandths and then holds `total`. */
export type Need = { more: number; total: number }

/** The reason of a refusal: the balance, a cap, or a budget has too little left. */
export type Refusal = {
  kind: 'balance' | 'max_credits' | 'budget'
  budgetId: string | null
  /** The owner of a cap that runs share (`webhook <id>`); null for the cap of the run. */
  subject: string | null
  /** The name of the budget. */
  name: string | null
  leftMillis: number
  neededMillis: number
  /** Tells whether the refusal holds whatever other cells spend. If not, only the credits that others hold are in the way. */
  isFinal: boolean
}

export type Answer = 'held' | Refusal
export type Taken = { kind: 'lost' } | { kind: 'taken'; grantedMillis: number; answers: Answer[] }

export type Take = {
  orgId: string
  /** The purses to take from. The balance is always added. */
  purseIds: readonly string[]
  holder: string
  /** Tells whether the holder is a record that ends its share itself. */
  lasting?: boolean
  /** The purses of which the holder believes to have shares; the organisation's id stands for its balance. */
  sharesKnown: readonly string[]
  needs: readonly Need[]
  /** The credits to take beyond the needs, if plenty are left. */
  extraMillis: number
}

type State = {
  purse_id: string
  kind: 'cap' | 'budget' | 'balance'
  budget_id: string | null
  subject: string | null
  name: string | null
  limit: number | null
  /** The spent thousandths, folded or not. */
  spent: number
  free: number | null
  has_share: boolean
}

const RANKS = { cap: 0, budget: 1, balance: 2 }

/** Holds credits in every purse, for as many needs as fit, in their order. Call it in a transaction. */
export async function takeCredits(trx: Db, take: Take): Promise<Taken> {
  const { orgId, holder, needs, sharesKnown } = take
  const locked = await lockPurses(trx, orgId, take.purseIds)
  const purses = await readPurses(trx, orgId, locked, holder)
  if (sharesKnown.some((id) => !purses.some(({ purse_id, has_share }) => has_share && purse_id === id)))
    return { kind: 'lost' }
  let granted = 0
  const answers = needs.map(({ more, total }): Answer => {
    const spent = purses.find((purse) => purse.limit !== null && purse.spent + total > purse.limit)
    if (spent !== undefined) return createRefusal(spent, total, true)
    const short = purses.find(({ free }) => free !== null && granted + more > free)
    if (short !== undefined) return createRefusal(short, total, false)
    granted += more
    return 'held'
  })
  const workers = purses.length === 0 || take.extraMillis === 0 ? 1 : await countHolders(trx)
  const spare = purses.map(({ free }) => (free === null ? Infinity : (free - granted) / (8 * workers)))
  if (granted > 0) granted += Math.max(0, Math.floor(Math.min(take.extraMillis, ...spare)))
  const refusing = new Set(purses.filter((one) => answers.some((answer) => isRefusalOf(answer, one))))
  await write(trx, take, { purses, granted, refusing: [...refusing].map(({ purse_id }) => purse_id) })
  return { kind: 'taken', grantedMillis: granted, answers }
}

async function readPurses(trx: Db, orgId: string, ids: readonly string[], holder: string): Promise<State[]> {
  const { rows } = await sql<State>`
    select p.purse_id, p.kind, p.budget_id, p.subject, (select b.name from budgets b
        where b.org_id = p.org_id and b.budget_id = p.budget_id) as name,
      l.limit, p.spent_millis + u.millis + late.millis as spent,
      l.limit - p.spent_millis - late.millis - p.granted_millis as free, s.holder is not null as has_share
    from purses p
    cross join lateral (select ${sql.raw(PURSE_LIMIT)} as limit) l
    cross join lateral (select ${sql.raw(PURSE_UNFOLDED)} as millis) u
    cross join lateral (select ${PURSE_LATE} as millis) late
    left join purse_shares s on s.org_id = p.org_id and s.purse_id = p.purse_id and s.holder = ${holder}
    where p.org_id = ${orgId} and p.purse_id = any(${ids}::uuid[])
    union all
    select o.org_id, 'balance', null, null, null, o.credits_millis, u.millis, o.credits_millis - o.held_millis, s.holder is not null
    from organisations o
    cross join lateral (select coalesce(sum(c.millis), 0)::bigint as millis from purse_charges c where c.org_id = o.org_id) u
    left join purse_shares s on s.org_id = o.org_id and s.purse_id = o.org_id and s.holder = ${holder}
    where o.org_id = ${orgId}`.execute(trx)
  return rows.toSorted((one, other) => RANKS[one.kind] - RANKS[other.kind])
}

const countHolders = async (trx: Db): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(distinct holder)::int as count from purse_shares
    where not lasting`.execute(trx)
  return Math.max(1, rows[0]?.count ?? 1)
}

function createRefusal(purse: State, neededMillis: number, isFinal: boolean): Refusal {
  const { kind, budget_id, subject, name, limit, spent } = purse
  return {
    kind: kind === 'cap' ? 'max_credits' : kind,
    budgetId: budget_id,
    subject,
    name,
    leftMillis: Math.max(0, (limit ?? 0) - spent),
    neededMillis,
    isFinal,
  }
}

const isRefusalOf = (answer: Answer, { kind, budget_id }: State): boolean =>
  answer !== 'held' &&
  answer.isFinal &&
  answer.kind === (kind === 'cap' ? 'max_credits' : kind) &&
  answer.budgetId === budget_id

async function write(
  trx: Db,
  { orgId, holder, lasting = false }: Take,
  { purses, granted, refusing }: { purses: readonly State[]; granted: number; refusing: string[] },
): Promise<void> {
  if (refusing.length > 0)
    await sql`update purses set refused_at = now()
      where org_id = ${orgId} and purse_id = any(${refusing}::uuid[]) and refused_at is null`.execute(trx)
  if (granted === 0) return
  const ids = purses.map(({ purse_id }) => purse_id)
  await sql`
    with purse as (
      update purses set granted_millis = granted_millis + ${granted}::bigint
      where org_id = ${orgId} and purse_id = any(${ids}::uuid[])
    ), balance as (
      update organisations set held_millis = held_millis + ${granted}::bigint where org_id = ${orgId}
    ), heard as (
      -- Valid until the holder's next heartbeat: a holder that takes credits is alive.
      insert into workers (worker_id) select ${holder} where not ${lasting}::boolean on conflict (worker_id) do nothing
    )
    insert into purse_shares as s (org_id, purse_id, holder, lasting, granted_millis)
    select ${orgId}, id, ${holder}, ${lasting}::boolean, ${granted}::bigint from unnest(${ids}::uuid[]) id order by id
    on conflict (org_id, purse_id, holder) do update set granted_millis = s.granted_millis + excluded.granted_millis`.execute(
    trx,
  )
}

/**
 * Gives back credits that a holder no longer needs, in thousandths by purse; the organisation's id stands for its balance. A
 * share of nothing is deleted. Call it in a transaction.
 */
export async function giveBackCredits(
  trx: Db,
  orgId: string,
  holder: string,
  millisOf: ReadonlyMap<string, number>,
): Promise<void> {
  const ids = [...millisOf.keys()]
  await lockPurses(trx, orgId, ids)
  await sql`
    with given as (
      select * from unnest(${ids}::uuid[], ${[...millisOf.values()]}::bigint[]) as g (purse_id, millis)
    ), share as (
      update purse_shares s set granted_millis = s.granted_millis - g.millis
      from given g where s.org_id = ${orgId} and s.holder = ${holder} and s.purse_id = g.purse_id
      returning s.purse_id, g.millis
    ), purse as (
      update purses p set granted_millis = p.granted_millis - s.millis
      from share s where p.org_id = ${orgId} and p.purse_id = s.purse_id
    )
    update organisations o set held_millis = o.held_millis - s.millis
    from share s where o.org_id = ${orgId} and s.purse_id = o.org_id`.execute(trx)
  await sql`delete from purse_shares where org_id = ${orgId} and holder = ${holder}
    and purse_id = any(${ids}::uuid[]) and granted_millis = 0`.execute(trx)
}
