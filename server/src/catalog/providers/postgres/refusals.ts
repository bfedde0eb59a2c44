import { EgressFault } from '../../../lib/egress/failures.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { type Refusal, refusal, refusalOfFailure, type RefusalKind } from '../../provider/reply.ts'

/** The meanings of SQLSTATE classes and single codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const KINDS: readonly [start: string, kind: RefusalKind][] = [
  // The number of parameters differs from that of the statement.
  ['08P01', 'ineligible'],
  ['28', 'unconfigured'],
  ['3D', 'unconfigured'],
  ['22', 'ineligible'],
  ['25006', 'ineligible'],
  ['34', 'ineligible'],
  ['3F', 'ineligible'],
  ['42', 'ineligible'],
  ['0A', 'ineligible'],
  ['53', 'rate_limited'],
  ['57P03', 'rate_limited'],
]
const NO_TLS = 'The server does not support SSL connections'
const CANCELLED = '57014'

export function isWithoutTls(refused: Refusal): boolean {
  return 'message' in refused && refused.message.includes(NO_TLS)
}

/** Turns a failure of the driver or the server into a refusal. */
export function refusalOf(cause: unknown, secrets: readonly string[]): Refusal {
  if (!(cause instanceof Error)) throw cause
  if (cause instanceof EgressFault) {
    const advice = cause.kind === 'too_large' ? ' Read fewer or shorter columns.' : ''
    const { kind, message, retryable } = cause
    return refusalOfFailure({ ok: false, kind, message: `${message}${advice}`, retryable, ms: 0 })
  }
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  const message = redact(cause.message, secrets).slice(0, 500)
  if (code === CANCELLED) {
    return {
      kind: 'error',
      message: `${message}; an index on the columns that are sorted by helps`,
      transient: true,
    }
  }
  const kind = KINDS.find(([start]) => code.startsWith(start))?.[1]
  if (kind !== undefined) return refusal(kind, message)
  // A failure without a code is one of the connection.
  return { kind: 'error', message, transient: !message.includes(NO_TLS) }
}
