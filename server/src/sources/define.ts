import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import type { Option } from '../catalog/fields/field.ts'
import type { SendRequest } from '../catalog/provider/options.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import type { ProviderReply } from '../catalog/provider/reply.ts'
import type { Pull } from './pull.ts'
import type { Receiver } from './receive.ts'
import type { BodyOf, Shape } from './shape.ts'

/** `once`: imported and completed. `recurring`: pulled by schedule, daily by default. `either`: recurring with a `schedule`. */
export type SourceMode = 'once' | 'recurring' | 'either'

/** Words of a field that are looked up in the caller's account. */
export type SourceOptions = {
  /** Whose account; that of the source's first pull when it is left out. */
  provider?: Provider
  /** Keys that the context must have, each with other spellings that are accepted beside it and its camelCase. */
  needs?: Readonly<Record<string, readonly string[]>>
  /** `context` holds the needed keys as texts, by their names in `needs`. */
  list(send: SendRequest, context: Readonly<Record<string, string>>): Promise<ProviderReply<Option[]>>
}

export type SourceSpec<Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>> = {
  /** Also the name of the file in `definitions/`. */
  slug: string
  name: string
  description: string
  mode: SourceMode
  shape: Shape<Body, Row>
  /** What no single field can say, such as "query or table". Empty when the body is right. */
  check?(body: BodyOf<Body>): FieldError[]
  /** Another word for `max_count`, as `max_tweets`. */
  maxCountAlias?: string
  /** By field name, as in the path of the options endpoint. A query of the actions serves too: `fromQuery` of option-query.ts. */
  options?: Readonly<Record<string, SourceOptions | readonly Option[]>>
} & (
  | {
      /** In the order in which they are tried: the first whose provider is connected is taken, once for all pulls. */
      pulls: readonly Pull[]
      receives?: never
    }
  /** For what comes by itself. It has no schedule: records are made as it comes. */
  | { receives: Receiver; pulls?: never }
)

/** A kind of source as everybody but its own file sees it. */
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
  /** Names of the fields of rows; null where the caller's account decides. */
  fields: readonly string[] | null
  /** The same, also where the fields of a body decide. */
  fieldsOf(body: Record<string, unknown>): readonly string[] | null
  /** Empty for what receives. */
  pulls: readonly Pull[]
  receives: Receiver | null
  options: Readonly<Record<string, SourceOptions | readonly Option[]>>
}

const made = new WeakSet<object>()

/** Whether a value came out of `defineSource`. */
export function isSource(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && made.has(value)
}

/**
 * The one way to write a source: the default export of `definitions/<slug>.ts`, of 30 to 80 lines with its pull.
 *
 * `body` of the shape holds the source's own fields only. These are added: `name`, `max_count` (also `max_records`),
 * `max_credits`, `connection_id`, `provider` where there are several pulls, and for what can be recurring `schedule`,
 * `stop_at`, `pull_existing` (also `import_existing_data`); what receives has `stop_at` alone. See `definitions/search_x_tweets.ts` with `x/posts.ts`.
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
    // Read by the schema above, so it has the type that `check` declares.
    check: (read) => spec.check?.(read as BodyOf<Body>) ?? [],
    maxCountAlias: spec.maxCountAlias ?? null,
    row,
    fields,
    fieldsOf: (read) => fields ?? spec.shape.fieldsOf?.(read as BodyOf<Body>) ?? null,
    pulls: spec.pulls ?? [],
    receives: spec.receives ?? null,
    options: spec.options ?? {},
  }
  made.add(source)
  return source
}
