import { LoamError } from './errors.ts'

/** A function like the `fetch` of the platform. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The receiver of what the SDK does: `debug` each attempt, `warn` each retry. `console` is one. */
export type Logger = {
  debug?: (message: string, facts: LogFacts) => void
  warn?: (message: string, facts: LogFacts) => void
}
export type LogFacts = {
  method: string
  path: string
  attempt: number
  status?: number
  request_id?: string | null
  duration_ms?: number
  error?: string
  pause_ms?: number
}

export type ClientOptions = {
  /** The API key; `LOAM_API_KEY` by default. */
  apiKey?: string | undefined
  /** The address of the server; `LOAM_URL` or `http://127.0.0.1:8787` by default. `/api/v1` is added. */
  baseURL?: string | undefined
  /** Milliseconds for one attempt, with the body of its answer; 60,000 by default. */
  timeout?: number | undefined
  /** Attempts after the first; 2 by default. */
  maxRetries?: number | undefined
  fetch?: Fetch | undefined
  headers?: Record<string, string> | undefined
  /** Returns numbers that JavaScript cannot hold exactly as text. */
  lossless?: boolean | undefined
  logger?: Logger | undefined
}

/** The last argument of every method. */
export type CallOptions = {
  signal?: AbortSignal | undefined
  timeout?: number | undefined
  maxRetries?: number | undefined
  /** The key that makes a repeated call have one effect; a fresh one by default. */
  idempotencyKey?: string | undefined
  headers?: Record<string, string> | undefined
}

export type Settings = {
  apiKey: string
  base: string
  timeout: number
  maxRetries: number
  fetch: Fetch
  headers: Record<string, string>
  lossless: boolean
  logger: Logger
}

const DEFAULT_URL = 'http://127.0.0.1:8787'
const PREFIX = '/api/v1'
const TIMEOUT_MS = 60_000
const MAX_RETRIES = 2

export function readSettings(options: ClientOptions): Settings {
  const apiKey = options.apiKey ?? readEnvironment('LOAM_API_KEY')
  if (apiKey === undefined || apiKey.trim() === '') {
    throw new LoamError('No API key: pass `apiKey`, or set the environment variable LOAM_API_KEY')
  }
  const { timeout = TIMEOUT_MS, maxRetries = MAX_RETRIES } = options
  return {
    apiKey: apiKey.trim(),
    base: readBase(options.baseURL ?? readEnvironment('LOAM_URL') ?? DEFAULT_URL),
    timeout,
    maxRetries,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    headers: options.headers ?? {},
    lossless: options.lossless ?? false,
    logger: options.logger ?? {},
  }
}

/** Returns the address with its prefix, which may be given or not. */
function readBase(address: string): string {
  let url: URL
  try {
    url = new URL(address)
  } catch {
    throw new LoamError(`The base URL ${JSON.stringify(address)} is no address: write http://host:port`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new LoamError(`The base URL ${JSON.stringify(address)} must begin with http:// or https://`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new LoamError('The base URL must have no user and password: pass the API key as `apiKey`')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path.endsWith(PREFIX) ? path : `${path}${PREFIX}`}`
}

function readEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const value = process?.env?.[name]
  return value === undefined || value === '' ? undefined : value
}
