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

/** The services that a definition may use. It has no access to the store, the engine or the API. */
export type SourceContext = Pick<ActionContext, 'egress' | 'signal' | 'now' | 'owner' | 'models'>

/** Asks the source's model for JSON of a given shape. Returns a refusal unchanged. */
export type ReadByModel = (
  question: Pick<ModelQuestion, 'instructions' | 'task' | 'data'>,
  schema: CheckedSchema,
) => Promise<{ value: unknown } | Refusal>

export type PullArgs<Body, State> = {
  body: Body
  /**
   * The state to continue from: `next` of the previous page, or `resume` of the previous pull. Null at the very
   * beginning.
   */
  state: State | null
  /**
   * The number of new records that can be stored now. Request no more if the provider allows it: the rest is read again
   * later.
   */
  limit: number
  /**
   * The creation time of the source if `pull_existing` is false. Records older than it are not requested, even if pulls
   * overlap.
   */
  notBefore: Date | null
  /** Calls the provider once, with its key, its limits and its rules for errors. Return a refusal unchanged. */
  ask: Ask
  /** Returns the same function for another provider that needs no key, for lookups that come first. */
  askKeyless: (provider: Provider) => Ask
  /** Asks the model that the body names. Null if the body names none. */
  readByModel: ReadByModel | null
  /** The key, for providers that are not reached over HTTP, such as a database. */
  key: ProviderKey
  /** Returns the organisation's environment variables by key. They are secrets: never store or show them. */
  env: () => Promise<EnvValues>
  context: SourceContext
}

/**
 * A row with its key. The key identifies the record in its source for ever: the same key later is the same record,
 * never a second row.
 */
export type Keyed<Row> = { key: string | number; row: Row }

export type Page<State, Row> = {
  records: readonly Keyed<Row>[]
  /** The state of the next page, or null after the last page. A repeated state ends the pull. */
  next: State | null
  /**
   * The state where the next scheduled pull starts; the last page's value is used. Without it, the next pull starts
   * from the beginning and only compares known records. Use the last timestamp itself, not the time after it: several
   * records may share one.
   */
  resume?: State
  /** The total number of records, if the provider reports it. */
  total?: number
  /** Set if the provider has more records than it shows. */
  capped?: boolean
  /** The delay before the next page is requested, for example while the provider is still working. */
  afterMs?: number
}

export type PullSpec<Body, Row, State> = {
  /** The credits for a new record on the platform's key. Own keys, known records and previews cost 0. */
  price: number
  /**
   * The schema of the state stored between pages and pulls, as JSON. A stored state that does not fit (any more)
   * restarts from the beginning.
   */
  state: z.ZodType<State>
  /** Reads one page. Must not loop, wait or retry: the caller does that. */
  pull(args: PullArgs<Body, State>): Promise<Page<State, Row> | Refusal>
  /** Set if a model reads pages when the body names one. Each answer is a page, so no answer is requested twice. */
  model?: {
    nameIn(body: Body): string | undefined
    /** The credits for a page on which the model found records, on the platform's key. */
    pagePrice: number
  }
  /**
   * Returns the state that skips the records that existed at a moment, for `pull_existing: false`. Without it, or if it
   * returns null, the first pull notes which records exist and imports none of them.
   */
  skipExisting?(at: Date, body: Body): State | null
  /**
   * Set if timestamps are too coarse to skip by: the first pull then also notes the records that it finds after the
   * moment.
   */
  skipsCoarsely?: true
}

/** A way to read the records of a source through one provider. */
export type Pull = {
  provider: Provider
  price: number
  /**
   * Returns null if the first pull must note which records exist. `notes` is true if it must also note the records that
   * it finds.
   */
  skipExisting: (at: Date, body: unknown) => { state: unknown; notes: boolean } | null
  model: { nameIn(body: unknown): string | undefined; pagePrice: number } | null
  /** Reads one page. `state` is the stored state, not checked yet. */
  read(args: PullArgs<unknown, unknown>): Promise<Page<unknown, Record<string, unknown>> | Refusal>
}

/**
 * Defines how one provider is read. The callers handle everything that can go wrong, in one place: equal timestamps,
 * repeated states, empty pages, 429 with Retry-After, 5xx, refused keys, masked records, a crash between any two
 * statements.
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
      // The schema of the same shape has read the body, so it has the type that `pull` declares.
      return spec.pull({ ...rest, body: body as BodyOf<Body>, state: known.success ? known.data : null })
    },
  }
}
