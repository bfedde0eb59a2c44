import type { PageReader } from './agent/page-reader.ts'
import type { ColumnTexts } from './fields/columns-field.ts'
import type { Field, Fields } from './fields/field.ts'
import type { ModelContext } from './models/ask-model.ts'
import type { Models } from './models/models.ts'
import type { Outcome } from './outcome.ts'
import type { ConfiguredOutputs, Outputs, OutputValues } from './outputs.ts'
import type { CellContext } from './provider/context.ts'
import type { RecordAccess } from './records/access.ts'

/** What the engine lends to a running action. Definitions reach nothing else: no store, no engine, no API. */
/** A mail may go out, with answers to the member whose it is; or the organisation has sent its share of this hour. */
export type MailTurn = { ok: true; replyTo: string | null } | { ok: false; waitMs: number }

export type ActionContext = CellContext &
  ModelContext & {
    /** The action's own price, of when the run was queued. */
    price: number
    /** Names this run of this cell, the same each time that it is tried. */
    cellRun: string
    /** Rows of this and other sheets of the organisation. */
    sheets: SheetAccess
    /** The organisation's record store. */
    records: RecordAccess
    /** Language models that can be asked. */
    models: Pick<Models, 'find'>
    /** Reads web pages for agents, and keeps them for a while for all rows. */
    pages: PageReader
    /** The installation's own mail server, where it has one, and the sender of its mails. */
    mail: { url: string | undefined; from: string; perHour: number }
    /** Counts recipients of a mail over the installation's server, and says whose mail it is; or how long to wait. */
    takeMailTurn(recipients: number): Promise<MailTurn>
    /** Values of environment variables that the row may have got: they are cut out of whatever callers read. */
    secrets(): readonly string[]
    /** The organisation's knowledge file; null when there is none. */
    knowledge(): Promise<string | null>
  }

export type SheetAccess = {
  /** Adds rows to a sheet, exactly once for this cell run and item (D36). Answers their ids in order. */
  append(targetSheetId: string, rows: Record<string, unknown>[]): Promise<SheetAnswer<string[]>>
  /** Rows of a sheet that meet conditions over its inputs and outputs. */
  lookup(query: LookupQuery): Promise<SheetAnswer<{ count: number; records: Record<string, unknown>[] }>>
  /**
   * Whether this row is the first of its sheet with these values (D72). It may be too early to tell; who has waited enough is
   * judged by the values that stand in the sheet.
   */
  judgeUnique(values: ColumnTexts & { ignoreCase: boolean; waitedEnough: boolean }): Promise<Uniqueness>
  /** Removes the row that is being run, once this action has settled. */
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
/** Outputs that are only known after a run; those declared are always there beside them. */
type Dynamic<O extends Outputs> = {
  outputs: O
  dynamic: true
  /** Those that its configuration names, before any run (D74). */
  configured?: (inputs: Readonly<Record<string, unknown>>) => ConfiguredOutputs
}

/**
 * What comes out follows from the inputs, for nothing, and nothing outside is touched: a result that is lost is simply computed
 * again. Expressions of callers run in the sandbox, which has limits of its own.
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
  /** The template id: also the file's name. */
  id: string
  name: string
  description: string
  category: 'flow' | 'data' | 'web' | 'ai' | 'people' | 'companies' | 'crm' | 'messages' | 'records'
  /** Credits for a completed cell; providers in a waterfall have prices of their own. Default 1, up to 3 decimals (D22). */
  credits?: number
  /** The price is that of its model: where that runs on a key of the organisation, nothing is set aside or paid. */
  paysModel?: true
  /** False: it reads or writes what changes elsewhere, so no result of an identical cell stands for its own. */
  cached?: false
  timeoutSeconds?: number
  /** Retries after the first call, for outcomes that may pass (D24). */
  retries?: number
  inputs: F
  /** Which inputs must be set together, when `required` of one field cannot say it: any of these sets is enough. */
  needs?: readonly (readonly (keyof F & string)[])[]
  /** Which inputs a configuration must set besides, because of what others are set to. */
  alsoRequired?(configured: Readonly<Record<string, unknown>>): (keyof F & string)[]
} & (Static<O> | Dynamic<O>) &
  (Pure<F, O> | Reaching<F, O>)

type RunOutputs<O extends Outputs> = OutputValues<O> & Record<string, unknown>

/** A template as everybody but its own file sees it. */
export type Action = {
  id: string
  name: string
  description: string
  category: string
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

const made = new WeakSet<object>()

/** Whether a value came out of `defineAction`. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'object' && value !== null && made.has(value)
}

/** The one way to write an action template. Types of inputs and outputs flow into `run`. */
export function defineAction<F extends Fields, O extends Outputs>(spec: ActionSpec<F, O>): Action {
  const action: Action = {
    id: spec.id,
    name: spec.name,
    description: spec.description,
    category: spec.category,
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
  made.add(action)
  return action
}
