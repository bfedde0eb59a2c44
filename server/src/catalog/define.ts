import type { PageReader } from './agent/page-reader.ts'
import type { ColumnTexts } from './fields/columns-field.ts'
import type { Field, Fields } from './fields/field.ts'
import type { ModelContext } from './models/ask-model.ts'
import type { Models } from './models/models.ts'
import type { Outcome } from './outcome.ts'
import type { ConfiguredOutputs, Outputs, OutputValues } from './outputs.ts'
import type { CellContext } from './provider/context.ts'
import type { RecordAccess } from './records/access.ts'

/**
 * Permission to send a mail, with the member who gets replies; or the wait until the organisation may send again,
 * because its hourly limit is reached.
 */
export type MailTurn = { ok: true; replyTo: string | null } | { ok: false; waitMs: number }

/**
 * The part of the engine that a running action can use. Definitions reach nothing else: no store, no engine, no API.
 */
export type ActionContext = CellContext &
  ModelContext & {
    /** The action's own price when the run was enqueued. */
    price: number
    /** The id of this run of this cell. It is the same in every try. */
    cellRun: string
    /** Access to rows of this sheet and of other sheets of the organisation. */
    sheets: SheetAccess
    /** The organisation's record store. */
    records: RecordAccess
    /** The language models that the action can ask. */
    models: Pick<Models, 'find'>
    /** Reads web pages for agents and caches them for a while for all rows. */
    pages: PageReader
    /** The installation's own mail server, if it has one, the sender of its mails and their hourly limit. */
    mail: { url: string | undefined; from: string; perHour: number }
    /**
     * Counts the recipients of a mail over the installation's server. Returns the address for replies, or how long to
     * wait.
     */
    takeMailTurn(recipients: number): Promise<MailTurn>
    /**
     * Returns the values of environment variables that the row may have received. They are removed from all that
     * callers read.
     */
    secrets(): readonly string[]
    /** Returns the organisation's knowledge file, or null if there is none. */
    knowledge(): Promise<string | null>
  }

export type SheetAccess = {
  /** Adds rows to a sheet, exactly once for this cell run and item (D36). Returns their ids in order. */
  append(targetSheetId: string, rows: Record<string, unknown>[]): Promise<SheetAnswer<string[]>>
  /** Returns rows of a sheet that meet conditions over its inputs and outputs. */
  lookup(query: LookupQuery): Promise<SheetAnswer<{ count: number; records: Record<string, unknown>[] }>>
  /**
   * Returns whether this row is the first of its sheet with these values (D72). While that cannot be known, the result
   * is 'unknown yet', unless `waitedEnough` is set: then the values that are now in the sheet decide.
   */
  judgeUnique(values: ColumnTexts & { ignoreCase: boolean; waitedEnough: boolean }): Promise<Uniqueness>
  /** Deletes the row that is running, once this action has settled. */
  deleteThisRow(): Promise<void>
}

export type Uniqueness = 'unique' | 'duplicate' | 'unknown yet'
export type SheetAnswer<Value> = { ok: true; value: Value } | { ok: false; message: string }
export type LookupQuery = {
  targetSheetId: string
  conditions: unknown
  limit: number
  order: 'oldest' | 'newest'
}

type ValueOf<F> = F extends Field<infer Value> ? Value : never
export type InputValues<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name]> }

export type RunArgs<F extends Fields> = { inputs: InputValues<F>; context: ActionContext }

type Static<O extends Outputs> = { outputs: O; dynamic?: false }
/** Outputs that are known only after a run. The declared ones always exist beside them. */
type Dynamic<O extends Outputs> = {
  outputs: O
  dynamic: true
  /** Returns the outputs that the configuration names, before any run (D74). */
  configured?: (inputs: Readonly<Record<string, unknown>>) => ConfiguredOutputs
}

/**
 * An action whose outputs depend on its inputs only, which costs nothing and touches nothing outside. A lost result is
 * simply computed again. Expressions of callers run in the sandbox, which has its own limits.
 */
