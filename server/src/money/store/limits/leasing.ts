import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { LIMIT_LATE } from './budget-matches.ts'
import { lockLimits } from './limit-locks.ts'
import { LIMIT_MILLIS, LIMIT_UNPOSTED } from './limits.ts'

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
export type LeaseAnswer = { kind: 'lost' } | { kind: 'leased'; grantedMillis: number; answers: Answer[] }

export type LeaseRequest = {
  orgId: string
  /** The limits that count the credits. The balance is always added. */
  limitIds: readonly string[]
  holder: string
  /** Tells whether the holder is a record that ends its lease itself. */
  lasting?: boolean
  /** The limits of which the holder believes to have leases; the organisation's id stands for its balance. */
  leasesKnown: readonly string[]
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
  /** The spent thousandths, posted or not. */
  spent: number
  free: number | null
  has_lease: boolean
}

const RANKS = { cap: 0, budget: 1, balance: 2 }

/** Leases credits of every limit, for as many needs as fit, in their order. Call it in a transaction. */
export async function leaseCredits(trx: Db, request: LeaseRequest): Promise<LeaseAnswer> {
  const { orgId, holder, needs, leasesKnown } = request
  const locked = await lockLimits(trx, orgId, request.limitIds)
  const limits = await readLimits(trx, orgId, locked, holder)
  if (leasesKnown.some((id) => !limits.some(({ purse_id, has_lease }) => has_lease && purse_id === id)))
    return { kind: 'lost' }
  let granted = 0
  const answers = needs.map(({ more, total }): Answer => {
    const spent = limits.find((one) => one.limit !== null && one.spent + total > one.limit)
    if (spent !== undefined) return createRefusal(spent, total, true)
    const short = limits.find(({ free }) => free !== null && granted + more > free)
    if (short !== undefined) return createRefusal(short, total, false)
    granted += more
    return 'held'
  })
  const workers = limits.length === 0 || request.extraMillis === 0 ? 1 : await countHolders(trx)
  const spare = limits.map(({ free }) => (free === null ? Infinity : (free - granted) / (8 * workers)))
  if (granted > 0) granted += Math.max(0, Math.floor(Math.min(request.extraMillis, ...spare)))
  const refusing = new Set(limits.filter((one) => answers.some((answer) => isRefusalOf(answer, one))))
  await write(trx, request, { limits, granted, refusing: [...refusing].map(({ purse_id }) => purse_id) })
  return { kind: 'leased', grantedMillis: granted, answers }
}

async function readLimits(trx: Db, orgId: string, ids: readonly string[], holder: string): Promise<State[]> {
  const { rows } = await sql<State>`
    select p.purse_id, p.kind, p.budget_id, p.subject, (select b.name from budgets b
        where b.org_id = p.org_id and b.budget_id = p.budget_id) as name,
      l.limit, p.spent_millis + u.millis + late.millis as spent,
      l.limit - p.spent_millis - late.millis - p.granted_millis as free, s.holder is not null as has_lease
    from purses p
    cross join lateral (select ${sql.raw(LIMIT_MILLIS)} as limit) l
    cross join lateral (select ${sql.raw(LIMIT_UNPOSTED)} as millis) u
    cross join lateral (select ${LIMIT_LATE} as millis) late
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

function createRefusal(state: State, neededMillis: number, isFinal: boolean): Refusal {
  const { kind, budget_id, subject, name, limit, spent } = state
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
  { orgId, holder, lasting = false }: LeaseRequest,
  { limits, granted, refusing }: { limits: readonly State[]; granted: number; refusing: string[] },
): Promise<void> {
  if (refusing.length > 0)
    await sql`update purses set refused_at = now()
      where org_id = ${orgId} and purse_id = any(${refusing}::uuid[]) and refused_at is null`.execute(trx)
  if (granted === 0) return
  const ids = limits.map(({ purse_id }) => purse_id)
  await sql`
    with counted as (
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
 * Gives back credits that a holder no longer needs, in thousandths by limit; the organisation's id stands for its balance. A
 * lease of nothing is deleted. Call it in a transaction.
 */
export async function giveBackCredits(
  trx: Db,
  orgId: string,
  holder: string,
  millisOf: ReadonlyMap<string, number>,
): Promise<void> {
  const ids = [...millisOf.keys()]
  await lockLimits(trx, orgId, ids)
  await sql`
    with given as (
      select * from unnest(${ids}::uuid[], ${[...millisOf.values()]}::bigint[]) as g (purse_id, millis)
    ), lease as (
      update purse_shares s set granted_millis = s.granted_millis - g.millis
      from given g where s.org_id = ${orgId} and s.holder = ${holder} and s.purse_id = g.purse_id
      returning s.purse_id, g.millis
    ), counted as (
      update purses p set granted_millis = p.granted_millis - s.millis
      from lease s where p.org_id = ${orgId} and p.purse_id = s.purse_id
    )
    update organisations o set held_millis = o.held_millis - s.millis
    from lease s where o.org_id = ${orgId} and s.purse_id = o.org_id`.execute(trx)
  await sql`delete from purse_shares where org_id = ${orgId} and holder = ${holder}
    and purse_id = any(${ids}::uuid[]) and granted_millis = 0`.execute(trx)
}
