import type { Action, ActionContext, MailTurn, SheetAccess } from '../../../catalog/define.ts'
import type { ProviderGate, ProviderKey, ProviderKeys } from '../../../catalog/provider/access.ts'
import type { ProviderRate, Reserved } from '../../../catalog/provider/context.ts'
import type { RecordAccess } from '../../../catalog/records/access.ts'
import type { CallOff } from '../../../lib/egress/request.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import type { Flight } from '../flights/flight.ts'
import { noteHeld, noteRefusal } from '../flights/position.ts'
import type { CallLimit } from './call-limit.ts'
import type { DatabaseUse } from './database-use.ts'
import { listUsed, maskOf } from './environment-mask.ts'
import { readState, wasCutOff } from './parked-state.ts'

/** The walk of the row that the cell belongs to. */
export type CellWalk = Pick<RowWalk, 'flight' | 'definition' | 'env'>

type CallParts = {
  action: Pick<Action, 'id' | 'credits'>
  limit: CallLimit
  database: DatabaseUse
}

/**
 * Gives an action what it may use. A class of getters, because one is made for every cell: what an action does not look
 * at is not made.
 */
export class CellContext implements ActionContext, ProviderKeys {
  readonly #engine: Engine
  readonly #walk: CellWalk
  readonly #call: CallParts

  constructor(engine: Engine, walk: CellWalk, call: CallParts) {
    this.#engine = engine
    this.#walk = walk
    this.#call = call
  }

  get owner(): string {
    return this.#walk.flight.facts.org_id
  }
  get egress() {
    return this.#engine.services.egress
  }
  get sandbox(): ActionContext['sandbox'] {
    const own = this.#engine.services.sandbox.of(this.#walk.flight.facts.org_id)
    // The sandbox has a limit of its own, which counts while an expression is executed.
    return {
      evaluate: (code, values, options) => this.#call.limit.hold(own.evaluate(code, values, options)),
    }
  }
  get models() {
    return this.#engine.services.models
  }
  get mail() {
    return this.#engine.services.mail
  }
  takeMailTurn(recipients: number): Promise<MailTurn> {
    const { org_id: orgId, run_id: runId } = this.#walk.flight.facts
    const { perHour } = this.mail
    const { takeMailTurn } = this.#engine
    return this.#call.database.watch(takeMailTurn({ orgId, runId, recipients, perHour }))
  }
  get pages() {
    return this.#engine.services.pages.of(this.#walk.flight.facts.org_id)
  }
  get gate(): ActionContext['gate'] {
    return new WatchedGate(
      this.#engine.services.gates.of(this.#walk.flight.facts.org_id),
      this.#call.database,
    )
  }
  get keys(): ActionContext['keys'] {
    return this
  }
  /** Implements `keys`. */
  platform(provider: string): ProviderKey | null {
    return this.#engine.environment.platformKey(provider)
  }
  /** Implements `keys`. */
  own(provider: string, name?: string): Promise<ProviderKey | null> {
    const keys = this.#engine.environment.keysOf(this.#walk.flight.facts)
    return this.#call.database.watch(keys.own(provider, name))
  }
  get price(): number {
    return this.#call.action.credits
  }
  get cellRun(): string {
    const { fence, row, position } = this.#walk.flight
    return `${fence.run}/${row.id}/${position.action}`
  }
  get signal(): AbortSignal {
    return this.#call.limit.signal
  }
  get callOff(): CallOff {
    return this.#call.limit
  }
  get state(): unknown {
    return readState(this.#walk.flight.position.state)
  }
  get wasCutOff(): boolean {
    return wasCutOff(this.#walk.flight.position)
  }
  get sheets(): SheetAccess {
    const access = this.#engine.sheetsFor(this.#walk.flight, this.signal, this.#call.database)
    return { ...access, append: (sheetId, rows) => access.append(sheetId, this.#hide(rows)) }
  }
  get records(): RecordAccess {
    const access = this.#engine.recordsFor(this.#walk.flight, this.#call.database)
    return {
      lookup: (query) => access.lookup(query),
      ingest: (given) => access.ingest(this.#hide(given)),
      update: (given) => access.update(this.#hide(given)),
      relate: (operation, given) => access.relate(operation, this.#hide(given)),
    }
  }
  rates(): Promise<readonly ProviderRate[]> {
    const { facts } = this.#walk.flight
    return this.#call.database.watch(this.#engine.ratesOf(facts.org_id, this.#call.action.id))
  }
  now(): Date {
    return new Date()
  }
  secrets(): readonly string[] {
    return listUsed(this.#walk.definition, this.#walk.env)
  }
  /** Removes secrets from what an action stores elsewhere, as from its outputs. */
  #hide<Data>(data: Data): Data {
    const mask = maskOf(this.#walk.definition, this.#walk.env)
    return mask === null ? data : (mask.inValue(data) as Data)
  }
  knowledge(): Promise<string | null> {
    return this.#call.database.watch(this.#engine.environment.knowledgeOf(this.#walk.flight.facts.org_id))
  }
  async reserve(credits: number): Promise<Reserved> {
    const total = Math.round(credits * MILLIS)
    const answer = await this.#call.database.watch(reserveCredits(this.#engine, this.#walk.flight, total))
    return answer === 'short' ? { waitMs: this.#engine.reservations.waitMs() } : answer === 'held'
  }
}

/** A gate that notes calls which wait for the database. */
class WatchedGate implements ProviderGate {
  readonly #gate: ProviderGate
  readonly #database: DatabaseUse

  constructor(gate: ProviderGate, database: DatabaseUse) {
    this.#gate = gate
    this.#database = database
  }

  enter(...asked: Parameters<ProviderGate['enter']>): ReturnType<ProviderGate['enter']> {
    return this.#database.watch(this.#gate.enter(...asked))
  }
}

export type ReserveAnswer = 'held' | 'short' | 'refused'

/**
 * Reserves credits until the cell has `total` of them, mostly at once. `short`: other cells hold what is missing, and
 * the cell waits until they are settled. A cell that holds some credits never waits, because two such cells could wait
 * for each other.
 */
export async function reserveCredits(
  { reservations }: Engine,
  flight: Flight,
  total: number,
): Promise<ReserveAnswer> {
  const { facts, position, row } = flight
  const more = total - position.heldMillis
  if (more <= 0) return 'held'
  const answer = await reservations.reserve(facts, position.reservation, { more, total }, row.id)
  if ('reservation' in answer) {
    noteHeld(flight, answer.reservation, total)
    return 'held'
  }
  noteRefusal(flight, answer.refusal)
  return answer.refusal.isFinal || position.heldMillis > 0 ? 'refused' : 'short'
}
