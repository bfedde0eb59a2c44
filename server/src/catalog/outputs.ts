import { OUTPUT_TYPES, type OutputType } from '#contract/actions.ts'

export { OUTPUT_TYPES, type OutputType }

/** One output of an action. `Value` exists for the compiler only. */
export type Output<Value = unknown> = {
  type: OutputType
  description: string
  /** The columns of a structured_array, by name. Absent if they are known only after a run. */
  columns?: Record<string, OutputType>
  /** The texts that the value may be. */
  choices?: readonly string[]
  /** The type is only for display: values may have any type, so conditions over the output accept every operator. */
  anyType?: true
  value?: Value
}

export type Outputs = Record<string, Output>

/** The outputs that a configuration names. `closed` means that a run adds no others. */
export type ConfiguredOutputs = { outputs: Outputs; closed: boolean }

type Value<O> = O extends Output<infer V> ? V : never

/** The values that `run` returns: every declared output, null if there is no answer. */
export type OutputValues<O extends Outputs> = { [Name in keyof O]: Value<O[Name]> | null }

const declare =
  <V>(type: OutputType) =>
  (description: string): Output<V> => ({ type, description })

/** The ways to declare an output, in the order of the specification. */
export const output = {
  text: declare<string>('string'),
  json: declare<unknown>('json'),
  url: declare<string>('url'),
  email: declare<string>('email'),
  number: declare<number>('number'),
  boolean: declare<boolean>('boolean'),
  list: declare<unknown[]>('raw_array'),
  /** Declares an output that is shown as a string, although its value may have any type. */
  any: (description: string): Output => ({ type: 'string', description, anyType: true }),
  table<Columns extends Record<string, OutputType>>(
    description: string,
    columns?: Columns,
  ): Output<Record<keyof Columns & string, unknown>[]> {
    return { type: 'structured_array', description, ...(columns === undefined ? {} : { columns }) }
  },
}
