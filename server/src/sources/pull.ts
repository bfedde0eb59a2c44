import type { z } from 'zod'
import type { ActionContext } from '../catalog/define.ts'
import type { CheckedSchema } from '../catalog/models/ask-model.ts'
import type { ModelQuestion } from '../catalog/models/model-question.ts'
import type { ProviderKey } from '../catalog/provider/access.ts'
import type { Ask } from '../catalog/provider/adapter.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { EnvValues } from '../lib/security/env-values.ts'
import type { BodyOf, Shape } from './shape.ts'

/** What a definition is lent. It reaches nothing else: no store, no engine, no API. */
export type SourceContext = Pick<ActionContext, 'egress' | 'signal' | 'now' | 'owner' | 'models'>

/** Asks the model of a source for JSON of a certain shape. A refusal is passed on as it is. */
export type ReadByModel = (
  question: Pick<ModelQuestion, 'instructions' | 'task' | 'data'>,
  schema: CheckedSchema,
) => Promise<{ value: unknown } | Refusal>

export type PullArgs<Body, State> = {
  body: Body
  /** Where to go on: what the page before called `next`, or the pull before `resume`. Null at the very beginning. */
  state: State | null
  /** How many new records can be taken now. Ask for no more where that is possible: the rest is read again later. */
  limit: number
  /** With `pull_existing: false`, when the source was created: nothing that is older is asked for, whatever a pull overlaps. */
  notBefore: Date | null
  /** One call to the provider, with its key, its limits and its rules for errors. A refusal is passed on as it is. */
  ask: Ask
  /** The same of another provider, one that needs no key: what has to be looked up there first. */
  askKeyless: (provider: Provider) => Ask
  /** Asks the model that the body names; null where it names none. */
  readByModel: ReadByModel | null
  /** For what is not spoken over HTTP, such as a database. */
  key: ProviderKey
  /** Values of the organisation's environment variables, by key. They are secrets: not stored, not shown. */
  env: () => Promise<EnvValues>
  context: SourceContext
}

/** `key` names the record for ever, within its source: one that comes again is the same record, and never a second row. */
export type Keyed<Row> = { key: string | number; row: Row }

export type Page<State, Row> = {
  records: readonly Keyed<Row>[]
  /** Where the next page of this pull starts; null when this was the last. A state that comes again ends the pull. */
  next: State | null
  /**
   * Where the next scheduled pull starts; the last page's counts. Left out, it starts from the beginning, and what is known
   * is only compared. Start at the last timestamp, not behind it: several records may share one.
   */
  resume?: State
  /** How many records there are in all, where the provider says so. */
  total?: number
  /** The provider has more than it shows. */
  capped?: boolean
  /** The next page is not asked for before, as while the provider is still at work. */
  afterMs?: number
}

export type PullSpec<Body, Row, State> = {
  /** Credits for a new record, on the platform's key; 0 on keys of one's own, for records that are known and for previews. */
  price: number
  /** What is kept between pages and pulls, as JSON. One that does not fit (any more) means to start from the beginning. */
  state: z.ZodType<State>
  /** One page. Never loops, never waits, never retries: the helper does. */
  pull(args: PullArgs<Body, State>): Promise<Page<State, Row> | Refusal>
  /** Pages that a model reads where the body names one. Each answer is a page, so that none is asked for twice. */
  model?: {
    nameIn(body: Body): string | undefined
    /** Credits for a page on which it found records, where it runs on the platform's key. */
    pagePrice: number
  }
  /**
   * The state that skips what was there at a moment, for `pull_existing: false`. Without it, or with null, the first pull
   * notes which records there are and imports none of them.
   */
  skipExisting?(at: Date, body: Body): State | null
  /** Times are told too coarsely to skip by: the first pull notes what it finds behind the moment, too. */
  skipsCoarsely?: true
}

/** One way to get the records of a source: through one provider. */
export type Pull = {
  provider: Provider
  price: number
  /** Null where the first pull has to note which records there are; `notes` where it has to note those it finds as well. */
  skipExisting: (at: Date, body: unknown) => { state: unknown; notes: boolean } | null
  model: { nameIn(body: unknown): string | undefined; pagePrice: number } | null
  /** `state` is whatever was stored. */
  read(args: PullArgs<unknown, unknown>): Promise<Page<unknown, Record<string, unknown>> | Refusal>
}

/**
 * How one provider is asked. Everything that may go wrong is handled once, by those who call it: equal timestamps, repeated
 * states, empty pages, 429 with Retry-After, 5xx, refused keys, masked records, a crash between any two statements.
 */
export function definePull<Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>, State>(
  _shape: Shape<Body, Row>,
  provider: Provider,
  spec: PullSpec<BodyOf<Body>, z.input<Row> & Record<string, unknown>, State>,
): Pull {
  const { model } = spec
  return {
    provider,
    price: spec.price,
    model:
      model === undefined
        ? null
        : { nameIn: (body) => model.nameIn(body as BodyOf<Body>), pagePrice: model.pagePrice },
    skipExisting: (at, body) => {
      const state = spec.skipExisting?.(at, body as BodyOf<Body>) ?? null
      return state === null ? null : { state, notes: spec.skipsCoarsely === true }
    },
    read: ({ body, state, ...rest }) => {
      const known = spec.state.safeParse(state)
      // The body was read by the schema of the same shape, so it has the type that `pull` declares.
      return spec.pull({ ...rest, body: body as BodyOf<Body>, state: known.success ? known.data : null })
    },
  }
}
