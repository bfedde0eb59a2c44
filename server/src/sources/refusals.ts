import type { Provider } from '../catalog/provider/provider.ts'
import type { Refusal } from '../catalog/provider/reply.ts'
import { AppError, invalid } from '../lib/errors.ts'
import { howToConnect } from './reach.ts'

const RETRY_AFTER_S = 10

/** What a provider did wrong while a caller waits: a 400 with its reason, and a 429 for its own limit or quota (D57). */
export function toCallerError(refusal: Refusal, provider: Provider, field: string): AppError {
  const reason = refusal.kind === 'miss' ? 'there is nothing of that kind' : refusal.message
  const message = `${provider.name}: ${reason}`
  switch (refusal.kind) {
    case 'rate_limited':
    case 'no_credits': {
      const afterMs = 'afterMs' in refusal ? refusal.afterMs : undefined
      const retryAfter = Math.max(1, Math.ceil((afterMs ?? RETRY_AFTER_S * 1000) / 1000))
      return new AppError('Too Many Requests', message, { retryAfter })
    }
    case 'unconfigured':
      return invalid('connection_id', `${message}; connect it again: ${howToConnect(provider)}`)
    case 'miss':
    case 'ineligible':
    case 'error':
      return invalid(field, message)
  }
}