type Pure<F extends Fields, O extends Outputs> = {
  pure: true
  credits: 0
  run(args: {
    inputs: InputValues<F>
    context: Pick<ActionContext, 'sandbox'>
  }): Promise<Outcome<RunOutputs<O>>> | Outcome<RunOutputs<O>>
}
type Reaching<F extends Fields, O extends Outputs> = {
  pure?: false
  run(args: RunArgs<F>): Promise<Outcome<RunOutputs<O>>> | Outcome<RunOutputs<O>>
}

export type ActionSpec<F extends Fields, O extends Outputs> = {
  /** The template id, which is also the file's name. */
  id: string
  name: string
  description: string
  category: 'flow' | 'data' | 'web' | 'ai' | 'people' | 'companies' | 'crm' | 'messages' | 'records'
  /** The words beside its name that people search for when they need this action. */
  synonyms?: readonly string[]
  /**
   * The credits for a completed cell. Providers in a waterfall have their own prices. Default 1, up to 3 decimals
   * (D22).
   */
  credits?: number
  /** The price is that of the model. On a key of the organisation nothing is reserved or charged. */
  paysModel?: true
  /**
   * Set to false if the action reads or writes what changes elsewhere, so that results of identical cells are not
   * reused.
   */
  cached?: false
  timeoutSeconds?: number
  /** The retries after the first call, for temporary failures (D24). */
  retries?: number
  inputs: F
  /**
   * Sets of inputs, one of which must be configured as a whole. For rules that `required` of one field cannot express.
   */
  needs?: readonly (readonly (keyof F & string)[])[]
  /** Returns further inputs that the configuration must set because of the values of others. */
  alsoRequired?(configured: Readonly<Record<string, unknown>>): (keyof F & string)[]
} & (Static<O> | Dynamic<O>) &
  (Pure<F, O> | Reaching<F, O>)

type RunOutputs<O extends Outputs> = OutputValues<O> & Record<string, unknown>

/** An action template as the rest of the program sees it. */
export type Action = {
  id: string
  name: string
  description: string
  category: string
  synonyms: readonly string[]
  credits: number
  paysModel: boolean
  cached: boolean
  timeoutSeconds: number
  retries: number
  inputs: Fields
  needs: readonly (readonly string[])[]
  alsoRequired(configured: Readonly<Record<string, unknown>>): string[]
  outputs: Outputs
  dynamic: boolean
  configured: ((inputs: Readonly<Record<string, unknown>>) => ConfiguredOutputs) | null
  pure: boolean
  run(args: {
    inputs: Record<string, unknown>
    context: ActionContext
  }): Promise<Outcome<Record<string, unknown>>> | Outcome<Record<string, unknown>>
}

const definedActions = new WeakSet<object>()

/** Returns true if the value was made by `defineAction`. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'object' && value !== null && definedActions.has(value)
}

/** Defines an action template; there is no other way. The types of inputs and outputs flow into `run`. */
export function defineAction<F extends Fields, O extends Outputs>(spec: ActionSpec<F, O>): Action {
  const action: Action = {
    id: spec.id,
    name: spec.name,
    description: spec.description,
    category: spec.category,
    synonyms: spec.synonyms ?? [],
    credits: spec.credits ?? 1,
    paysModel: spec.paysModel ?? false,
    cached: spec.cached ?? true,
    timeoutSeconds: spec.timeoutSeconds ?? 30,
    retries: spec.retries ?? 3,
    inputs: spec.inputs,
    needs: spec.needs ?? [],
    alsoRequired: (configured) => spec.alsoRequired?.(configured) ?? [],
    outputs: spec.outputs,
    dynamic: spec.dynamic ?? false,
    configured: (spec.dynamic === true ? spec.configured : undefined) ?? null,
    pure: spec.pure ?? false,
    // The engine reads inputs through the same fields, so they have the types that `run` declares.
    run: ({ inputs, context }) => spec.run({ inputs: inputs as InputValues<F>, context }),
  }
  definedActions.add(action)
  return action
}
