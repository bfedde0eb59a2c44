import type { Provider } from '../catalog/provider/provider.ts'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { AppError } from '../lib/errors.ts'
import { invalid, tooManyRequests } from '../lib/errors.ts'
import { howToConnect } from './reach.ts'

const RETRY_AFTER_S = 10

/**
 * Turns a refusal into an error for a caller who waits: a 400 with the reason, or a 429 for the provider's limit or
 * quota (D57).
 */
export function toCallerError(refusal: Refusal, provider: Provider, field: string): AppError {
  const reason = refusal.kind === 'miss' ? 'not found' : refusal.message
  const message = `${provider.name}: ${reason}`
  switch (refusal.kind) {
    case 'rate_limited':
    case 'no_credits': {
      const afterMs = 'afterMs' in refusal ? refusal.afterMs : undefined
      const retryAfter = Math.max(1, Math.ceil((afterMs ?? RETRY_AFTER_S * 1000) / 1000))
      return tooManyRequests(message, retryAfter)
    }
    case 'unconfigured':
      return invalid('connection_id', `${message}; connect it again: ${howToConnect(provider)}`)
    case 'miss':
    case 'ineligible':
    case 'error':
      return invalid(field, message)
  }
}
