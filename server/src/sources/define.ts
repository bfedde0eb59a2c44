import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import type { Option } from '../catalog/fields/field.ts'
import type { SendRequest } from '../catalog/provider/options.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import type { ProviderReply } from '../catalog/provider/reply.ts'
import type { Pull } from './pull.ts'
import type { Receiver } from './receive.ts'
import type { BodyOf, Shape } from './shape.ts'

/**
 * `once`: imported once, then completed. `recurring`: pulled on a schedule, daily by default. `either`: recurring if
 * the request has a `schedule`.
 */
export type SourceMode = 'once' | 'recurring' | 'either'

/** The choices of a field, looked up in the caller's account. */
export type SourceOptions = {
  /** The provider whose account is asked. Default: the provider of the source's first pull. */
  provider?: Provider
  /**
   * The keys that the context must have. Each lists the other spellings accepted beside the key itself and its
   * camelCase form.
   */
  needs?: Readonly<Record<string, readonly string[]>>
  /** Lists the choices. `context` holds the needed keys as texts, by their names in `needs`. */
  list(send: SendRequest, context: Readonly<Record<string, string>>): Promise<ProviderReply<Option[]>>
}

export type SourceSpec<Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>> = {
  /** The id of the source, which is also the name of its file in `definitions/`. */
  slug: string
  name: string
  description: string
  mode: SourceMode
  shape: Shape<Body, Row>
  /** Checks rules between fields, such as "query or table". Returns an empty list if the body is right. */
  check?(body: BodyOf<Body>): FieldError[]
  /** Another name for `max_count`, such as `max_tweets`. */
  maxCountAlias?: string
  /**
   * The choices by field name, as in the path of the options endpoint. `fromQuery` of option-query.ts reuses a query of
   * the actions.
   */
  options?: Readonly<Record<string, SourceOptions | readonly Option[]>>
} & (
  | {
      /**
       * The pulls in the order in which they are tried. The first whose provider is connected is used for all pages.
       */
      pulls: readonly Pull[]
      receives?: never
    }
  /** A source that receives pushed data. It has no schedule: records are created when data arrives. */
  | { receives: Receiver; pulls?: never }
)

/** A type of source, as all code outside its own file sees it. */
export type Source = {
  slug: string
  name: string
  description: string
  mode: SourceMode
  /** The source's own fields. */
  body: z.ZodObject
  check(body: Record<string, unknown>): FieldError[]
  maxCountAlias: string | null
  row: z.ZodType<Record<string, unknown>>
  /** The names of the row fields, or null if the caller's account decides them. */
  fields: readonly string[] | null
  /** Returns the names of the row fields, also if the fields of a body decide them. */
  fieldsOf(body: Record<string, unknown>): readonly string[] | null
  /** The pulls. Empty for a source that receives. */
  pulls: readonly Pull[]
  receives: Receiver | null
  options: Readonly<Record<string, SourceOptions | readonly Option[]>>
}

const defined = new WeakSet<object>()

/** Returns true if `defineSource` made the value. */
export function isSource(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && defined.has(value)
}

/**
 * Defines a source. It is the only way to write one: the default export of `definitions/<slug>.ts`, 30 to 80 lines with
 * its pull.
 *
 * The shape's `body` holds the source's own fields only. `defineSource` adds `name`, `max_count` (also `max_records`),
 * `max_credits`, `connection_id`, and `provider` if there are several pulls. A source that can be recurring also gets
 * `schedule`, `stop_at` and `pull_existing` (also `import_existing_data`); a source that receives gets `stop_at` only.
 * For an example, see `definitions/search_x_tweets.ts` with `x/posts.ts`.
 */
export function defineSource<
  const Body extends z.ZodRawShape,
  Row extends z.ZodType<Record<string, unknown>>,
>(spec: SourceSpec<Body, Row>): Source {
  const { body, row } = spec.shape
  const fields = row instanceof z.ZodObject && row.def.catchall === undefined ? Object.keys(row.shape) : null
  const source: Source = {
    slug: spec.slug,
    name: spec.name,
    description: spec.description,
    mode: spec.mode,
    body: z.strictObject(body),
    // The schema above has read the body, so it has the type that `check` declares.
    check: (read) => spec.check?.(read as BodyOf<Body>) ?? [],
    maxCountAlias: spec.maxCountAlias ?? null,
    row,
    fields,
    fieldsOf: (read) => fields ?? spec.shape.fieldsOf?.(read as BodyOf<Body>) ?? null,
    pulls: spec.pulls ?? [],
    receives: spec.receives ?? null,
    options: spec.options ?? {},
  }
  defined.add(source)
  return source
}
