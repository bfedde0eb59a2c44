import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { ApiError } from './api-error.ts'
import { API, type Call } from './calls.ts'

export { ApiError }

/** Returns true if a retry may succeed: the server was unreachable or failed. Other errors would repeat. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500)

export type Answer<Data> = {
  data: Data
  warnings: Warning[]
  message: string | undefined
  runId: string | null
}
/** Query options for lists that colleagues can change: refetched every 5 seconds while they are visible. */
export const LIVE = { refetchInterval: 5000 } as const

let csrfToken = ''
let onSignedOut: () => void = () => {}

export function setCsrfToken(token: string): void {
  csrfToken = token
}

/** Returns the headers that prove that a changing request comes from one of our pages. */
export const csrfHeaders = () => ({ 'x-loam-csrf': csrfToken })

/** Sets the function to call when the session has ended. The frame sets it, so that this file needs no addresses. */
export function setSignedOutHandler(handler: () => void): void {
  onSignedOut = handler
}

type Options = { signal?: AbortSignal; staysSignedOut?: boolean; idempotencyKey?: string }

/** Sends a request. The contract's types say what it answers; an answer is not checked again at run time. */
export async function send<Data>(
  { method, path, body }: Call<Data>,
  options: Options = {},
): Promise<Answer<Data>> {
  const response = await fetchResponse(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : csrfHeaders()),
      ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const parsed: unknown = await response.json().catch(() => undefined)
  if (response.ok) return readAnswer<Data>(parsed, response)
  if (response.status === 401 && options.staysSignedOut !== true) onSignedOut()
  throw readError(parsed, response.status, response.headers.get('x-request-id'))
}

/** Sends a request and returns the data of its answer. */
export async function fetchData<Data>(call: Call<Data>, options: Options = {}): Promise<Data> {
  return (await send(call, options)).data
}

async function fetchResponse(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path.startsWith('/internal') ? path : `${API}${path}`, init)
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause
    throw new ApiError('The server cannot be reached', { status: 0, code: 'Unreachable' })
  }
}

function readAnswer<Data>(parsed: unknown, response: Response): Answer<Data> {
  const envelope = isObject(parsed) ? parsed : {}
  return {
    data: envelope['data'] as Data,
    warnings: Array.isArray(envelope['warnings']) ? (envelope['warnings'] as Warning[]) : [],
    message: typeof envelope['message'] === 'string' ? envelope['message'] : undefined,
    runId: response.headers.get('x-run-id'),
  }
}

export function readError(parsed: unknown, status: number, requestId: string | null): ApiError {
  const body = isObject(parsed) ? parsed : {}
  const fields = Array.isArray(body['errors']) ? (body['errors'] as FieldError[]) : []
  const serverMessage = typeof body['message'] === 'string' ? body['message'] : ''
  // `2 validation errors` alone does not help a person, so the fields are listed instead.
  const message =
    fields.length > 0 ? fields.map(({ field, message }) => `${field}: ${message}`).join('; ') : serverMessage
  return new ApiError(message === '' ? `The server responded with status ${status}` : message, {
    status,
    code: typeof body['error'] === 'string' ? body['error'] : String(status),
    fields,
    requestId,
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Returns the error of the only field of a body. A 404 or 409 without a field, such as a taken name, belongs to it. */
export function onlyFieldProblem(error: unknown, field: string): string | undefined {
  const isRefusal = error instanceof ApiError && (error.status === 404 || error.status === 409)
  return fieldProblem(error, field) ?? (isRefusal ? error.message : undefined)
}

/** Returns the error of a field, found by its name or by the end of its path. */
export function fieldProblem(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.fields.find((one) => one.field === field || one.field.endsWith(`.${field}`))
  return found?.message
}
