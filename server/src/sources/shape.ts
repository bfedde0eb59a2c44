import type { z } from 'zod'

/** What callers send and what rows hold. A value of its own, so that several pulls and definitions can share its types. */
export type Shape<Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>> = {
  /**
   * The source's own fields, in the words of the catalogue. Each has a `.describe(...)`, which becomes part of the API
   * description; texts of errors start in lower case ("must be ..."). The common fields are added by `defineSource`.
   */
  body: Body
  /**
   * The fields of a row. Whatever does not fit is not imported, only counted: use `unmasked` where a provider sends masked
   * texts. `z.record(z.string(), z.unknown())` where the caller's account decides what the fields are.
   */
  row: Row
  /** The fields of every row where a body decides them, such as a list of properties; null where only records tell. */
  fieldsOf?(body: BodyOf<Body>): readonly string[] | null
}

export type BodyOf<Body extends z.ZodRawShape> = z.output<z.ZodObject<Body>>

export function defineShape<const Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>>(
  shape: Shape<Body, Row>,
): Shape<Body, Row> {
  return shape
}
