import type { z } from 'zod'

/**
 * The fields of the request body and of the rows. It is a separate value, so that several pulls and definitions can
 * share its types.
 */
export type Shape<Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>> = {
  /**
   * The source's own fields, named as in the catalogue. Each has a `.describe(...)`, which becomes part of the API
   * description. Error texts start in lower case ("must be ..."). `defineSource` adds the common fields.
   */
  body: Body
  /**
   * The fields of a row. Records that do not fit are not imported, only counted: use `unmasked` if a provider sends
   * masked texts. Use `z.record(z.string(), z.unknown())` if the caller's account decides the fields.
   */
  row: Row
  /**
   * Returns the row fields if the body decides them, such as a list of properties. Null if only the records show them.
   */
  fieldsOf?(body: BodyOf<Body>): readonly string[] | null
}

export type BodyOf<Body extends z.ZodRawShape> = z.output<z.ZodObject<Body>>

export function defineShape<const Body extends z.ZodRawShape, Row extends z.ZodType<Record<string, unknown>>>(
  shape: Shape<Body, Row>,
): Shape<Body, Row> {
  return shape
}
