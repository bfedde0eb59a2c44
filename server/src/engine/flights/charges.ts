import type { Hold } from '../purses/share.ts'
import type { Flight, RunFacts, SettledCell, Settlement } from './flight.ts'

/** Cells that were charged for the same: action, its template, thousandths, providers that are paid, and how many they are. */
type Kind = [string, string | null, number, { provider: string; credits: number }[] | null, number]

/** Charges of one run that are paid of the same shares: one record. */
class Charge {
  millis = 0
  readonly rowIds: string[] = []
  readonly kindOf: number[] = []
  readonly kinds: Kind[] = []
  readonly #places = new Map<string, number>()
  readonly facts: RunFacts
  readonly hold: Hold

  constructor(facts: RunFacts, hold: Hold) {
    this.facts = facts
    this.hold = hold
  }

  add(rowId: string, cell: SettledCell): void {
    const place = this.#placeOf(cell)
    const kind = this.kinds[place]
    if (kind !== undefined) kind[4] += 1
    this.rowIds.push(rowId)
    this.kindOf.push(place)
    this.millis += cell.creditsMillis
  }

  #placeOf({ action, actionId, creditsMillis, provenance }: SettledCell): number {
    const paid = provenance?.filter(({ credits }) => credits > 0) ?? []
    const providers = paid.length === 0 ? null : paid.map(({ provider, credits }) => ({ provider, credits }))
    const key = `${action} ${creditsMillis} ${providers === null ? '' : JSON.stringify(providers)}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    this.kinds.push([action, actionId ?? null, creditsMillis, providers, 0])
    this.#places.set(key, this.kinds.length - 1)
    return this.kinds.length - 1
  }
}

/** What the cells of a batch cost; null: nothing. */
export function chargesOf(batch: readonly { flight: Flight; settlement: Settlement }[]): Charges | null {
  const charges = new Charges()
  for (const { flight, settlement } of batch) {
    for (const cell of settlement.cells) if (cell.creditsMillis > 0) charges.add(flight, cell)
  }
  return charges.isEmpty() ? null : charges
}

class Charges {
  readonly #byPayer = new Map<string, Charge>()

  isEmpty(): boolean {
    return this.#byPayer.size === 0
  }

  add({ facts, row, position: { hold } }: Flight, cell: SettledCell): void {
    if (hold === null) throw new Error(`${cell.action} of run ${facts.run_id} costs credits and holds none`)
    const key = `${hold.holder.id} ${facts.run_id} ${hold.purseIds.join(' ')}`
    const charge = this.#byPayer.get(key) ?? new Charge(facts, hold)
    this.#byPayer.set(key, charge)
    charge.add(row.id, cell)
  }

  /** The shares that are paid of, by column, and the records. */
  columns(): unknown[] {
    const charges = [...this.#byPayer.values()]
    const shares = new Map<string, [string, string, string]>()
    for (const { hold } of charges) {
      const { holder, orgId } = hold
      for (const purse of [orgId, ...hold.purseIds])
        shares.set(`${purse} ${holder.id}`, [orgId, purse, holder.id])
    }
    const column = (place: 0 | 1 | 2) => [...shares.values()].map((share) => share[place])
    const records = charges.map(({ facts, hold, millis, kinds, rowIds, kindOf }) => {
      const { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version } = facts
      const f = { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version }
      const [r, q] = [`{${rowIds.join(',')}}`, `{${kindOf.join(',')}}`]
      return { o: hold.orgId, h: hold.holder.id, p: hold.purseIds, m: millis, f, k: kinds, r, q }
    })
    return [column(0), column(1), column(2), JSON.stringify(records)]
  }
}
