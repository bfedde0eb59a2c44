import type { z } from 'zod'
import type { ENDPOINTS, SHEET_ENDPOINTS } from '#contract/endpoints.ts'

/** The path under which a session reaches the public endpoints. */
export const API = '/internal/api/v1'

export type SheetId = { workflowId: string; sheetId: string }

/** The path of a sheet, both in the API and in the dashboard. */
export const sheetPath = ({ workflowId, sheetId }: SheetId) =>
  `/workflows/${encodeURIComponent(workflowId)}/sheets/${encodeURIComponent(sheetId)}`

/** The address of the page of a row. */
export const rowPath = (sheet: SheetId, rowId: string) =>
  `${sheetPath(sheet)}/rows/${encodeURIComponent(rowId)}`

declare const data: unique symbol
declare const estimate: unique symbol

/** A request that can be sent or shown. `Data` is the type of its answer, and `Estimated` that of its dry run. */
export type Call<Data, Estimated = unknown> = {
  readonly method: Method
  /** The path of the public API below its prefix, or a path below `/internal`. */
  readonly path: string
  readonly body?: unknown
  readonly [data]?: Data
  readonly [estimate]?: Estimated
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Endpoints = typeof ENDPOINTS
type SheetEndpoints = typeof SHEET_ENDPOINTS

/** A value that is only read, because it is sent. */
type Sent<Value> = Value extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Sent<Value[Name]> }
    : Value
type ParamNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A field of the parts of a call: required, unless the endpoint accepts a request without it. */
type Part<Name extends string, Value> = undefined extends Value
  ? { readonly [_ in Name]?: Sent<Value> }
  : object extends Value
    ? { readonly [_ in Name]?: Sent<Value> }
    : { readonly [_ in Name]: Sent<Value> }
type Absent<Name extends string> = { readonly [_ in Name]?: never }
type SchemaPart<Schemas, Name extends string> =
  Schemas extends Record<Name, infer Schema extends z.ZodType> ? Part<Name, z.input<Schema>> : Absent<Name>
type Parts<Path, Schemas> = ([ParamNames<Path>] extends [never]
  ? Absent<'params'>
  : { readonly params: Readonly<Record<ParamNames<Path>, string>> }) &
  SchemaPart<Schemas, 'query'> &
  SchemaPart<Schemas, 'body'>
/** The parts as the last argument. It can be left out if no part is required. */
type PartsArgument<Path, Schemas> =
  object extends Parts<Path, Schemas> ? [parts?: Parts<Path, Schemas>] : [parts: Parts<Path, Schemas>]

type Output<Schemas, Name extends string> =
  Schemas extends Record<Name, infer Schema extends z.ZodType> ? z.output<Schema> : unknown
type CallOf<Schemas> = Call<Output<Schemas, 'answer'>, Output<Schemas, 'dryRun'>>

/** The body that an endpoint of a sheet takes. */
export type SheetBody<Endpoint extends keyof SheetEndpoints> = SheetEndpoints[Endpoint] extends {
  body: infer Schema extends z.ZodType
}
  ? Sent<z.input<Schema>>
  : never

/** Returns a call of an endpoint. Its parts and the type of its answer come from the table of the contract. */
export function call<Endpoint extends keyof Endpoints>(
  endpoint: Endpoint,
  ...[parts]: PartsArgument<Endpoint, Endpoints[Endpoint]>
): CallOf<Endpoints[Endpoint]> {
  return build(endpoint, '', parts)
}

/** Returns a call of an endpoint of a sheet. */
export function sheetCall<Endpoint extends keyof SheetEndpoints>(
  sheet: SheetId,
  endpoint: Endpoint,
  ...[parts]: PartsArgument<Endpoint, SheetEndpoints[Endpoint]>
): CallOf<SheetEndpoints[Endpoint]> {
  return build(endpoint, sheetPath(sheet), parts)
}

/** Returns the call that only estimates the cost of another one. */
export function dryRun<Data, Estimated>({ method, path, body }: Call<Data, Estimated>): Call<Estimated> {
  return { method, path, body: Object.assign({}, body, { dry_run: true }) }
}

type AnyParts = { params?: Record<string, string>; query?: unknown; body?: unknown }

function build(endpoint: string, parent: string, parts: AnyParts = {}): Call<never, never> {
  const [method = '', pattern = ''] = endpoint.split(' ')
  const path = pattern
    .replace(/^(\/internal)?/, `$1${parent}`)
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(parts.params?.[name] ?? ''))
  const all: [string, unknown][] = Object.entries(parts.query ?? {})
  const given = all.filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  return {
    method: method as Method,
    path: query.size === 0 ? path : `${path}?${query}`,
    ...(parts.body === undefined ? {} : { body: parts.body }),
  }
}
