import { errors } from 'undici'

/**
 * The kinds of failure. `connect` and those listed before it mean that nothing was sent. With `reset` and
 * `timeout` the request may have been sent.
 */
export type EgressFailureKind =
  | 'invalid_url'
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'too_large'
  | 'busy'
  | 'too_many_redirects'
  | 'protocol'
  | 'aborted'

const BROKEN_OFF: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
])
const TRANSIENT: ReadonlySet<EgressFailureKind> = new Set(['dns', 'connect', 'reset', 'timeout', 'busy'])

/** A failure on its way through undici and streams, which pass on only errors. `fetch` returns it as data. */
export class EgressFault extends Error {
  override name = 'EgressFault'
  readonly kind: EgressFailureKind
  readonly retryable: boolean

  constructor(kind: EgressFailureKind, message: string, retryable = TRANSIENT.has(kind)) {
    super(message)
    this.kind = kind
    this.retryable = retryable
  }
}

/**
 * Returns the fault for an error of the exchange itself, after the connection was established. Rethrows an
 * error that no peer can cause.
 */
export function toExchangeFault(error: unknown): EgressFault {
  if (error instanceof EgressFault) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new EgressFault('too_large', 'the headers of the answer are too large.')
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new EgressFault('aborted', 'the call was cancelled, because this process is stopping.')
  }
  if (error instanceof errors.HTTPParserError && !isCutOff(error)) {
    return new EgressFault('protocol', 'the answer is not valid HTTP.')
  }
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return toTlsFault(code)
  if (error instanceof errors.HTTPParserError || BROKEN_OFF.has(code) || isSystemError(error)) {
    return new EgressFault('reset', 'the connection broke before the answer was complete. Try again.')
  }
  throw error
}

/**
 * Returns the fault for an error while connecting. An error without a code was not caused by a peer and is
 * returned unchanged.
 */
export function toConnectFault(error: Error): Error {
  const code = codeOf(error)
  if (code === '') return error
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new EgressFault(
      'connect',
      'no connection within the time limit. Check host and port, or try again.',
    )
  }
  if (isConnectError(error)) {
    return new EgressFault('connect', `no connection (${code}). Check host and port, or try again.`)
  }
  return toTlsFault(code)
}

function toTlsFault(code: string): EgressFault {
  const broken = code === 'ECONNRESET' || code === 'EPIPE'
  return new EgressFault('tls', `TLS failed (${code}). Check the certificate of that server.`, broken)
}

function isConnectError(error: Error): boolean {
  return error instanceof AggregateError || ('syscall' in error && error.syscall === 'connect')
}

// undici does not give a code to the errors of its parser.
function isCutOff(error: errors.HTTPParserError): boolean {
  return error.message.includes('EOF')
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error
}

/** Returns the code of a system, DNS, TLS or undici error, or an empty text for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
